"""Through whose eyes a question looks: the data do not say, its wording does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmark.controls.contract import CHINESE, ENGLISH
from benchmark.controls.people import people_in
from benchmark.suites.tombench.data import Item

_WHEN = {
    ENGLISH: re.compile(
        r"\A(?:after|before|when|while|since|if)\b[^,]*,|\s(?:after|before|when|while|because|since|if)\s.*",
        re.IGNORECASE,
    ),
    CHINESE: re.compile(r"\A[^,，]*?(?:后|前|时|时候)\s*[,，]\s*"),
}
"""Clauses that say when, whose people are not asked about."""
_MIND = {
    ENGLISH: re.compile(
        r"\b[Dd](?:oes|o|id) ((?:the [a-z]+|(?:[A-Z][a-z.]+ ?){1,3}?)) ?"
        r"(?:\b(?:possibly|really|most likely) )?"
        r"\b(?:know|think|believe|expect|look|remember|realize|understand|feel|want)"
    ),
    CHINESE: re.compile(r"\A([一-鿿]{2,3}?)(?:还|也|是否|可能)?(?:认为|以为|觉得|知道|期望|记得|会在哪里)"),
}
"""Person whose mind is asked about, in front of what says so."""


def viewer_of(item: Item) -> str:
    """Return the person whose mind a question is about, as in “After Ines returns, where does Bo look?”; else the first
    one whom it names, beside what says when before others; empty where it names nobody."""
    rest = _WHEN[item.language].sub(" " if item.language == ENGLISH else "", item.question)
    if match := _MIND[item.language].search(rest):
        return match[1].strip()
    names = [spelling for person in people_in([item.story, item.question], item.language) for spelling in person]
    return _first(names, rest, item.language) or _first(names, item.question, item.language)


def _first(names: Sequence[str], text: str, language: str) -> str:
    """Return the name that comes first in a text, in full where a family name and a given one are found apart."""
    if not names:
        return ""
    any_name = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = any_name if language == CHINESE else rf"\b(?:{any_name})(?: (?:{any_name}))*\b"
    match = re.search(pattern, text)
    return match[0] if match else ""
