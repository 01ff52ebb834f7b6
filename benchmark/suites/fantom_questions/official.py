"""Parses of the released code. Names and words are looked for as parts of others: "Erika" names Erik,
"Nobody" says no."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from core.statistics import harmonic

_MARKERS = ("Answer:", "Choose an answer from above:")
_YES = (" yes,", " yes ", " yes.", " knows ")
_NO = (" no,", " no ", " no.", " does not know ", " doesn't know ")


def after_marker(text: str) -> str:
    """Return what follows the last marker of an answer without outer space, all of it where there is none."""
    for marker in _MARKERS:
        if marker in text:
            return text.rpartition(marker)[2].strip()
    return text


def chooses(answer: str, key: int) -> bool:
    """Return whether an answer names the option in the place `key` (0 for a); others that it names do not count against
    it."""
    letter, text = "abcdefghij"[key], answer.lower()
    return text == letter or f"({letter})" in text or text.startswith(tuple(letter + mark for mark in ").:,"))


@dataclass(frozen=True, slots=True)
class Listed:
    """The faults of a list of names: one who knows is missing, one who does not is named."""

    excluded_aware: bool
    included_unaware: bool

    @property
    def right(self) -> bool:
        return not (self.excluded_aware or self.included_unaware)


def listed(answer: str, right: tuple[str, ...], wrong: tuple[str, ...]) -> Listed:
    """Return what is wrong with an answer that is to name all of `right` and none of `wrong`."""
    text = answer.lower()
    return Listed(any(name.lower() not in text for name in right), any(name.lower() in text for name in wrong))


def yes_or_no(answer: str) -> int:
    """Return 1 for yes, 0 for no, -1 for neither."""
    text = answer.lower().strip("'").strip('"')
    if any(phrase in text for phrase in _YES) or text.startswith(("yes", "true")):
        return 1
    return 0 if any(phrase in text for phrase in _NO) or text.startswith(("no", "false")) else -1


def token_f1(truth: str, answer: str) -> float:
    """Return the F1 of the words between white space, counted as often as they stand; 0 without a common one."""
    gold, given = Counter(truth.split()), Counter(answer.split())
    common = (gold & given).total()
    if not common:
        return 0.0
    precision, recall = common / given.total(), common / gold.total()
    return harmonic(precision, recall)
