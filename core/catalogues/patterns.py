"""Sentences that were written in English, with their values in place, in the language of who reads them now.

What is kept, printed or sent (figures, reports, reasons, refusals) is written once, in English. A page that shows it
looks it up in the catalogue again: as it stands, or as a text with places, whose values are then looked up as well.
`gettext_noop(f"{count} of {total} failed")` is such a text; its entry is `{count} of {total} failed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from django.utils.translation import get_language, gettext
from django.utils.translation.trans_real import translation

LITTLE = 6
"""The number of letters up to which a text with places says too little to be told by them alone."""
_FIGURE = re.compile(r"[\W\d]*\d[\W\d]*")
_PLACE = re.compile(r"\{(\w+)(?::[^{}]*)?\}")


class Pattern:
    """A text with places: which sentences are of its form, and what they are in the other language."""

    def __init__(self, text: str, translated: str) -> None:
        literals = _PLACE.split(text)
        names = literals[1::2]
        self.literals = [literal for literal in literals[::2] if literal]
        self.length = sum(map(len, self.literals))
        parts = [re.escape(literals[0])]
        for at, name in enumerate(names):
            parts += [f"(?P<{name}>.+?)" if name not in names[:at] else f"(?P={name})", re.escape(literals[2 * at + 2])]
        self.form = re.compile("".join(parts), re.S)
        self.translated = translated
        self.says_enough = len(re.findall("[A-Za-z]", "".join(self.literals))) > LITTLE

    def values(self, text: str) -> dict[str, str] | None:
        """Return what stands in the places of a sentence; None where it is not of this form."""
        if not all(literal in text for literal in self.literals):
            return None
        match = self.form.fullmatch(text)
        return match.groupdict() if match else None

    def filled(self, values: Mapping[str, str]) -> str:
        return _PLACE.sub(lambda place: values.get(place[1], place[0]), self.translated)


def translated(text: str) -> str:
    """Return an English text in the language of the present reader; itself where that is English, or no catalogue has
    it."""
    language = get_language()
    if not text or language is None or language.startswith("en"):
        return text
    return _translated(language, text)


@lru_cache(maxsize=8192)
def _translated(language: str, text: str) -> str:
    found = gettext(text)
    if found != text:
        return found
    for pattern in _patterns(language):
        values = pattern.values(text)
        if values is None:
            continue
        words = {name: _translated(language, value) for name, value in values.items()}
        if pattern.says_enough or all(
            _FIGURE.fullmatch(value) or words[name] != value for name, value in values.items()
        ):
            return pattern.filled(words)
    return text


@cache
def _patterns(language: str) -> list[Pattern]:
    """Return the texts with places of the catalogue, those that say most first."""
    return patterns_of(translation(language)._catalog.items())


def patterns_of(entries: Iterable[tuple[str | tuple[str, int], str]]) -> list[Pattern]:
    """Return the texts with places among entries of a catalogue, those that say most first."""
    found = [
        Pattern(text, words)
        for text, words in entries
        if isinstance(text, str) and _PLACE.search(text) and re.search("[A-Za-z]{2}", _PLACE.sub("", text))
    ]
    return sorted(found, key=lambda pattern: -pattern.length)
