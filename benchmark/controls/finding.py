"""Objects and places of the lists that texts name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchmark.controls.contract import CHINESE, OBJECTS
from benchmark.controls.lists import CHINESE_OBJECTS, CHINESE_PLACES, Thing
from benchmark.controls.lists import OBJECTS as OBJECT_CLASSES
from benchmark.controls.lists import PLACES as PLACE_CLASSES

BEFORE_A_WORD = re.compile(r"[\w,][ ]\Z")
"""Signs before a word in the middle of a sentence."""
_LETTERS = re.compile("[a-z]+")


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Words with their plurals. Each is itself alone: what is found of it is kept by it, and its words are not compared
    each time."""

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
    singular_by_form, starts = _singulars(pool)
    if language != CHINESE and starts.isdisjoint(_small(text)):  # sooner than the pattern
        return ()
    return tuple(
        dict.fromkeys(
            singular_by_form[match[0].lower()]
            for match in word_pattern(tuple(singular_by_form), language).finditer(text)
        )
    )


@lru_cache(256)
def _singulars(pool: Pool) -> tuple[Mapping[str, str], frozenset[str]]:
    """Return the word of each form, one or many, and with which letters forms begin."""
    singular_by_form = {form: word for word, many in pool.words.items() for form in (many, word)}
    return singular_by_form, frozenset(start for form in singular_by_form for start in _LETTERS.findall(form)[:1])


@lru_cache(512)
def _small(text: str) -> frozenset[str]:
    return frozenset(_LETTERS.findall(text.lower()))


@lru_cache(8192)
def is_name(forms: tuple[str, ...], text: str, language: str) -> bool:
    """Return whether any of these words is a name of something in the text, with a capital in the middle of a sentence,
    such as Apple Music."""
    if language == CHINESE or not any(form.capitalize() in text for form in forms):
        return False
    pattern = word_pattern(forms, language)
    return any(
        match[0][0].isupper() and BEFORE_A_WORD.search(text, 0, match.start()) for match in pattern.finditer(text)
    )


@lru_cache(256)
def word_pattern(forms: tuple[str, ...], language: str) -> re.Pattern[str]:
    """Return what finds any of these words as a whole, the longest first; in Chinese wherever it stands."""
    longest_first = "|".join(map(re.escape, sorted(forms, key=lambda form: (-len(form), form))))
    if language == CHINESE:
        return re.compile(longest_first)
    return re.compile(rf"(?<![A-Za-z-])(?:{longest_first})(?![A-Za-z-])", re.IGNORECASE)
