"""Parses of the released code: labels of gold and of prediction.

Words are looked for as parts of others: "He knows" says No, "eyes" says Yes. The repaired parse is in `repaired.py`.
"""

from __future__ import annotations

from benchmark.suites.opentom.kinds import (
    ACCESSIBILITY,
    ATTITUDE,
    COARSE,
    FINE,
    FULLNESS,
    LABELS,
    NEITHER,
    UNREADABLE,
)

_FULLNESS = ((1, ("less full", "emptier", "more empty")), (2, ("more full", "fuller")), (3, ("equally full",)))
_LETTERS = {"a": "positive", "b": "neutral", "c": "negative"}


def without_article(place: str) -> str:
    """Return a place without the beginning `a`, `an` or `the` as released code removes it: of words too, so that
    `attic` is `ttic`."""
    for article in ("a", "an", "the"):
        if place.startswith(article):
            return place.removeprefix(article).strip()
    return place


def overlap(answer: str, place: str) -> float:
    """Return how many words of a place an answer has, from 0 to 1; of equal words of the place one counts."""
    words = _words(place)
    return len({*_words(answer.replace(".", ""))} & {*words}) / len(words)


def _words(text: str) -> list[str]:
    return text.lower().replace("_", " ").replace("'s", "").split()


def gold_label(kind: str, answer: str, places: tuple[str, str]) -> int | None:
    """Return the number of a gold answer; None of one that official scoring leaves out. `places` are the original and
    the new one."""
    if kind == FINE:
        bare = [without_article(place).lower() for place in places]
        gold = without_article(answer).lower()
        return bare.index(gold) + 1 if gold in bare else None
    if kind == ACCESSIBILITY:
        return LABELS[ACCESSIBILITY].get(answer, 3)
    return LABELS[kind].get(answer)


def after_reasoning(answer: str) -> str:
    """Return the part of an answer by chain of thought that the released code reads: its last line, of one line what
    follows the last `Therefore`. It does so for results whose path has `cot` in it, not for those of Self-Ask."""
    return answer.rpartition("\n")[2] if "\n" in answer else answer.rpartition("Therefore")[2]


def predicted_label(kind: str, answer: str, places: tuple[str, str]) -> int:
    """Return the number of an answer, UNREADABLE where it cannot be read; a place that both are equally like is
    NEITHER. `answer` has no outer space."""
    if kind == FINE:
        return _fine(answer, places)
    return _READ[kind](answer)


def _coarse(answer: str) -> int:
    text = answer.lower()
    yes, no = "yes" in text, "no" in text
    return UNREADABLE if yes == no else int(yes)


def _fine(answer: str, places: tuple[str, str]) -> int:
    original, moved = (overlap(answer, without_article(place)) for place in places)
    return NEITHER if original == moved else 1 if original > moved else 2


def _fullness(answer: str) -> int:
    text = answer.replace(".", "").lower()
    return next((label for label, phrases in _FULLNESS if any(phrase in text for phrase in phrases)), UNREADABLE)


def _accessibility(answer: str) -> int:
    text = answer.lower()
    return next((label for phrase, label in LABELS[ACCESSIBILITY].items() if phrase in text), UNREADABLE)


def _attitude(answer: str) -> int:
    text = answer.lower().split("\n\n")[-1].split(":")[-1].split(".")[0].strip()
    text = _LETTERS.get(text, text)
    named = [label for word, label in LABELS[ATTITUDE].items() if word in text]
    return named[0] if len(named) == 1 else UNREADABLE


_READ = {COARSE: _coarse, FULLNESS: _fullness, ACCESSIBILITY: _accessibility, ATTITUDE: _attitude}
