"""People that texts name, where data do not say who they are.

In English a word with a capital in the middle of a sentence names somebody where texts tell so (`evidence.py`): it does
what people do, has what they have, is addressed, asked about, called by a title, part of a Chinese name in full, joined
to somebody by “and”, or an actor of the data; and where they do not tell the contrary more often. It does not where the
word occurs in small letters too, but for names that are words. For Chinese see `chinese.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from benchmark.controls.chinese import called, in_full, in_latin
from benchmark.controls.contract import CHINESE, Spellings
from benchmark.controls.evidence import AGAINST, CERTAIN, LIKELY, weight_of
from benchmark.controls.finding import BEFORE_A_WORD
from benchmark.controls.lists.people import ALSO_WORDS, MONTHS, NOT_PEOPLE

_CAPITAL = re.compile(r"(?<![A-Za-z'’-])(?:(?:Xiao|Lao|Ah) )?[A-Z][a-zà-ÿ]+(?![A-Za-zà-ÿ-])(?!['’](?!s\b)[a-z])")
_LIST = re.compile(r"(?:, \|)*,? and (?:\||\Z)")
_LONGEST_LIST = 6
_TWO_WORDS = re.compile(r"(?<![A-Za-z'’-])[A-Z][a-z]+ [A-Z][a-z]+(?![A-Za-z-])")
_ONE_WORD = re.compile(r"(?<![A-Za-z'’-])[A-Z][a-z]+(?:[A-Z][a-z]+)?(?![A-Za-z-])")
_MONTH_BEFORE = re.compile(r"\b(?:in|of|since|until|last|next|every|early|late|by)\s\Z", re.IGNORECASE)
_VERB_AFTER = re.compile(
    r"\s+(?:I|you|he|she|it|we|they|the|a|an|this|that|these|those|my|your|his|her|its|our|their|not|be|no|all|one)\b"
)


def people_in(texts: Sequence[str], language: str, actors: Sequence[str] = ()) -> list[Spellings]:
    """Return the people that texts name, in the order in which they come first, each in all spellings that the texts
    have; `actors` are phrases of the data that say who acts."""
    if language == CHINESE:
        joined = "\n".join(texts)
        names = dict.fromkeys([*called(joined), *in_full(joined), *in_latin(texts)])
        return [(name,) for name in names]
    return _spelled(_named(texts, actors), "\n".join(texts))


def _named(texts: Sequence[str], actors: Sequence[str]) -> list[str]:
    seen = [_seen(text) for text in texts]
    weights: Counter[str] = Counter()
    for evidence in seen:
        weights.update(dict(evidence.weights))
    names = {name for name, _ in seen[0].weights} if seen else set()
    acting = {match[0] for actor in actors for match in _CAPITAL.finditer(actor)} & names
    within = acting.union(*(evidence.within for evidence in seen))
    possible = [
        name
        for name in dict.fromkeys(name for evidence in seen for name, _ in evidence.weights)
        if name in within and name not in NOT_PEOPLE
        if name in ALSO_WORDS or not any(name.lower() in evidence.small for evidence in seen)
    ]
    people = {name for name in possible if name in acting or weights[name] >= LIKELY}
    others = {name for name in possible if weights[name] > AGAINST}
    people |= _beside(people, others, [pair for evidence in seen for pair in evidence.pairs])
    return [name for name in possible if name in people]


def _beside(people: set[str], possible: set[str], pairs: Sequence[tuple[str, str]]) -> set[str]:
    """Return who stands beside somebody who is found, joined by “and” or as another part of a name."""
    beside: set[str] = set()
    while new := {
        two
        for pair in pairs
        for first, two in (pair, pair[::-1])
        if first in people | beside and two in possible - people - beside
    }:
        beside |= new
    return beside


class _Seen(NamedTuple):
    """Words with a capital that may name people, each with what the text tells of it; those that stand within a
    sentence or behind a title; all words in small letters; and pairs of names that stand together."""

    weights: tuple[tuple[str, int], ...]
    within: frozenset[str]
    small: frozenset[str]
    pairs: tuple[tuple[str, str], ...]


@lru_cache(512)
def _seen(text: str) -> _Seen:
    """Samples of a cluster have their story in common."""
    matches = [match for match in _CAPITAL.finditer(text) if stands_for(match[0], text, match.start())]
    weights: Counter[str] = Counter()
    within = set()
    for match in matches:
        weight = weight_of(match[0], text, match.start())
        weights[match[0]] += weight
        if weight == CERTAIN or _is_within(text, match.start()):
            within.add(match[0])
    small = frozenset(re.findall(r"(?<![A-Za-z])[a-zà-ÿ]+", text))
    return _Seen(tuple(weights.items()), frozenset(within), small, tuple(_pairs(matches, text)))


def _pairs(matches: Sequence[re.Match[str]], text: str) -> Iterator[tuple[str, str]]:
    """Yield the names that follow each other, as in Li Lei, and those of lists that end in “and”."""
    between = [text[first.end() : second.start()] for first, second in pairwise(matches)]
    for at, words in enumerate(between):
        rest = "|".join(between[at : at + _LONGEST_LIST])
        if words == " " or _LIST.match(rest):
            yield matches[at][0], matches[at + 1][0]


def _spelled(names: Sequence[str], text: str) -> list[Spellings]:
    """Return the names with what spells them in one word or in two, such as Xiao Wei and Xiaowei, together."""
    pairs = {match[0].replace(" ", "").lower(): match[0] for match in _TWO_WORDS.finditer(text)}
    words = {word.lower(): word for word in dict.fromkeys(_ONE_WORD.findall(text))}
    spelled: dict[str, dict[str, None]] = {}
    for name in names:
        key = name.replace(" ", "").lower()
        both = (pairs.get(key), words.get(key)) if key in pairs else ()
        spelled.setdefault(key, {}).update(dict.fromkeys([name, *(spelling for spelling in both if spelling)]))
    several = [spellings for spellings in spelled.values() if len(spellings) > 1]
    whole = [spelling for spellings in several for spelling in spellings if " " in spelling]
    rest = _without(whole, text)
    parts = {part for spelling in whole for part in spelling.split()}
    return [
        tuple(spellings)
        for spellings in spelled.values()
        if len(spellings) > 1 or not parts & {*spellings} or any(re.search(rf"\b{word}\b", rest) for word in spellings)
    ]


def _without(names: Sequence[str], text: str) -> str:
    return re.sub("|".join(map(re.escape, names)), "", text) if names else text


def stands_for(name: str, text: str, start: int, *, given: bool = False) -> bool:
    """Return whether this name, which begins at `start`, is one there, and not the word that it also is; a name that is
    `given` is not a month."""
    if name not in ALSO_WORDS:
        return True
    before, after = text[max(0, start - 8) : start], text[start + len(name) : start + len(name) + 8]
    if name in MONTHS and not given and (_MONTH_BEFORE.search(before) or re.match(r"\s+\d", after)):
        return False
    return _is_within(text, start) or not _VERB_AFTER.match(after)


def _is_within(text: str, start: int) -> bool:
    """Return whether what begins there is in the middle of a sentence."""
    return bool(BEFORE_A_WORD.search(text[max(0, start - 2) : start]))
