"""Sentences that were written in English, with their values in place, in the language of who reads them now.

What is kept, printed or sent (figures, reports, reasons, refusals) is written once, in English. A page that shows it
looks it up in the catalogue again: as it stands, or as a text with places, whose values are then looked up as well.
Notes that are put together of clauses or sentences, and lists of such texts, are looked up part by part.
`gettext_noop(f"{count} of {total} failed")` is such a text; its entry is `{count} of {total} failed`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial, reduce
from itertools import chain
from typing import NamedTuple

from django.utils.translation import get_language, gettext
from django.utils.translation.trans_real import translation

from core import joints

LITTLE = 4
"""The number of letters up to which a text with places says too little to be told by them alone."""
LONG = 40
"""How many times as long as its own letters a sentence of a form may be: beyond, its values are
not values."""
MOST = 500
"""The number of characters up to which all ways to read a text are tried: they grow with the square of its clauses."""
_LETTER = re.compile("[A-Za-z]")
_ALIKE = re.compile(
    r"[\W\d]*|(?!it\b|is\b|of\b|no\b)[a-z]{1,2}|[A-Z][\w=]*[A-Z\d+]\w*"
    r"|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"",
    re.S,
)
"""A figure or a sign, the letters of a group, a code such as MC=1, or what somebody wrote, in quotes: alike in every
language."""
_CODES = {"keys", "values", "legal"}
"""The places of words that stand in files and requests: they are alike in every language."""
_AS_GIVEN = {"split", "model"}
"""The places of names that people gave, which are never read. Apps add theirs (`keep_as_given`)."""
_NOTED = re.compile(r"(.+) \(([^()]+)\)", re.S)
_PLACE = re.compile(r"\{(\w+)(?::[^{}]*)?\}")
_WORD = re.compile("[A-Za-z]+")
_JOINT = re.compile(r"; |(?<=[a-z0-9)%][.!?]) (?=[A-Z])")
"""Separators between clauses and between sentences."""


class Pattern:
    """A text with places: which sentences are of its form, and what they are in the other language."""

    def __init__(self, text: str, translated: str) -> None:
        literals = _PLACE.split(text)
        names = literals[1::2]
        self.literals = [literal for literal in literals[::2] if literal]
        self.length = sum(map(len, self.literals))
        self.words = _words_between(literals[::2])
        parts = [re.escape(literals[0])]
        for at, name in enumerate(names):
            parts += [f"(?P<{name}>.+?)" if name not in names[:at] else f"(?P={name})", re.escape(literals[2 * at + 2])]
        self.form = re.compile("".join(parts), re.S)
        self.translated = translated
        letters = len(_LETTER.findall("".join(self.literals)))
        self.says_enough = letters > LITTLE
        self.longest = LONG * letters

    def values(self, text: str) -> dict[str, str] | None:
        """Return what stands in the places of a sentence; None where it is not of this form."""
        if not all(literal in text for literal in self.literals):
            return None
        match = self.form.fullmatch(text)
        return match.groupdict() if match else None

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the translated text with values in its places."""
        parts = _PLACE.split(self.translated)
        put_in = [values.get(part, f"{{{part}}}") if at % 2 else part for at, part in enumerate(parts)]
        return reduce(joints.seamed, put_in, "")


def _words_between(literals: list[str]) -> frozenset[str]:
    """Return the words that every sentence of a form has: whole in a literal, touching no place, where the value could
    go on with letters."""
    words = set[str]()
    for at, literal in enumerate(literals):
        for word in _WORD.finditer(literal):
            begins = word.start() > 0 or at == 0
            ends = word.end() < len(literal) or at == len(literals) - 1
            if begins and ends:
                words.add(word[0])
    return frozenset(words)


