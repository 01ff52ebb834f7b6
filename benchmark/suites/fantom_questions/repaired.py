"""Parses of a careful reader: whole words alone count, and an answer that leaves it between several says
nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmark.suites.fantom_questions.official import token_f1

_LETTER = (
    re.compile(r"[(\[]\s*([ab])\s*[)\]]"),
    re.compile(r"^\W*([ab])\s*(?:$|[).:,*\]])"),
    re.compile(r"\b(?:option|answer|choice)(?:\s+is)?\s*:?\s*\W*([ab])\W*(?:$|[.,;\n])"),
)
_BOTH = re.compile(r"\b[ab]\W*\s+(?:or|and)\s+\W*[ab]\b")
_DENIED = re.compile(r"\b(?:not|never|nor|except|excluding|without|but not)\s+(?:for\s+|by\s+|option\s+)?\W*$")
_WORD = re.compile(r"\b(yes|true|no|false)\b(?!\s+(?:one|longer|doubt|idea)\b)")
_UNKNOWING = re.compile(
    r"\b(?:does\s+not|doesn't|did\s+not|didn't|cannot|can't|could\s+not|would\s+not)\s+(?:\w+\s+)?know\b"
)
_KNOWING = re.compile(r"\b(?:knows|does\s+know)\b")
_NOBODY = re.compile(r"\b(?:nobody|no one|none|no characters?)\b")
_PUNCTUATION = re.compile(r"[^\w\s]")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def option_of(answer: str, options: Sequence[str]) -> int | None:
    """Return the place of the one option that an answer names by its letter or, without any letter, in its own words;
    None where it names none or several."""
    text = answer.lower().strip()
    if _BOTH.search(text):
        return None
    letters = {
        match.group(1) for pattern in _LETTER for match in pattern.finditer(text) if not _denied(text, match.start())
    }
    if letters:
        return "ab".index(letters.pop()) if len(letters) == 1 else None
    worded = [place for place, option in enumerate(options) if _plain(option) in _plain(answer)]
    return worded[0] if len(worded) == 1 else None


def names_in(answer: str, names: Sequence[str]) -> list[str] | None:
    """Return which of the names an answer gives as whole words, without those that it rules out; None where it gives
    none and does not say so.

    Names are looked for as they are written, so that Will is not found in "will"; in an answer without any of them
    whatever their case.
    """
    for flags in (re.RegexFlag(0), re.IGNORECASE):
        given = [name for name in names if _given(answer, name, flags)]
        if given:
            return given
    ruled_out = any(re.search(rf"\b{re.escape(name)}\b", answer, re.IGNORECASE) for name in names)
    return [] if ruled_out or _NOBODY.search(answer.lower()) else None


def yes_or_no(answer: str) -> int | None:
    """Return 1 for yes, 0 for no, by those words or, without them, by whether somebody is said to know; None for
    neither and for both."""
    text = answer.lower().replace("’", "'")
    words = {match.group(1) in ("yes", "true") for match in _WORD.finditer(text)}
    if not words:
        words = {knows for knows, pattern in ((False, _UNKNOWING), (True, _KNOWING)) if pattern.search(text)}
    return int(words.pop()) if len(words) == 1 else None


def squad_f1(truth: str, answer: str) -> float:
    """Return the F1 of words in lower case without punctuation and articles, as SQuAD counts them."""
    return token_f1(_squad(truth), _squad(answer))


def _given(answer: str, name: str, flags: re.RegexFlag) -> bool:
    places = re.finditer(rf"\b{re.escape(name)}\b", answer, flags)
    return any(not _denied(answer.lower(), place.start()) for place in places)


def _denied(text: str, at: int) -> bool:
    return bool(_DENIED.search(text[:at]))


def _plain(text: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split())


def _squad(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub("", text.lower())).split())
