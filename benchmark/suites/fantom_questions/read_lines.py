"""Lines by which answers of two models to a question about a conversation are compared: gold, what each said,
and whether that is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.suites.fantom_questions.item_page import parse_text, right_of
from benchmark.suites.fantom_questions.rows import CHOICE, DISTANCE, FACT
from benchmark.suites.items import ReadLine
from benchmark.suites.questions import ItemView, Sample
from benchmark.suites.reasons import note_of

Parse = Mapping[str, Any] | None


def answer_lines(view: ItemView, *steps: str) -> list[ReadLine]:
    """Return the one line of an answer given at one of `steps`; none of what is written at another."""
    if view.question.step not in steps:
        return []
    sample, repaired = view.question.sample, None if view.unreadable else view.repaired
    right, officially_right = _right(repaired), _right(view.official)
    answer = _parse_text(sample, repaired)
    return [
        ReadLine(
            about=sample.content["question"],
            part=sample.category,
            gold=_gold(sample),
            official=_officially(sample, view.official, answer if right == officially_right else None),
            repaired=answer,
            right=right,
            officially_right=officially_right,
            note=note_of(view.unreadable) if view.unreadable and view.answer is not None else _near(repaired),
        )
    ]


def _right(parse: Parse) -> bool | None:
    """Return the verdict of a parse; None of a fact, whose words count one by one."""
    return None if not parse or "right" not in parse else bool(parse["right"])


def _gold(sample: Sample) -> str:
    return _worded_options(sample)[sample.gold["key"]] if sample.content["kind"] == CHOICE else right_of(sample)


def _worded_options(sample: Sample) -> list[str]:
    return [f"({letter}) {text}" for letter, text in zip("ab", sample.content["options"], strict=False)]


def _parse_text(sample: Sample, parse: Parse) -> str | None:
    """Return what a parse takes an answer for, in words."""
    if not parse:
        return None
    kind = sample.content["kind"]
    if kind == FACT:
        return f"token F1 {parse['f1']:.2f}"
    if kind == DISTANCE:
        return f"nearer to the {'right' if parse['right'] else 'wrong'} text"
    if kind == CHOICE and parse["said"] is not None:
        return _worded_options(sample)[parse["said"]]
    return parse_text(kind, parse)


def _officially(sample: Sample, parse: Parse, same: str | None) -> str | None:
    """Return what the official parse takes an answer for; of a choice it says no more than whether it is the right
    one, so that one with the same verdict is the `same`."""
    if parse and sample.content["kind"] == CHOICE:
        return same or ("the right option" if parse["right"] else "not the right option")
    return _parse_text(sample, parse)


def _near(parse: Parse) -> str:
    if not parse or "near" not in parse:
        return ""
    right, wrong = parse["near"]
    return f"cosine {right:.3f} with the right text, {wrong:.3f} with the wrong one"
