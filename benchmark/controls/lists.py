"""Names, things and sentences of our own (`lists.toml`), that controls put in the place of others, and words that tell
whether a name beside them is somebody's."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_LISTS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _words(text: str) -> tuple[str, ...]:
    return tuple(" ".join(word.split()) for word in text.split(",")) if "," in text else tuple(text.split())


def _list(part: str, name: str) -> tuple[str, ...]:
    return _words(_LISTS[part][name])


_CHARACTERS: Mapping[str, str] = _LISTS["people"]
PEOPLE = _list("people", "PEOPLE")
GIVEN, FAMILY = _CHARACTERS["GIVEN"], _CHARACTERS["FAMILY"]
ALSO_WORDS = frozenset(_list("people", "ALSO_WORDS"))
MONTHS = frozenset(_list("people", "MONTHS"))
NOT_PEOPLE = frozenset(_list("people", "NOT_PEOPLE"))
FAMILY_IN_CHINESE = frozenset(_CHARACTERS["FAMILY_IN_CHINESE"])
GIVEN_IN_CHINESE = frozenset(_CHARACTERS["GIVEN_IN_CHINESE"])
NOT_NAMED_IN_CHINESE = frozenset(_list("people", "NOT_NAMED_IN_CHINESE"))
BEHIND_WORDS = _CHARACTERS["BEHIND_WORDS"]
CALLED_BEHIND = _list("people", "CALLED_BEHIND")
NOT_GIVEN = frozenset(_CHARACTERS["NOT_GIVEN"])
CHINESE_WORDS = frozenset(_list("people", "CHINESE_WORDS"))

SENTENCES: Mapping[str, Sequence[str]] = {language: tuple(each) for language, each in _LISTS["sentences"].items()}


def _third(verb: str) -> str:
    if verb == "have":
        return "has"
    if re.search("[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "x", "ch", "sh", "o")) else f"{verb}s"


def _regular_past(verb: str) -> str:
    if re.search("[^aeiou]y$", verb):
        return f"{verb[:-1]}ied"
    return f"{verb}d" if verb.endswith("e") else f"{verb}ed"


VERBS = frozenset(
    form
    for verb in (*_list("telling", "DOING"), "begin")
    for form in (_third(verb), _regular_past(verb), verb)
    if form != "book"
) | frozenset(_list("telling", "PAST")) - {"was"}
"""Verbs of people, of doing, saying, feeling and thinking, in the forms that follow a name."""
MINDS, ROLES, TITLES = (_list("telling", name) for name in ("MINDS", "ROLES", "TITLES"))
HAVING = (*ROLES, *_list("telling", "HAVING"))
ADDRESSED = _list("telling", "ADDRESSED")
_IRREGULAR = {"meet": "met", "say": "said", "speak": "spoke", "tell": "told", "lie": "lied"}
ADDRESSING = tuple(
    " ".join((form, *to))
    for verb, *to in map(str.split, ADDRESSED)
    for form in (verb, _third(verb), _IRREGULAR.get(verb) or _regular_past(verb), f"{verb.removesuffix('e')}ing")
)
PLACE_WORDS = _list("telling", "PLACE_WORDS")
PLACES_AND_WORKS = (*PLACE_WORDS, *_list("telling", "PLACES_AND_WORKS"))
SURNAMES = frozenset(_list("telling", "SURNAMES"))
_INITIAL, _FINAL = "(?:zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw])", "(?:[aeiou]{1,3}(?:ng|n|r)?)"
PINYIN = re.compile(rf"(?:{_INITIAL}?{_FINAL}){{1,2}}", re.IGNORECASE)
"""One syllable of Chinese in Latin letters, or two."""


class Thing(NamedTuple):
    """A class: `there` are the words that are replaced, `instead` those that take their place, both as singular and
    plural, equal for words that are always plural."""

    there: Mapping[str, str]
    instead: Mapping[str, str]


def _plural(word: str) -> str:
    if word == "scarf":
        return "scarves"
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh", "mato", "tato", "ngo")) else f"{word}s"


def _things(kind: str) -> tuple[Thing, ...]:
    def forms(listed: Mapping[str, Any], name: str) -> dict[str, str]:
        plural: Callable[[str], str] = str if listed.get("always_plural") else _plural
        return {word: plural(word) for word in _words(listed[name])}

    return tuple(Thing(forms(listed, "there"), forms(listed, "instead")) for listed in _LISTS[kind])


OBJECTS, PLACES = _things("objects"), _things("places")
CHINESE_OBJECTS, CHINESE_PLACES = (
    tuple((_words(listed["there"]), _words(listed["instead"])) for listed in _LISTS[kind])
    for kind in ("chinese_objects", "chinese_places")
)