class Index:
    """Texts with places, found by a word that each must have: a sentence is held against few of them."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self.patterns = list(patterns)
        common = Counter(word for pattern in self.patterns for word in pattern.words)
        self._by_word: dict[str, list[int]] = {}
        for number, pattern in enumerate(self.patterns):
            rarest = min(sorted(pattern.words), key=lambda word: common[word], default="")
            self._by_word.setdefault(rarest, []).append(number)

    def near(self, text: str) -> list[Pattern]:
        """Return the patterns whose word the sentence has, and those that have none, in their order: no other can be of
        its form."""
        numbers = [number for word in {"", *_WORD.findall(text)} for number in self._by_word.get(word, ())]
        return [self.patterns[number] for number in sorted(numbers)]


def keep_as_given(*places: str) -> None:
    """Leave what stands in the places of these names as it is, as an app does with names that people gave when it is
    ready."""
    _AS_GIVEN.update(places)


def translated(text: str) -> str:
    """Return an English text in the language of the present reader; itself where that is English, or no catalogue has
    it."""
    language = get_language()
    if not text or language is None or language.startswith("en"):
        return text
    return _read(language, text).words


class Read(NamedTuple):
    """A text in the language of its reader, and how many of its letters are English still: names, or unknown words."""

    words: str
    left: int


@lru_cache(maxsize=16384)
def _read(language: str, text: str) -> Read:
    """Return a text as the catalogue has it, whole or in parts: of all ways to read it the one that leaves the least,
    of several the one that says most."""
    if _ALIKE.fullmatch(text):
        return Read(text, 0)
    cases = (text, text[:1].swapcase() + text[1:])  # the same sentence within another one
    for case in cases:
        if (translation := gettext(case)) != case:
            return Read(translation, 0)
    if len(text) > MOST:
        return _apart(language, text)
    best = Read(text, len(_LETTER.findall(text)))
    ways = (*(partial(_of_form, text=case) for case in cases), *(partial(way, text=text) for way in _WAYS))
    for read in chain.from_iterable(way(language) for way in ways):
        best = read if read.left < best.left else best
        if not best.left:
            return best
    # a form with one place for all that is listed says no more of it
    return next((read for read in _listed(language, text) if read.left <= best.left), best)


def _of_form(language: str, text: str) -> Iterator[Read]:
    """Read a text as one with places; what says little only where its values are known."""
    for pattern in _index(language).near(text):
        if len(text) > pattern.longest or (values := pattern.values(text)) is None:
            continue
        read = {name: _of_place(language, name, value) for name, value in values.items()}
        left = sum(value.left for value in read.values())
        if pattern.says_enough or not left:
            yield Read(pattern.filled({name: value.words for name, value in read.items()}), left)


def _of_place(language: str, name: str, value: str) -> Read:
    if name in _CODES:
        return Read(value, 0)
    return Read(value, len(_LETTER.findall(value))) if name in _AS_GIVEN else _read(language, value)


def _of_clauses(language: str, text: str) -> Iterator[Read]:
    """Read a text as two parts that are clauses or sentences of one, or several, each."""
    for match in _JOINT.finditer(text):
        head, tail = _read(language, text[: match.start()]), _read(language, text[match.end() :])
        yield _joined(head, match[0], tail)


def _joined(head: Read, sign: str, tail: Read) -> Read:
    # one that ends in a Chinese full stop needs no space
    between = joints.joint(";") if sign == "; " else joints.joint(" ") if head.words.endswith("。") else sign
    return Read(head.words + between + tail.words, head.left + tail.left)


def _apart(language: str, text: str) -> Read:
    """Read a long text clause by clause, each by itself."""
    as_it_is = Read(text, len(_LETTER.findall(text)))
    if (first := _JOINT.search(text)) is None:
        return as_it_is
    read, sign, at = _read(language, text[: first.start()]), first[0], first.end()
    for following in _JOINT.finditer(text, at):
        read = _joined(read, sign, _read(language, text[at : following.start()]))
        sign, at = following[0], following.end()
    read = _joined(read, sign, _read(language, text[at:]))
    return read if read.left < as_it_is.left else as_it_is


def _noted(language: str, text: str) -> Iterator[Read]:
    """Read a text with a unit or a reason in brackets after it, where that is known but for names in it."""
    if noted := _NOTED.fullmatch(text):
        head, note = (_read(language, part) for part in noted.groups())
        if not head.left + note.left or note.words != noted[2]:
            yield Read(joints.noted(head.words, note.words), head.left + note.left)


def _read_description(language: str, text: str) -> Iterator[Read]:
    """Read what is told of a name after a colon, or of one that is known."""
    name, _, description = text.partition(": ")
    if description:
        named, read = (_read(language, part) for part in (name, description))
        if not (named.left and read.left):
            yield Read(joints.labelled(named.words, read.words), named.left + read.left)


def _listed(language: str, text: str) -> Iterator[Read]:
    """Read what is listed between commas, where each of it is known, or one word, which is a name."""
    parts = text.split(", ") if ", " in text else []
    read = [_read(language, part) for part in parts]
    if parts and all(" " not in part or not result.left for part, result in zip(parts, read, strict=True)):
        yield Read(joints.joint(",").join(result.words for result in read), sum(result.left for result in read))


def _stopped(language: str, text: str) -> Iterator[Read]:
    """Read a note that was made a sentence by a full stop."""
    if text.endswith(".") and (note := _read(language, text[:-1])).words != text[:-1]:
        yield Read(note.words.removesuffix("。") + joints.joint("."), note.left)


_WAYS = (_of_clauses, _stopped, _noted, _read_description)


@cache
def _index(language: str) -> Index:
    """Return the texts with places of the catalogue, those that say most first."""
    return Index(patterns_of(translation(language)._catalog.items()))


def patterns_of(entries: Iterable[tuple[str | tuple[str, int], str]]) -> list[Pattern]:
    """Return the texts with places among entries of a catalogue, those that say most first."""
    patterns = [
        Pattern(text, words)
        for text, words in entries
        if isinstance(text, str) and _PLACE.search(text) and re.search("[A-Za-z]{2}", _PLACE.sub("", text))
    ]
    return sorted(patterns, key=lambda pattern: -pattern.length)
