"""Place that an answer names, as the released code and as a careful reader takes it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from benchmark.suites.closed_sets import in_words, main_clause, outside_place, without_denied
from benchmark.suites.refusals import own_words
from core.messages import gettext_noop

NO_OUTPUT = "no output"
"""The text for an answer that never came; the released code leaves such a question out."""
SEVERAL = gettext_noop("names more than one container")
NONE = gettext_noop("names no place")


def official_right(answer: str, gold: str) -> bool | None:
    """Return whether the place stands in the answer to the letter, even within a word or beside others; None of an
    answer that is left out."""
    return None if answer == NO_OUTPUT else gold in answer


def named_place(answer: str, containers: Sequence[str], candidates: Collection[str]) -> tuple[str | None, str]:
    """Return (the place that an answer names, why there is none).

    That is the one container that it names in whole words, first of all before it gives its reasons. An answer that
    names no container is taken to mean another candidate, such as the room, and else the place that it does name:
    one that the story lacks is an answer, and wrong.
    """
    own = own_words(answer)
    own = own._replace(text=without_denied(own.text, (*containers, *candidates)))
    clauses = dict.fromkeys((main_clause(own.text), own.text))
    for names in (containers, [name for name in candidates if name not in containers]):
        for text in clauses:
            named = _named(text, names)
            if len(named) > 1 and names is containers:
                return None, own.why(SEVERAL)
            if named:
                return named[0], ""
    place = outside_place(own, (*containers, *candidates))
    return (place, "") if place else (None, own.why(NONE))


def _named(answer: str, names: Iterable[str]) -> list[str]:
    """The names that stand in an answer, longest first; within a longer name a shorter one does not count."""
    named = []
    for name in sorted(dict.fromkeys(names), key=len, reverse=True):
        pattern = re.compile(rf"(?<!\w){in_words(name)}(?:e?s)?(?!\w)", re.IGNORECASE)
        if pattern.search(answer):
            named.append(name)
        answer = pattern.sub(" ", answer)
    return named
