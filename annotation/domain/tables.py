"""Rows of a belief table as people paste them: pipes, tabs or commas; actor, belief and, optionally, order."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from annotation.domain.drafts import LONGEST
from core.language import gettext_noop

MAX_ROWS = 500
MAX_TEXT = 2000
_SEPARATOR = re.compile(r":?-{3,}:?")
_NAME = re.compile(r"\b(?:(?:Mr|Mrs|Ms|Dr|St|Prof)\. )?[A-Z][\w’'-]*(?: [A-Z][\w’'-]*)*")
_CHINESE_NAME = re.compile(r"小[\u4e00-\u9fff]")
_BEGINNERS = """
a about after afterwards again all also although an and another any as at because before both but by can come
could did do does during each either every everyone finally first for from good goodbye hello hers he her here
hey hi his how however i if i'm i’m in inside instead is it it's it’s its just last later let let's let’s look
many maybe meanwhile most my next no nobody not now of oh ok okay on once one only or our outside people
perhaps please she since so some somebody someone soon still suddenly sure thank thanks that the their then
there these they this those though three to today tomorrow tonight too two under until we well were what when
where whether which while who whose why will with without would yes yesterday yet you your monday tuesday
wednesday thursday friday saturday sunday january february march april june july august september october
november december christmas morning
"""
_BEGINNINGS = frozenset(_BEGINNERS.split())


class BadTable(ValueError):
    """A pasted table cannot be used; the message is one sentence that names the line."""


@dataclass(frozen=True, slots=True)
class TableRow:
    actor: str
    belief: str
    order: str = ""


def problem_of(row: TableRow) -> str:
    """Return in one sentence why a row cannot stand in a table, empty where it can."""
    for name, text in (("actor", row.actor), ("belief", row.belief), ("order", row.order)):
        if not text and name != "order":
            return gettext_noop(f"{name} is empty; expected a text.")
        if len(text) > LONGEST[name]:
            return gettext_noop(f"{name} is longer than {LONGEST[name]} characters.")
        if "\x00" in text:
            return gettext_noop(f"{name} holds a NUL character.")
    return ""


def read_rows(text: str) -> list[TableRow]:
    """Return the rows of a pasted table; a heading row and separator rows are skipped. Raises BadTable."""
    rows: list[TableRow] = []
    for line, cells in _cells(text):
        if not any(cells) or all(not cell or _SEPARATOR.fullmatch(cell) for cell in cells):
            continue
        if not rows and cells[0].strip("*").lower() == "actor":
            continue
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise BadTable(
                gettext_noop(f"Line {line} needs an actor and a belief, with a tab, comma or | between them.")
            )
        if max(map(len, cells)) > MAX_TEXT or "\x00" in "".join(cells):
            raise BadTable(
                gettext_noop(f"Line {line} holds a cell of more than {MAX_TEXT} characters, or a NUL character.")
            )
        rows.append(TableRow(cells[0], cells[1], cells[2][:40] if len(cells) > 2 else ""))
        if len(rows) > MAX_ROWS:
            raise BadTable(gettext_noop(f"The table has more than {MAX_ROWS} rows."))
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
        raise BadTable(gettext_noop(f"Line {reader.line_num} cannot be read: {error}.")) from error


def likely_actors(text: str) -> list[str]:
    """Names that a story mentions, to complete what is typed: words with a capital that do not merely begin a sentence,
    and Chinese names of the kind 小明."""
    names = set(_CHINESE_NAME.findall(text))
    for match in _NAME.finditer(text):
        words = re.sub(r"['’]s?$", "", match.group()).split()
        while words and words[0].casefold() in _BEGINNINGS:
            words = words[1:]
        if words and len(words[0]) > 1:
            names.add(" ".join(words))
    return sorted(names)
