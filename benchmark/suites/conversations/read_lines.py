"""What answers of two models to a question about a conversation are held against each other by: gold, what each said,
and whether that is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.suites.asked import ItemView
from benchmark.suites.contract import Sample
from benchmark.suites.conversations.item_page import right_of, said_of
from benchmark.suites.conversations.rows import CHOICE, DISTANCE, FACT
from benchmark.suites.side_by_side import ReadLine

Reading = Mapping[str, Any] | None


def answer_lines(view: ItemView, *steps: str) -> list[ReadLine]:
    """Return the one line of an answer given at one of `steps`; none of what is written at another."""
    if view.question.step not in steps:
        return []
    sample, repaired = view.question.sample, None if view.unusable else view.repaired
    right, officially_right = _right(repaired), _right(view.official)
    said = _said(sample, repaired)
    return [
        ReadLine(
            about=sample.content["question"],
            part=sample.category,
            gold=_gold(sample),
            official=_officially(sample, view.official, said if right == officially_right else None),
            repaired=said,
            right=right,
            officially_right=officially_right,
            note=f"The answer {view.unusable}." if view.unusable and view.answer is not None else _near(repaired),
        )
    ]


def _right(reading: Reading) -> bool | None:
    """Return the verdict of a reading; None of a fact, whose words count one by one."""
    return None if not reading or "right" not in reading else bool(reading["right"])


def _gold(sample: Sample) -> str:
    return _worded_options(sample)[sample.gold["key"]] if sample.content["kind"] == CHOICE else right_of(sample)


def _worded_options(sample: Sample) -> list[str]:
    return [f"({letter}) {text}" for letter, text in zip("ab", sample.content["options"], strict=False)]


def _said(sample: Sample, reading: Reading) -> str | None:
    """Return what a reading takes an answer for, in words."""
    if not reading:
        return None
    kind = sample.content["kind"]
    if kind == FACT:
        return f"token F1 {reading['f1']:.2f}"
    if kind == DISTANCE:
        return f"nearer to the {'right' if reading['right'] else 'wrong'} text"
    if kind == CHOICE and reading["said"] is not None:
        return _worded_options(sample)[reading["said"]]
    return said_of(kind, reading)


def _officially(sample: Sample, reading: Reading, same: str | None) -> str | None:
    """Return what the official reading takes an answer for; of a choice it says no more than whether it is the right
    one, so that one with the same verdict is the `same`."""
    if reading and sample.content["kind"] == CHOICE:
        return same or ("the right option" if reading["right"] else "not the right option")
    return _said(sample, reading)


def _near(reading: Reading) -> str:
    if not reading or "near" not in reading:
        return ""
    right, wrong = reading["near"]
    return f"cosine {right:.3f} with the right text, {wrong:.3f} with the wrong one"
