"""The letter that an answer commits to, read as a person would.

Ways of answering are tried from the plainest down, and within one the last place counts: a step-by-step answer weighs
options before it chooses. A letter that is denied ("not A") is not a choice, and neither are two ("A or B",
"[[A]][[B]]"). A letter that is not offered, or "none of the above", is a choice, and wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from benchmark.suites.refusals import own_words
from benchmark.suites.tombench.letter_patterns import (
    ALTERNATIVE,
    BARE,
    BESIDE,
    DENIAL,
    LETTER_ALONE,
    LINE_START,
    LONE_LINE,
    MARKED,
    NONE_OF_ALL,
    ONLY_LETTERS,
    OPENING,
    REJECTION,
    REQUIRED_FORM,
    STATEMENT,
)
from benchmark.suites.tombench.options import LETTERS, NO_OPTION, NONE_OF_THEM, SEVERAL


class _Mention(NamedTuple):
    start: int
    end: int
    letter: str


class Committed(NamedTuple):
    """The letter that an answer commits to, offered or not, NONE_OF_THEM where it rejects all; None where there is a
    reason `why`."""

    letter: str | None
    why: str = ""


def committed(answer: str, options: Sequence[str]) -> Committed:
    """Return the letter of the option that an answer commits to.

    `options` are the texts as they were shown, without letters: A is the first. An answer may also repeat the text of
    one option, before anything in it is taken for a refusal.
    """
    text = unicodedata.normalize("NFKC", answer).strip()  # full-width letters and punctuation as ASCII
    if letter := _repeated(text, options):
        return Committed(letter)
    own = own_words(text)
    letter = _letter(own.text, options)
    if not letter and own.whole and NONE_OF_ALL.search(own.text):
        letter = NONE_OF_THEM
    if letter:
        return Committed(letter)
    return Committed(None, own.why(SEVERAL if letter == _MORE else NO_OPTION))


_MORE = ""
"""Stands for more than one letter."""


def _letter(text: str, options: Sequence[str]) -> str | None:
    """The letter that a text has, _MORE for more than one, None for none."""
    first, before, last = text.partition("\n")[0], *["", *text.split("\n")][-2:]
    if mentions := _mentions(REQUIRED_FORM, text):
        return _last(text, mentions)
    if ONLY_LETTERS.fullmatch(text) and len({letter.upper() for letter in LETTER_ALONE.findall(text)}) > 1:
        return _MORE
    if lone := LONE_LINE.fullmatch(last):
        other = LONE_LINE.fullmatch(before)
        return _only({line[1].upper() for line in (lone, other) if line})
    if mentions := _mentions(STATEMENT, text):
        return _last(text, mentions)
    if lone := LONE_LINE.fullmatch(first):
        return lone[1].upper()
    starts, marked = _letters(LINE_START, text), _letters(MARKED, text)
    if starts or marked:
        return _only(starts) or _only(starts | marked)
    return _repeated(text, options) or _only(_letters(BARE, last))


def _mentions(pattern: re.Pattern[str], text: str) -> list[_Mention]:
    """The letters that a pattern finds and the text does not deny, in its order."""
    return [
        _Mention(match.start(), match.end(), next(group for group in match.groups() if group).upper())
        for match in pattern.finditer(text)
        if not DENIAL.search(text[max(0, match.start() - 60) : match.start()])
        and not REJECTION.match(text, match.end())
    ]


def _letters(pattern: re.Pattern[str], text: str) -> set[str]:
    return {mention.letter for mention in _mentions(pattern, text)}


def _only(letters: set[str]) -> str | None:
    if len(letters) > 1:
        return _MORE
    return next(iter(letters), None)


def _last(text: str, mentions: Sequence[_Mention]) -> str:
    """The letter of the last mention, _MORE where it is offered beside another letter, before or behind it."""
    last = mentions[-1]
    if (
        len(mentions) > 1
        and mentions[-2].letter != last.letter
        and BESIDE.fullmatch(text, mentions[-2].end, last.start)
    ):
        return _MORE
    for mention in mentions[-2:]:
        other = ALTERNATIVE.match(text, mention.end)
        if (
            other
            and next(group for group in other.groups() if group).upper() != mention.letter
            and other.end() > last.start
        ):
            return _MORE
    return last.letter


def _repeated(text: str, options: Sequence[str]) -> str | None:
    """The letter of the one option whose text is the whole answer or its last line; of doubled texts the first."""
    keys = [_key(option) for option in options]
    in_text, lines = _place(text, keys), [_place(line, keys) for line in text.splitlines()]
    if in_text is None and (not lines or lines[-1] is None or len({*lines} - {None}) > 1):
        return None
    place = lines[-1] if in_text is None else in_text
    return None if place is None else LETTERS[place]


def _place(line: str, keys: Sequence[str]) -> int | None:
    """The first option that a line consists of, be it announced ("The answer is ...") or behind its letter ("A Tote
    bag")."""
    candidates = (_key(line), _key(OPENING.sub("", line.lstrip(" *_"), count=1)))
    for place, key in enumerate(keys):
        if any(candidate in (key, f"{LETTERS[place].lower()} {key}") for candidate in candidates):
            return place
    return None


def _key(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .,:;!。、*_`\"'“”‘’「」『』()[]")
