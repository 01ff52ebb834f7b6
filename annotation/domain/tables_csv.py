"""Belief tables kept in a spreadsheet: one row a proposition (the contract of `import_tables`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from annotation.domain.columns import WrongColumns, as_displayed, cell_of, columns_of
from annotation.domain.left_out import LeftOut
from annotation.domain.spreadsheet import restored
from annotation.domain.tables import REQUIRED, SPELLINGS, TableRow, problem_of
from core.incoming.sheets import SheetRow
from core.messages import Sentence, capitalised, gettext_noop

_SPELLINGS: Mapping[str, tuple[str, ...]] = {"story_id": (), "story": ("text",), **SPELLINGS}


class TableLine(NamedTuple):
    """A row of a spreadsheet of tables. `story` is the story's number, or its text where the row has no number; None
    where neither can be read. `problem` says what is wrong with the row, empty where it can be used. `text` is the
    story's text, empty where the row has only its number."""

    line: int
    story: int | str | None
    row: TableRow
    problem: str = ""
    text: str = ""


def read_tables(sheet: Iterable[SheetRow], file: str, left_out: LeftOut) -> Iterator[TableLine]:
    """Yield the rows of a spreadsheet in order. Raises WrongColumns and BadSheet."""
    rows = iter(sheet)
    header = next(rows, SheetRow(1, []))
    at, unused = columns_of(header.cells, file, required=REQUIRED, spellings=_SPELLINGS, line=header.line)
    left_out.add(unused)
    if not {"story_id", "story"} & at.keys():
        raise WrongColumns(
            Sentence(
                "{file}, line {line}: no column says which story; expected story_id (its number) or story "
                "(its exact text).",
                file=file,
                line=header.line,
            )
        )
    for line, cells, problem in rows:
        yield _line(cells, at, line, problem)


def _line(cells: list[str], at: Mapping[str, int], line: int, problem: str) -> TableLine:
    actor, belief, order = (restored(cell_of(cells, at, name)).strip() for name in ("actor", "belief", "order"))
    row = TableRow(actor, belief, as_displayed(order))
    number, text = as_displayed(cell_of(cells, at, "story_id")), restored(cell_of(cells, at, "story"))
    if problem:
        return TableLine(line, _story(number, text), row, capitalised(problem))
    if number and not _is_number(number):
        return TableLine(
            line, None, row, Sentence("story_id is {number}; expected the number of a story.", number=repr(number[:40]))
        )
    if not number and not text.strip():
        return TableLine(
            line, None, row, gettext_noop("The row names no story; expected a story_id or the text of a story.")
        )
    return TableLine(line, _story(number, text), row, problem_of(row), text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19


def _story(number: str, text: str) -> int | str | None:
    return int(number) if _is_number(number) else (text or None)
