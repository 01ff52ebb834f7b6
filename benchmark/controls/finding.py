"""People, objects and places that texts name.

Found are people with a capital in the middle of a sentence whose name does not occur in small letters, or is one of those that are words too; in Chinese those
called 小, 老 or 阿 with a character of a name, and names in Latin letters. Of objects and places those of the lists are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchmark.controls.contract import CHINESE, OBJECTS
from benchmark.controls.lists.people import (
    ALSO_WORDS,
    FAMILY_IN_CHINESE,
    GIVEN_IN_CHINESE,
    MONTHS,
    NOT_NAMED_IN_CHINESE,
    NOT_PEOPLE,
)
from benchmark.controls.lists.things import CHINESE_OBJECTS, CHINESE_PLACES, Thing
from benchmark.controls.lists.things import OBJECTS as OBJECT_CLASSES
from benchmark.controls.lists.things import PLACES as PLACE_CLASSES

_CAPITAL = re.compile(r"(?<![A-Za-z'’-])(?:(?:Xiao|Lao|Ah) )?[A-Z][a-zà-ÿ]+(?![A-Za-zà-ÿ-])")
_WITHIN = re.compile(r"[\w,][ ]\Z")
_MONTH_BEFORE = re.compile(r"\b(?:in|of|since|until|last|next|every|early|late|by)\s\Z", re.IGNORECASE)
_VERB_AFTER = re.compile(
    r"\s+(?:I|you|he|she|it|we|they|the|a|an|this|that|these|those|my|your|his|her|its|our|their|not|be|no|all|one)\b"
)
_CALLED = re.compile("[小老阿][一-鿿]")
_LETTERS = re.compile("[a-z]+")


def people_in(texts: Sequence[str], language: str) -> list[str]:
    """Return the people that texts name, in the order in which they come first."""
    found = dict.fromkeys(_called("\n".join(texts))) if language == CHINESE else {}
    words = [_words(text, language) for text in texts]
    for names, _ in words:
        for name in names:
            if name in ALSO_WORDS or not any(name.lower() in small for _, small in words):
                found.setdefault(name)
    return list(found)


@lru_cache(512)
def _words(text: str, language: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the words with a capital that may name people, and all in small letters; samples of a cluster have their story in common."""
    names = (
        match[0]
        for match in _CAPITAL.finditer(text)
        if (language == CHINESE or _is_within(text, match.start())) and is_person(match[0], text, match.start())
    )
    return tuple(dict.fromkeys(names)), frozenset(re.findall(r"(?<![A-Za-z])[a-zà-ÿ]+", text))


def _called(text: str) -> Iterator[str]:
    for match in _CALLED.finditer(text):
        name = match[0]
        known = FAMILY_IN_CHINESE if name[0] == "老" else FAMILY_IN_CHINESE | GIVEN_IN_CHINESE
        if name[1] in known and (name not in NOT_NAMED_IN_CHINESE or text.count(name) > 1):
            yield name


def is_person(name: str, text: str, start: int) -> bool:
    """Return whether this word with a capital, which begins at `start`, names somebody there, and is not the word that the name also is."""
    if name in NOT_PEOPLE:
        return False
    if name not in ALSO_WORDS:
        return True
    before, after = text[max(0, start - 8) : start], text[start + len(name) : start + len(name) + 8]
    if name in MONTHS and (_MONTH_BEFORE.search(before) or re.match(r"\s+\d", after)):
        return False
    return _is_within(text, start) or not _VERB_AFTER.match(after)


def _is_within(text: str, start: int) -> bool:
    """Whether what begins there is in the middle of a sentence."""
    return bool(_WITHIN.search(text[max(0, start - 2) : start]))


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Words with their plurals. Each is itself alone: what is found of it is kept by it, and its words are not compared each time."""

    words: Mapping[str, str]


@lru_cache
def pools_of(kind: str, language: str) -> Sequence[tuple[Pool, Pool]]:
    """Return the classes of objects or places: what is found, and what takes its place."""
    if language == CHINESE:
        classes = CHINESE_OBJECTS if kind == OBJECTS else CHINESE_PLACES
        return [
            (Pool({word: word for word in there}), Pool({word: word for word in instead})) for there, instead in classes
        ]
    things: Sequence[Thing] = OBJECT_CLASSES if kind == OBJECTS else PLACE_CLASSES
    return [(Pool(thing.there), Pool(thing.instead)) for thing in things]


def things_in(texts: Sequence[str], pool: Pool, language: str) -> list[str]:
    """Return which words of a pool, one or many, the texts have, in the order in which they come first."""
    return list(dict.fromkeys(word for text in texts for word in _things(text, pool, language)))


@lru_cache(8192)
def _things(text: str, pool: Pool, language: str) -> tuple[str, ...]:
    one, starts = _singulars(pool)
    if language != CHINESE and starts.isdisjoint(_small(text)):  # sooner than the pattern
        return ()
    return tuple(dict.fromkeys(one[match[0].lower()] for match in word_pattern(tuple(one), language).finditer(text)))


@lru_cache(256)
def _singulars(pool: Pool) -> tuple[Mapping[str, str], frozenset[str]]:
    """Return the word of each form, one or many, and with which letters forms begin."""
    one = {form: word for word, many in pool.words.items() for form in (many, word)}
    return one, frozenset(start for form in one for start in _LETTERS.findall(form)[:1])


@lru_cache(512)
def _small(text: str) -> frozenset[str]:
    return frozenset(_LETTERS.findall(text.lower()))


@lru_cache(256)
def word_pattern(forms: tuple[str, ...], language: str) -> re.Pattern[str]:
    """Return what finds any of these words as a whole, the longest first; in Chinese wherever it stands."""
    longest_first = "|".join(map(re.escape, sorted(forms, key=lambda form: (-len(form), form))))
    if language == CHINESE:
        return re.compile(longest_first)
    return re.compile(rf"(?<![A-Za-z-])(?:{longest_first})(?![A-Za-z-])", re.IGNORECASE)
