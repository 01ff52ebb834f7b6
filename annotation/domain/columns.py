"""The columns of a spreadsheet and the fields of a record: which holds what by its name, and what a cell says."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from core.incoming.json_lines import BadLine
from core.messages import Sentence, gettext_noop

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


def defused(text: str) -> str:
    """Return `text` with an apostrophe before it where a spreadsheet might run it; `restored` takes it off again.

    A text that already starts with an apostrophe and a dangerous character gets one too, so that the way back is exact.
    """
    probe = text.lstrip("'")
    return "'" + text if probe.startswith(_DANGEROUS) else text


def restored(text: str) -> str:
    probe = text.lstrip("'")
    return text[1:] if text.startswith("'") and probe.startswith(_DANGEROUS) else text


class Echo:
    """A file for csv.writer whose `write` returns the line, to stream it."""

    def write(self, line: str) -> str:
        return line


_WHOLE = re.compile(r"(\d+)\.0+")
_WIDTHLESS = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]+")
_SEPARATORS = re.compile(r"[\s_.\-\u2010-\u2015]+")
"""What the spellings of one name differ by: blanks, hyphens and full stops."""


class WrongColumns(ValueError):
    """The file as a whole cannot be read; one sentence. `line` is that of the header."""

    def __init__(self, sentence: str, line: int = 1) -> None:
        super().__init__(sentence)
        self.line = line


Columns = tuple[dict[str, int], list[str]]
"""Place of each column that is read, by its name here, and the names of those that are not, as the file has them."""


@lru_cache(4096)
def key_of(name: str) -> str:
    """Return the name of a column or field as it is compared: `Story ID`, `story-id` and `StoryId` are one name, also
    in full-width letters."""
    text = unicodedata.normalize("NFKC", _WIDTHLESS.sub("", name)).strip(" *").casefold()
    return _SEPARATORS.sub("", text) or text.strip()


def columns_of(
    header: Sequence[str], file: str, *, required: Sequence[str], spellings: Mapping[str, Sequence[str]], line: int = 1
) -> Columns:
    """Return the columns of a header; `spellings` has other names of some, and names the optional ones.

    Raises WrongColumns where two columns have one name or a required one is missing.
    """
    try:
        at, unused = _read(header, required, spellings)
    except _SameName as error:
        sentence = gettext_noop("{file}, line {line}: the column {keys} occurs twice; expected each name once.")
        raise WrongColumns(sentence.format(file=file, line=line, keys=error), line) from error
    if missing := [name for name in required if name not in at]:
        sentence = gettext_noop("{file}, line {line}: the column {missing} is missing; expected {required}.")
        expected = ", ".join(required)
        raise WrongColumns(sentence.format(file=file, line=line, missing=missing[0], required=expected), line)
    return at, unused


class _SameName(ValueError):
    """The spellings of a name that occurs twice."""


def _read(header: Sequence[str], required: Sequence[str], spellings: Mapping[str, Sequence[str]]) -> Columns:
    places: dict[str, int] = {}
    for place, name in enumerate(header):
        key = key_of(name)
        if key and key in places:
            first, twice = display_name(header[places[key]]), display_name(name)
            raise _SameName(twice if first == twice else f"{first}, {twice}")
        if key:
            places[key] = place
    at: dict[str, int] = {}
    for name in dict.fromkeys((*required, *spellings)):
        present = [key for key in map(key_of, (name, *spellings.get(name, ()))) if key in places]
        if present:
            at[name] = places[present[0]]
    # a column without a name before a named one is called by its number
    unused = [place for place in range(max(places.values(), default=-1) + 1) if place not in at.values()]
    return at, [
        display_name(header[place]) or Sentence("column {place} without a name", place=place + 1) for place in unused
    ]


def fields_of(
    record: Mapping[str, Any], *, required: Sequence[str], spellings: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Any], list[str]]:
    """Return the values of a record by the names of fields here, and the names of fields that are not used. Raises
    BadLine where two fields have one name."""
    names = list(record)
    try:
        at, unused = _read(names, required, spellings)
    except _SameName as error:
        raise BadLine(Sentence("The field {keys} occurs twice; expected each name once.", keys=error)) from error
    return {name: record[names[place]] for name, place in at.items()}, unused


def display_name(name: str) -> str:
    """Return the name of a column or field on one line, cut to 60 characters."""
    return " ".join(_WIDTHLESS.sub("", name).split())[:60]


def cell_of(cells: Sequence[str], at: Mapping[str, int], name: str) -> str:
    """Return the text of a named column, empty where the row or the sheet has none."""
    place = at.get(name, -1)
    return cells[place] if 0 <= place < len(cells) else ""


def as_displayed(text: str) -> str:
    """Return a cell without spaces around it, and a whole number as a workbook has it: what saves tables of numbers as
    text writes 1 as 1.0 where a cell of the column is empty."""
    bare = text.strip()
    whole = _WHOLE.fullmatch(bare)
    return whole[1] if whole else bare
