"""The letter that an answer commits to, read as a person would.

Ways of answering are tried from the plainest down, and within one the last place counts: a step-by-step answer weighs
options before it chooses. A letter that is denied ("not A") is not a choice, and "A or B" chooses nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from benchmark.suites.tombench.letter_patterns import (
    ALTERNATIVE,
    BARE,
    DENIAL,
    LINE_START,
    LONE_LINE,
    MARKED,
    OPENING,
    REJECTION,
    REQUIRED_FORM,
    STATEMENT,
)
from benchmark.suites.tombench.options import LETTERS


class _Mention(NamedTuple):
    start: int
    end: int
    letter: str


def committed_letter(answer: str, options: Sequence[str]) -> str | None:
    """Return the letter of the option that an answer commits to, None where there is none.

    `options` are the texts as they were shown, without letters: A is the first. An answer may also repeat the text of
    one option. None is also returned for a letter beyond the options, and where several options are left open.
    """
    text = unicodedata.normalize("NFKC", answer).strip()  # full-width letters and punctuation as ASCII
    first, last = (text.partition("\n")[0], text.rpartition("\n")[2])
    if mentions := _mentions(REQUIRED_FORM, text):
        return _offered(_last(text, mentions), options)
    if lone := LONE_LINE.fullmatch(last):
        return _offered(lone[1].upper(), options)
    if mentions := _mentions(STATEMENT, text):
        return _offered(_last(text, mentions), options)
    if lone := LONE_LINE.fullmatch(first):
        return _offered(lone[1].upper(), options)
    starts, marked = _letters(LINE_START, text), _letters(MARKED, text)
    if starts or marked:
        return _offered(_only(starts) or _only(starts | marked), options)
    return _repeated(text, options) or _offered(_only(_letters(BARE, last)), options)


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
    return next(iter(letters)) if len(letters) == 1 else None


def _offered(letter: str | None, options: Sequence[str]) -> str | None:
    return letter if letter and letter in LETTERS[: len(options)] else None


def _last(text: str, mentions: Sequence[_Mention]) -> str | None:
    """The letter of the last mention, None where it is offered beside another letter, before or behind it."""
    last = mentions[-1]
    for mention in mentions[-2:]:
        other = ALTERNATIVE.match(text, mention.end)
        if other and (other[1] or other[2]) != mention.letter and other.end() > last.start:
            return None
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
