"""Parses of a careful reader: whole words alone count, an answer that leaves it between several says nothing, and one
that is none of those that there are is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmark.suites.closed_sets import main_clause, words
from benchmark.suites.fantom_questions.official import token_f1

_LETTER = (
    re.compile(r"[(\[{]\s*([ab])\s*[)\]}]"),
    re.compile(r"^\W*([ab])\s*(?:$|[).:,*\]])"),
    re.compile(r"\b(?:option|answer|choice)(?:\s+is)?\s*:?\s*\W*([ab])\W*(?:$|[.,;\n])"),
)
_OTHER_LETTER = re.compile(
    r"\W*(?:(?:the\s+)?(?:correct\s+|final\s+|best\s+)?(?:option|answer|choice)(?:\s+is)?\W*)?([c-z0-9])\W*|.*[(\[]\s*([c-z])\s*[)\]].*"
)
_NEITHER = re.compile(
    r"\b(?:neither\b(?:(?:\s+(?:of|option|is|are|\(?a\)?\s+nor))|\W*$)|none\s+of\s+(?:the|these|those|them)\b|"
    r"(?:both|all)\s+(?:options?\s+)?(?:are|is)\s+(?:wrong|incorrect|false))"
)
_BOTH = re.compile(r"\b[ab]\W*\s+(?:or|and)\s+\W*[ab]\b|\b[ab]\W{0,4}[\s,;/&+|]\W{0,4}[ab]\W*$")
_DENIED = re.compile(r"\b(?:not|never|nor|except|excluding|without|but not)\s+(?:for\s+|by\s+|option\s+)?\W*$")
YES_OR_NO = re.compile(r"\b(yes|true|no|false)\b(?!\s+(?:one|longer|doubt|idea)\b)")
_UNKNOWING = re.compile(
    r"\b(?:does\s+not|doesn't|did\s+not|didn't|cannot|can't|could\s+not|would\s+not)\s+(?:\w+\s+)?know\b"
)
_KNOWING = re.compile(r"\b(?:knows|does\s+know)\b")
_NOBODY = re.compile(r"\b(?:nobody|no one|none|no characters?)\b")
_EVERYBODY = re.compile(
    r"^\W*(?:every(?:one|body)|all\b(?!\s+(?:i|we|that)\b)|(?:each|both)\s+of\s+them|(?:all|each)\s+of\s+(?:the|them|these))"
)
_EMPTY_LIST = re.compile(r"\W*\[[\s\"']*\]\W*|(?:\w+\s*[:=]\s*)?\[\s*\]")
_SPACES = re.compile(r"[^\S\n]+")
_ASIDE = re.compile(r"\([^()]*\)")
_BEFORE_NAMES = re.compile(
    r"^(?:[^:\[\]]{0,200}:\s*|(?:only|just|both)\s+|(?:the\s+)?(?:people|characters?|names?|persons?|ones|speakers|participants)\b"
    r".{0,120}?\b(?:are|is|would\s+be|include)\s+)+",
    re.IGNORECASE | re.DOTALL,
)
_AFTER_NAMES = re.compile(
    r"\s+(?:(?:both|all|also|each|would|will|can|could|do|does|already|clearly)\s+)*(?:knows?|knew|is|are|has|have|was|were|heard|hears?|"
    r"answer|answers|mentioned|understands?|learned|remembers?)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_BETWEEN_NAMES = re.compile(r"\s*(?:[,;、，\n/&|]|\band\b|\bas\s+well\s+as\b|\bor\b)\s*")
_NAME = re.compile(r"[A-Z][\w'’-]+(?:\s+(?:[A-Z][\w'’.-]*|\d+)){0,2}")
_NO_NAMES = words(
    "yes no none nobody everyone everybody all the only both answer they he she i i'm i'd i've we you it there this "
    "that as if while although about regarding unknown name names"
)
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


def option_outside(answer: str) -> str:
    """Return the letter of an option that is not there, or the words by which an answer rejects both. Returns "" for
    other words, which may mean one of the options."""
    text = answer.lower().strip()
    if letter := _OTHER_LETTER.fullmatch(text):
        return letter[1] or letter[2] or ""
    return " ".join(answer.split())[:60] if _NEITHER.search(text) and len(text.split()) < 20 else ""


def names_in(answer: str, names: Sequence[str]) -> list[str] | None:
    """Return which of the names an answer gives as whole words, without those that it rules out; all of them where it
    says everybody, None where it gives none and does not say so.

    Names are looked for as they are written, so that Will is not found in "will"; in an answer without any of them
    whatever their case.
    """
    text = main_clause(answer)
    for flags in (re.RegexFlag(0), re.IGNORECASE):
        given = [name for name in names if _given(text, name, flags)]
        if given:
            return given
    ruled_out = [name for name in names if re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE)]
    if _EVERYBODY.search(text.lower()):
        return [name for name in names if name not in ruled_out]
    return [] if ruled_out or _NOBODY.search(text.lower()) or _EMPTY_LIST.fullmatch(text.strip()) else None


def strangers_in(answer: str, names: Sequence[str], heard: str = "") -> list[str]:
    """Return the names in a list that are of nobody in `names`, nor of a speaker of the conversation `heard`.

    Only what stands where a list has a name counts: other words in capitals are no people."""
    text = _ASIDE.sub(" ", _SPACES.sub(" ", main_clause(answer)))
    inside = re.search(r"\[([^\[\]]*)\]", text)
    parts = _BETWEEN_NAMES.split(inside[1] if inside else _BEFORE_NAMES.sub("", text.strip(), count=1))
    speakers = {*names, *(line.partition(":")[0] for line in heard.split("\n"))}
    character = re.compile(
        "|".join(rf"\b{re.escape(name)}\b" for name in sorted(speakers, key=len, reverse=True) if name), re.IGNORECASE
    )
    strangers = []
    for part in parts:
        name = re.sub(r"^\W*(?:\d+[.)]\s*)?", "", _AFTER_NAMES.sub("", part)).strip(" \t*_`\"'“”.!?()[]-•")
        listed = _NAME.fullmatch(name) or (inside and re.fullmatch(r"[\w'’-]{2,}(?:\s+[\w'’.-]+){0,2}", name))
        if listed and not character.search(name) and name.split()[0].lower() not in _NO_NAMES:
            strangers.append(name)
    return strangers


def yes_or_no(answer: str) -> int | None:
    """Return 1 for yes, 0 for no, by those words or, without them, by whether somebody is said to know; None for
    neither and for both."""
    text = answer.lower().replace("’", "'")
    words = {match.group(1) in ("yes", "true") for match in YES_OR_NO.finditer(text)}
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
    return bool(_DENIED.search(text[max(0, at - 60) : at]))


def _plain(text: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split())


def _squad(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub("", text.lower())).split())
