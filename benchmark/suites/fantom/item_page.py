"""The page of an item: an answer, or what a judge says of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.suites.fantom.judge import (
    ANSWER,
    CANNOT_TELL,
    EMPTY,
    JUDGED_AT,
    NEITHER,
    RIGHT,
    SAYS_NOTHING,
    WRONG,
    answer_of,
)
from benchmark.suites.fantom_questions import pages
from benchmark.suites.fantom_questions.pages import answer_lines
from benchmark.suites.items import ReadLine
from benchmark.suites.questions import ItemContext, ItemView
from benchmark.suites.reasons import note_of
from core.messages import gettext_noop

STATES: Mapping[str, str] = {
    RIGHT: gettext_noop("the right belief"),
    WRONG: gettext_noop("the wrong belief"),
    NEITHER: gettext_noop("neither belief"),
    CANNOT_TELL: gettext_noop("it cannot tell"),
}


def item_of(view: ItemView) -> ItemContext:
    """Return what the page of an item shows; of a judgement the answer that was judged, and the verdict."""
    context = pages.item_of(view, ANSWER)
    return context if view.question.step not in JUDGED_AT else context | {"judged": _judged(view)}


def _judged(view: ItemView) -> ItemContext:
    answer = answer_of(view.question) if ANSWER in view.question.answers else ""
    return {
        "said": answer,
        "states": _states(view.repaired),
        "unreadable": view.unreadable,
        "right_is": (view.repaired or {}).get("right_is", ""),
        "passes": [STATES.get(verdict or "", "") for verdict in (view.repaired or {}).get("passes", ())],
    }


def _states(parse: Mapping[str, Any] | None) -> str:
    return STATES.get((parse or {}).get("verdict") or "", "")


def lines_of(view: ItemView) -> list[ReadLine]:
    """Return the one line of an answer, or of what a judge says of one."""
    if view.question.step not in JUDGED_AT:
        return answer_lines(view, ANSWER)
    sample, verdict = view.question.sample, (view.repaired or {}).get("verdict")
    return [
        ReadLine(
            about=sample.content["question"],
            part=sample.category,
            gold=pages.right_of(sample),
            official=None,
            repaired=_states(view.repaired) or None,
            right=None if view.unreadable or verdict is None else verdict == RIGHT,
            officially_right=None,
            note=note_of(view.unreadable) if view.unreadable in (EMPTY, SAYS_NOTHING) else "",
        )
    ]
