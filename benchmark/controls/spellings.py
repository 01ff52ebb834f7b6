"""Spellings that texts have of names that the data say: in part, in groups, and misspelled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from benchmark.controls.contract import Spellings

GROUPS = frozenset(("all", "both", "everybody", "everyone", "group", "others"))
"""Words that name several people at once, and nobody."""
_AND = re.compile(r"\s*(?:,|&|\band\b)\s*")
_CAPITAL = re.compile(r"(?:(?<=[\w,] )[A-Z][a-z]{2,}|(?<![A-Za-z'’-])[A-Z][a-z]{4,})(?![A-Za-zà-ÿ-])")
_FULL = re.compile(r"(?=(?<![A-Za-z-])([A-Z][a-zà-ÿ]+(?: [A-Z][a-zà-ÿ]+| [A-Z]\.)+))")
_SHORTEST = 6


def single_names(names: Iterable[str]) -> list[str]:
    """Return the people in names such as *Mark, Bryce and Alfredo*, once each, without words for groups."""
    parts = dict.fromkeys(part for name in names for part in _AND.split(name))
    return [name for name in parts if name and name.lower() not in GROUPS]


def spelled(names: Sequence[str], apart: Sequence[str], texts: Sequence[str]) -> list[Spellings]:
    """Return the people of these names with the spellings that texts have of each: letters doubled, left out or
    replaced, and short forms.

    Names that are both in `apart` are two people, however alike. A word is a spelling of a name where it is that of one
    person alone, and is nowhere in small letters.
    """
    people: dict[str, list[str]] = {}
    for name in names:
        same = [person for person in people if _sound(person) == _sound(name) and not {person, name} <= {*apart}]
        people.setdefault(same[0] if same else name, []).append(name)
    everybody = tuple(tuple(spellings) for spellings in people.values())
    alike = dict.fromkeys(pair for text in texts for pair in _alike(text, everybody))
    joined = "\n".join(texts) if alike else ""
    for word, name in alike:
        if _is_alone(word, joined):
            people[name].append(word)
    return [tuple(spellings) for spellings in people.values()]


@lru_cache(512)
def _alike(text: str, people: tuple[Spellings, ...]) -> tuple[tuple[str, str], ...]:
    """Return the words with a capital that may spell the name of one person, with the first spelling of it; samples of
    a cluster have their story in common."""
    names_so_far = {name for spellings in people for name in spellings}
    likes = {
        word: [spellings[0] for spellings in people if any(_is_like(word, name) for name in spellings)]
        for word in dict.fromkeys(_CAPITAL.findall(text))
        if word not in names_so_far
    }
    return tuple((word, like[0]) for word, like in likes.items() if len(like) == 1)


def others_in(names: Iterable[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the full names of others that begin with one of these names, such as *Ariana Grande* where Ariana
    speaks."""
    all_names = {*names}
    full = (words for text in texts for words in _full_names(text))
    return tuple(sorted({" ".join(words) for words in full if words[0] in all_names and not all_names & {*words[1:]}}))


@lru_cache(512)
def _full_names(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(tuple(match[1].split()) for match in _FULL.finditer(text)))


def _is_alone(word: str, text: str) -> bool:
    """Return whether the word is nowhere in small letters, nor part of a full name."""
    return not re.search(rf"\b{word.lower()}\b|\b{word} [A-Z]|[A-Z][a-z]+ {word}\b", text)


def _is_like(word: str, name: str) -> bool:
    if name.startswith(word):
        return True
    return min(len(word), len(name)) >= _SHORTEST and _apart(word, name) == 1


def _apart(first: str, two: str) -> int:
    """Return 0 for equal words, 1 where one letter is replaced, left out or too many, 2 for all others."""
    if first == two:
        return 0
    short, long = sorted((first, two), key=len)
    if len(short) == len(long):
        return min(2, sum(a != b for a, b in zip(short, long, strict=True)))
    return 1 if any(long[:at] + long[at + 1 :] == short for at in range(len(long))) else 2


def _sound(name: str) -> str:
    """Return the name without doubled letters, and with k for c."""
    return re.sub(r"(.)\1+", r"\1", name.lower().replace("c", "k"))
