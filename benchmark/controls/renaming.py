"""People, places and objects under other names: a model that remembers a story has nothing to remember."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchmark.controls.contract import CHINESE, OBJECTS, PEOPLE, PLACES, Control, Controllable, Spellings
from benchmark.controls.drawing import drawn_order
from benchmark.controls.finding import Pool, is_name, pools_of, things_in, word_pattern
from benchmark.controls.lists.people import FAMILY, GIVEN
from benchmark.controls.lists.people import PEOPLE as NAMES
from benchmark.controls.people import people_in, stands_for
from benchmark.controls.places import changed_at, texts_at
from benchmark.controls.spellings import others_in
from benchmark.suites.questions import Sample
from core.messages import gettext_noop

_WORD = re.compile(r"\w+")
_ARTICLE = re.compile(r"\b([Aa])(n?)(\s+)\Z")


@dataclass(frozen=True, slots=True)
class Renaming:
    """The new names: names of people in all their spellings, and words of things in small letters, one and many.
    No two share a new name, but spellings of one person, and no new name was in the texts. `given` says that the data
    say who there is; `others` are then names of others, which stay though part of them is replaced elsewhere."""

    people: Mapping[str, str]
    things: Mapping[str, str]
    language: str
    given: bool = False
    others: tuple[str, ...] = ()

    def kept(self, text: str) -> str:
        """Return what `of` does; samples of a cluster have their story in common, which is told once."""
        return _rewritten(
            text, tuple(self.people.items()), tuple(self.things.items()), self.language, self.given, self.others
        )

    def of(self, text: str) -> str:
        """Return the text under the new names; words that are names elsewhere stay, and so do capitals; `a` and `an`
        are set right."""
        if self.people:
            text = _replaced(text, _names((*self.people, *self.others), self.language, self.given), self._person)
        if self.things:
            text = _replaced(text, word_pattern(tuple(self.things), self.language), self._thing)
        return text

    def _person(self, match: re.Match[str]) -> str:
        name = match[0]
        return self.people.get(name, name) if stands_for(name, match.string, match.start(), given=self.given) else name

    def _thing(self, match: re.Match[str]) -> str:
        new = self.things[match[0].lower()]
        return new[:1].upper() + new[1:] if match[0][:1].isupper() else new


def _names(names: Sequence[str], language: str, given: bool) -> re.Pattern[str]:
    """Return what finds these names, the longest first; names that are given in compounds, such as non-Ann, too."""
    longest_first = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    if language == CHINESE:
        return re.compile(longest_first)
    before = "A-Za-z" if given else "A-Za-z-"
    return re.compile(rf"(?<![{before}])(?:{longest_first})(?![A-Za-zà-ÿ-])(?!['’](?!s\b)[a-z])")


@lru_cache(256)
def _rewritten(
    text: str,
    people: tuple[tuple[str, str], ...],
    things: tuple[tuple[str, str], ...],
    language: str,
    given: bool,
    others: tuple[str, ...],
) -> str:
    return Renaming(dict(people), dict(things), language, given, others).of(text)


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
    """Return under which names the sample is told: those of the story are the same for all samples of its cluster in
    its language."""
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
    if controllable.named is None:
        return Renaming(people, things, language)
    return Renaming(people, things, language, True, others_in(people, texts))


def _people(sample: Sample, controllable: Controllable, texts: Sequence[str], language: str) -> list[Spellings]:
    """Return the people of the data, or those whom the story names before those whom only other texts name."""
    if controllable.named:
        return list(controllable.named(sample))
    actors = controllable.actors(sample) if controllable.actors else ()
    people = people_in(texts[:1], language, actors)
    for spellings in people_in(texts, language, actors):
        at = next((at for at, other_spellings in enumerate(people) if {*other_spellings} & {*spellings}), None)
        if at is None:
            people.append(spellings)
        else:
            people[at] = tuple(dict.fromkeys([*people[at], *spellings]))
    return people


def _paired_people(
    people: Sequence[Spellings], texts: Sequence[str], drawn: Sequence[object]
) -> Iterator[tuple[str, str]]:
    if not people:
        return
    free: dict[str, list[str]] = {}
    for spellings in people:
        pool = _pool_of(spellings[0])
        if pool not in free:
            free[pool] = _free(pool, texts, drawn)
        if new := _new_name(spellings[0], pool, free[pool]):
            yield from ((name, new) for name in spellings)


def _pool_of(name: str) -> str:
    return "" if name[0].isascii() else "family" if name[0] == "老" else "given"


def _new_name(name: str, pool: str, free: list[str]) -> str:
    """Take a name of the same kind, none where too few are left: in Chinese the family's stays of a name in full, and
    小, 老 or 阿."""
    count = len(name) - 1 if pool else 1
    if len(free) < count:
        return ""
    return (name[0] if pool else "") + "".join(free.pop(0) for _ in range(count))


def _free(pool: str, texts: Sequence[str], drawn: Sequence[object]) -> list[str]:
    """Return the names of a pool that the texts do not have, in the order in which they are given."""
    if not pool:
        words = frozenset[str]().union(*map(_words, texts))
        return [name for name in drawn_order(NAMES, *drawn, PEOPLE) if name not in words]
    joined = "\n".join(texts)
    return [
        name for name in drawn_order({"given": GIVEN, "family": FAMILY}[pool], *drawn, PEOPLE) if name not in joined
    ]


@lru_cache(512)
def _words(text: str) -> frozenset[str]:
    """Samples of a cluster have their story in common."""
    return frozenset(_WORD.findall(text))


def _paired_things(
    texts: Sequence[str], there: Pool, instead: Pool, drawn: Sequence[object], language: str
) -> dict[str, str]:
    named = [
        word
        for word in things_in(texts, there, language)
        if not any(is_name((word, there.words[word]), text, language) for text in texts)
    ]
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
    gettext_noop("other names"),
    gettext_noop("People, places and objects have other names, in story, question, options and gold."),
    gettext_noop("what was better under the names as published was remembered, not understood"),
    gettext_noop("It names nobody, and nothing that the lists of names have."),
    gettext_noop("It does not say which of its texts have names."),
    renamed,
    lambda controllable: bool(controllable.texts),
    since=2,
)
