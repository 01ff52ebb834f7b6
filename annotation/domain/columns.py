"""The columns of a spreadsheet: which holds what by its first line, and what a cell of one says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.duplicates import first_duplicate
from core.language import gettext_noop

_WHOLE = re.compile(r"(\d+)\.0+")


class WrongColumns(ValueError):
    """The file as a whole cannot be read; one sentence."""


def names_of(header: Sequence[str]) -> list[str]:
    """Return the names of columns as they are compared: without spaces around them, in small letters."""
    return [name.strip().lstrip("\ufeff").strip().lower() for name in header]


def columns_of(
    header: Sequence[str], file: str, *, required: Sequence[str], spellings: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Return the place of each column that there is; `spellings` has other names of some, and names the optional ones.

    Raises WrongColumns where a name occurs twice or a required one is missing.
    """
    names = names_of(header)
    if twice := first_duplicate(filter(None, names)):
        raise WrongColumns(
            gettext_noop(f"{file}, line 1: the column {twice[:60]} occurs twice; expected each name once.")
        )
    at: dict[str, int] = {}
    for name in dict.fromkeys((*required, *spellings)):
        present = [spelling for spelling in (name, *spellings.get(name, ())) if spelling in names]
        if present:
            at[name] = names.index(present[0])
    if missing := [name for name in required if name not in at]:
        raise WrongColumns(
            gettext_noop(f"{file}, line 1: the column {missing[0]} is missing; expected {', '.join(required)}.")
        )
    return at


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
