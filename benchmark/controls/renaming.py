"""People, places and objects under other names: a model that remembers a story has nothing to remember."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from benchmark.controls.contract import CHINESE, OBJECTS, PEOPLE, PLACES, Control, Controllable, Spellings, drawn_order
from benchmark.controls.lists import CHINESE_OBJECTS, CHINESE_PLACES, FAMILY, GIVEN, Thing
from benchmark.controls.lists import OBJECTS as OBJECT_CLASSES
from benchmark.controls.lists import PEOPLE as NAMES
from benchmark.controls.lists import PLACES as PLACE_CLASSES
from benchmark.controls.people import BEFORE_A_WORD, people_in, stands_for
from benchmark.suites.questions import Sample
from core.messages import gettext_noop

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
        if not re.search(rf"\b{word.lower()}\b|\b{word} [A-Z]|[A-Z][a-z]+ {word}\b", joined):
            people[name].append(word)  # nowhere in small letters, nor part of a full name
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


def _is_like(word: str, name: str) -> bool:
    """Return whether a word is a short form of a name, or has one of its letters replaced, left out or too many."""
    if name.startswith(word):
        return True
    short, long = sorted((word, name), key=len)
    if len(short) < _SHORTEST:
        return False
    if len(short) == len(long):
        return sum(a != b for a, b in zip(short, long, strict=True)) == 1
    return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _sound(name: str) -> str:
    """Return the name without doubled letters, and with k for c."""
    return re.sub(r"(.)\1+", r"\1", name.lower().replace("c", "k"))


EACH = "*"


def texts_at(sample: Sample, places: Sequence[str]) -> list[str]:
    """Return the texts at these places, in their order; a place that a sample lacks has none."""
    parts = {"content": sample.content, "gold": sample.gold}
    paths = [place.split(".") for place in places]
    return [text for part, *path in paths for text in _texts(parts[part], tuple(path))]


def changed_at(sample: Sample, places: Sequence[str], change: Callable[[str], str]) -> Sample:
    """Return the sample with every text at these places changed."""
    parts = {"content": sample.content, "gold": sample.gold}
    for place in places:
        part, *path = place.split(".")
        parts[part] = _changed(parts[part], tuple(path), change)
    return replace(sample, content=parts["content"], gold=parts["gold"])


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    if path and path[0] == EACH and isinstance(value, list):
        for entry in value:
            yield from _texts(entry, path[1:])
    elif path and isinstance(value, Mapping):
        if path[0] in value:
            yield from _texts(value[path[0]], path[1:])
    elif not path and isinstance(value, list):
        for entry in value:
            yield from _texts(entry, ())
    elif not path and isinstance(value, str):
        yield value


def _changed(value: Any, path: tuple[str, ...], change: Callable[[str], str]) -> Any:
    if path and path[0] == EACH and isinstance(value, list):
        return [_changed(entry, path[1:], change) for entry in value]
    if path and isinstance(value, Mapping):
        return {name: _changed(entry, path[1:], change) if name == path[0] else entry for name, entry in value.items()}
    if not path and isinstance(value, list):
        return [_changed(entry, (), change) for entry in value]
    return change(value) if not path and isinstance(value, str) else value


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

    def of(self, text: str) -> str:
        """Return the text under the new names; words that are names elsewhere stay, and so do capitals; `a` and `an`
        are set right."""
        people, things = tuple(self.people.items()), tuple(self.things.items())
        return _rewritten(text, people, things, self.language, self.given, self.others)


@lru_cache(256)
def _rewritten(
    text: str,
    people: tuple[tuple[str, str], ...],
    things: tuple[tuple[str, str], ...],
    language: str,
    given: bool,
    others: tuple[str, ...],
) -> str:
    """Samples of a cluster have their story in common, which is told once."""
    new_names, new_words = dict(people), dict(things)

    def person(match: re.Match[str]) -> str:
        name = match[0]
        return new_names.get(name, name) if stands_for(name, match.string, match.start(), given=given) else name

    def thing(match: re.Match[str]) -> str:
        new = new_words[match[0].lower()]
        return new[:1].upper() + new[1:] if match[0][:1].isupper() else new

    if people:
        text = _replaced(text, _names((*new_names, *others), language, given), person)
    if things:
        text = _replaced(text, word_pattern(tuple(new_words), language), thing)
    return text


def _names(names: Sequence[str], language: str, given: bool) -> re.Pattern[str]:
    """Return what finds these names, the longest first; names that are given in compounds, such as non-Ann, too."""
    longest_first = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    if language == CHINESE:
        return re.compile(longest_first)
    before = "A-Za-z" if given else "A-Za-z-"
    return re.compile(rf"(?<![{before}])(?:{longest_first})(?![A-Za-zà-ÿ-])(?!['’](?!s\b)[a-z])")


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
        people = _paired_people(_people(sample, controllable, texts, language), texts, drawn)
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


def _paired_people(people: Sequence[Spellings], texts: Sequence[str], drawn: Sequence[object]) -> dict[str, str]:
    """Return new names of the same kind, which the texts do not have, none where too few are left: in Chinese the
    family's stays of a name in full, and 小, 老 or 阿."""
    free: dict[str, list[str]] = {}
    pairs: dict[str, str] = {}
    for spellings in people:
        name = spellings[0]
        pool = "" if name[0].isascii() else "family" if name[0] == "老" else "given"
        if pool not in free:
            taken = "\n".join(texts) if pool else frozenset[str]().union(*map(_words, texts))
            names = drawn_order({"": NAMES, "given": GIVEN, "family": FAMILY}[pool], *drawn, PEOPLE)
            free[pool] = [new for new in names if new not in taken]
        count = len(name) - 1 if pool else 1
        if len(free[pool]) >= count:
            new = (name[0] if pool else "") + "".join(free[pool].pop(0) for _ in range(count))
            pairs |= dict.fromkeys(spellings, new)
    return pairs


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
    return changed_at(sample, controllable.texts, renaming_of(sample, controllable, seed).of)


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
