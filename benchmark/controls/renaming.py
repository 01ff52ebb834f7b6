"""People, places and objects under other names: a model that remembers a story has nothing to remember."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchmark.controls.contract import CHINESE, OBJECTS, PEOPLE, PLACES, Control, Controllable
from benchmark.controls.drawing import drawn_order
from benchmark.controls.finding import Pool, is_person, people_in, pools_of, things_in, word_pattern
from benchmark.controls.lists.people import FAMILY, GIVEN
from benchmark.controls.lists.people import PEOPLE as NAMES
from benchmark.controls.places import changed_at, texts_at
from benchmark.suites.asked import Sample

_WORD = re.compile(r"\w+")
_ARTICLE = re.compile(r"\b([Aa])(n?)(\s+)\Z")


@dataclass(frozen=True, slots=True)
class Renaming:
    """What is called what: names of people, and words of things in small letters, one and many. No two share a new name, and no new name was in the texts."""

    people: Mapping[str, str]
    things: Mapping[str, str]
    language: str

    def kept(self, text: str) -> str:
        """Return what `of` does; samples of a cluster have their story in common, which is told once."""
        return _told(text, tuple(self.people.items()), tuple(self.things.items()), self.language)

    def of(self, text: str) -> str:
        """Return the text under the new names; words that are names elsewhere stay, and so do capitals; `a` and `an` are set right."""
        if self.people:
            longest_first = "|".join(map(re.escape, sorted(self.people, key=len, reverse=True)))
            pattern = re.compile(
                longest_first if self.language == CHINESE else rf"(?<![A-Za-z-])(?:{longest_first})(?![A-Za-zà-ÿ-])"
            )
            text = _replaced(text, pattern, self._person)
        if self.things:
            text = _replaced(text, word_pattern(tuple(self.things), self.language), self._thing)
        return text

    def _person(self, match: re.Match[str]) -> str:
        name = match[0]
        return self.people[name] if is_person(name, match.string, match.start()) else name

    def _thing(self, match: re.Match[str]) -> str:
        new = self.things[match[0].lower()]
        return new[:1].upper() + new[1:] if match[0][:1].isupper() else new


@lru_cache(256)
def _told(text: str, people: tuple[tuple[str, str], ...], things: tuple[tuple[str, str], ...], language: str) -> str:
    return Renaming(dict(people), dict(things), language).of(text)


def _replaced(text: str, pattern: re.Pattern[str], new_name: Callable[[re.Match[str]], str]) -> str:
    parts, end = [], 0
    for match in pattern.finditer(text):
        new, between = new_name(match), text[end : match.start()]
        if new != match[0] and match[0][0].isascii():
            between = _ARTICLE.sub(rf"\g<1>{'n' if new[0].lower() in 'aeiou' else ''}\g<3>", between)
        parts += [between, new]
        end = match.end()
    return "".join([*parts, text[end:]])


def renaming_of(sample: Sample, controllable: Controllable, seed: int) -> Renaming:
    """Return under which names the sample is told: those of the story are the same for all samples of its cluster in its language."""
    language, kinds = controllable.language(sample), controllable.kinds(sample)
    texts = texts_at(sample, controllable.texts)
    drawn = (seed, sample.cluster, language)
    people: dict[str, str] = {}
    if PEOPLE in kinds:
        people = dict(_paired_people(_people(sample, controllable, texts, language), texts, drawn))
    things: dict[str, str] = {}
    for kind in (OBJECTS, PLACES):
        if kind in kinds:
            for at, (there, instead) in enumerate(pools_of(kind, language)):
                things |= _paired_things(texts, there, instead, (*drawn, kind, at), language)
    return Renaming(people, things, language)


def _people(sample: Sample, controllable: Controllable, texts: Sequence[str], language: str) -> list[str]:
    """The people of the data, then those of the story, then those that only other texts name."""
    named = list(controllable.named(sample)) if controllable.named else []
    return list(dict.fromkeys([*named, *people_in(texts[:1], language), *people_in(texts, language)]))


def _paired_people(people: Sequence[str], texts: Sequence[str], drawn: Sequence[object]) -> Iterator[tuple[str, str]]:
    if not people:
        return
    free: dict[str, list[str]] = {}
    for name in people:
        pool = "" if name[0].isascii() or name[0] not in "小阿老" else "family" if name[0] == "老" else "given"
        if pool not in free:
            free[pool] = _free(pool, texts, drawn)
        if free[pool]:
            yield name, (name[0] if pool else "") + free[pool].pop(0)


def _free(pool: str, texts: Sequence[str], drawn: Sequence[object]) -> list[str]:
    """Return the names of a pool that the texts do not have, in the order in which they are given."""
    if not pool:
        words = frozenset[str]().union(*map(_words, texts))
        return [name for name in drawn_order(NAMES, *drawn, PEOPLE) if name not in words]
    joined = "\n".join(texts)
    return [one for one in drawn_order({"given": GIVEN, "family": FAMILY}[pool], *drawn, PEOPLE) if one not in joined]


@lru_cache(512)
def _words(text: str) -> frozenset[str]:
    """Samples of a cluster have their story in common."""
    return frozenset(_WORD.findall(text))


def _paired_things(
    texts: Sequence[str], there: Pool, instead: Pool, drawn: Sequence[object], language: str
) -> dict[str, str]:
    named = things_in(texts, there, language)
    if not named:
        return {}
    taken = {*things_in(texts, instead, language)}
    free = [word for word in drawn_order(instead.words, *drawn) if word not in taken]
    pairs: dict[str, str] = {}
    for word, new in zip(named, free, strict=False):
        pairs |= {word: new, there.words[word]: instead.words[new]}
    return pairs


def renamed(sample: Sample, controllable: Controllable, seed: int) -> Sample:
    """Return the sample under other names, in story, question, options and gold alike."""
    return changed_at(sample, controllable.texts, renaming_of(sample, controllable, seed).kept)


RENAMED = Control(
    "renamed",
    "other names",
    "People, places and objects have other names, in story, question, options and gold.",
    "what was better under the names as published was remembered, not understood",
    "It names nobody, and nothing that the lists of names have.",
    "It does not say which of its texts have names.",
    renamed,
    lambda controllable: bool(controllable.texts),
)
