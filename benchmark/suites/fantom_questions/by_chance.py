"""The probability that an answer drawn among the possible ones is right."""

from __future__ import annotations

from benchmark.suites.fantom_questions.rows import CHOICE, DISTANCE, LIST, YES_NO
from benchmark.suites.questions import Sample


def by_chance(sample: Sample) -> float | None:
    """Return one half of a choice, of yes or no, and of both texts of a belief in free words; of a list, each name
    being named or not, one half to the power of the names that have to be told apart. None of a fact, where nothing is
    to choose from."""
    kind = sample.content["kind"]
    if kind in (CHOICE, YES_NO, DISTANCE):
        return 0.5
    return _of_list(sample) if kind == LIST else None


def _of_list(sample: Sample) -> float:
    names, right = {*sample.content["names"]}, {*sample.gold["right"]}
    return 0.5 ** len(names & (right | {*sample.gold["wrong"]})) if right <= names else 0.0
