"""Parses of a careful reader: whole words alone count, and an answer that leaves it between several says
nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from benchmark.suites.opentom.kinds import ACCESSIBILITY, ATTITUDE, COARSE, FINE, FULLNESS

_PHRASES: Mapping[str, Mapping[int, Sequence[str]]] = {
    COARSE: {0: ("no",), 1: ("yes",)},
    FULLNESS: {
        1: ("less full", "emptier", "more empty"),
        2: ("more full", "fuller"),
        3: ("equally full", "as full as before", "just as full"),
    },
    ACCESSIBILITY: {
        1: ("more accessible",),
        2: ("less accessible",),
        3: ("equally accessible", "as accessible as before", "just as accessible"),
    },
    ATTITUDE: {1: ("positive",), 2: ("negative",), 3: ("neutral",)},
}
_DENIED = re.compile(r"\b(?:not|never|neither|nor|isn't|isn’t|is no)\s+(?:be\s+|become\s+|any\s+|really\s+)?$")
_ARTICLE = re.compile(r"^(?:a|an|the)\s+")


def label_of(kind: str, answer: str, places: tuple[str, str]) -> int | None:
    """Return the number of an answer, as `kinds.LABELS` has it, of a place 1 for the original and 2 for the new one;
    None where it says none or leaves it between several."""
    return _place(answer, places) if kind == FINE else _phrase(answer, _PHRASES[kind])


def _phrase(answer: str, phrases_by_label: Mapping[int, Iterable[str]]) -> int | None:
    text = " ".join(answer.lower().split())
    labels = {
        label
        for label, phrases in phrases_by_label.items()
        for phrase in phrases
        for match in re.finditer(rf"\b{re.escape(phrase)}\b", text)
        if not _DENIED.search(text[: match.start()])
    }
    return labels.pop() if len(labels) == 1 else None


def _place(answer: str, places: tuple[str, str]) -> int | None:
    """The place that an answer names as a whole: the longer one is looked for first, since it may hold the other; else
    that of which it has more words."""
    text, bare = _plain(answer), [_plain(place) for place in places]
    named = set()
    for at in sorted((0, 1), key=lambda at: -len(bare[at])):
        pattern = rf"\b{re.escape(bare[at])}\b"
        if re.search(pattern, text):
            named.add(at + 1)
            text = re.sub(pattern, " ", text)
    if len(named) == 1:
        return named.pop()
    return None if named else _by_words(text.split(), [place.split() for place in bare])


def _by_words(words: Sequence[str], places: Sequence[Sequence[str]]) -> int | None:
    shares = [len({*words} & {*place}) / len({*place}) for place in places]
    return None if shares[0] == shares[1] else 1 if shares[0] > shares[1] else 2


def _plain(text: str) -> str:
    """Words in lower case, without an article before them, possessive endings and punctuation."""
    words = re.sub(r"[^\w\s]", " ", text.lower().replace("_", " ").replace("’s", "").replace("'s", ""))
    return _ARTICLE.sub("", " ".join(words.split()))
