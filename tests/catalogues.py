"""What tests ask about catalogues: whether one is whole, and all entries of a domain."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import polib
from django.conf import settings

from core.catalogues.extraction import Text
from core.catalogues.files import entries, own_apps, path_of, translated

PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]|\{(\w*)[^{}]*\}")


def placeholders(text: str) -> set[str]:
    """Return the names that a text has values put in for."""
    return {f"%{percent}" if percent else f"{{{brace}}}" for percent, brace in PLACEHOLDER.findall(text)}


def faults(path: Path, texts: Iterable[Text]) -> Iterator[str]:
    """Say what a catalogue lacks, has too much, or has wrong."""
    known, wanted = entries(path), set(texts)
    yield from (f"no entry: {text.singular!r}" for text in sorted(wanted - known.keys()))
    yield from (f"unused: {text.singular!r}" for text in sorted(known.keys() - wanted))
    for text, entry in known.items():
        words = translated(entry)
        if entry.fuzzy or entry.obsolete:
            yield f"fuzzy: {text.singular!r}"
        if not words or not all(words):
            yield f"not translated: {text.singular!r}"
        elif any(placeholders(word) != placeholders(text.plural or text.singular) for word in words):
            yield f"other placeholders: {text.singular!r} and {words[0]!r}"


def of_all_apps(locale: str, domain: str) -> dict[Text, polib.POEntry]:
    paths = [path_of(settings.BASE_DIR, app, locale, domain) for app in own_apps()]
    return {text: entry for path in paths for text, entry in entries(path).items()}
