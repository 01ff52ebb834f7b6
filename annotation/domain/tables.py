"""Rows of a belief table as people paste them: pipes, tabs or commas; actor, belief and, optionally, order."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_ROWS = 500
MAX_TEXT = 2000
_SEPARATOR = re.compile(r":?-{3,}:?")
_NAME = re.compile(r"(?<=[a-z,;:] )([A-Z][\w’'-]*(?: [A-Z][\w’'-]*)?)")


class BadTable(ValueError):
    """A pasted table cannot be used; the message is one sentence that names the line."""


@dataclass(frozen=True, slots=True)
class TableRow:
    actor: str
    belief: str
    order: str = ""


def read_rows(text: str) -> list[TableRow]:
    """Return the rows of a pasted table; a heading row and separator rows are skipped. Raises BadTable."""
    rows: list[TableRow] = []
    for line, cells in _cells(text):
        if not any(cells) or all(not cell or _SEPARATOR.fullmatch(cell) for cell in cells):
            continue
        if not rows and cells[0].strip("*").lower() == "actor":
            continue
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise BadTable(f"Line {line} needs an actor and a belief, with a tab, comma or | between them.")
        if max(map(len, cells)) > MAX_TEXT or "\x00" in "".join(cells):
            raise BadTable(f"Line {line} holds a cell of more than {MAX_TEXT} characters, or a NUL character.")
        rows.append(TableRow(cells[0], cells[1], cells[2][:40] if len(cells) > 2 else ""))
        if len(rows) > MAX_ROWS:
            raise BadTable(f"The table has more than {MAX_ROWS} rows.")
    return rows


def _cells(text: str) -> Iterator[tuple[int, list[str]]]:
    lines = text.splitlines()
    if any("|" in line for line in lines):
        for number, line in enumerate(lines, 1):
            yield number, [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        return
    delimiter = "\t" if "\t" in text else ","
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        for cells in reader:
            yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise BadTable(f"Line {reader.line_num} cannot be read: {error}.") from error


def likely_actors(text: str) -> list[str]:
    """Names that a story mentions, to complete what is typed: words with a capital inside a sentence."""
    return sorted({name.removesuffix("'s").removesuffix("’s") for name in _NAME.findall(text) if len(name) > 1})
