"""Votes kept in a spreadsheet: one row a vote (the contract of `import_votes`)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import TextIO

from annotation.domain.problems import Problem
from annotation.domain.schema import Schema
from annotation.domain.spreadsheet import restored
from core.duplicates import first_duplicate

REQUIRED = ("story_id", "actor", "belief", "dimension", "annotator", "label")
MAX_FIELD = 1_000_000
_OPTIONAL = {"occurrence": ("occurrence",), "created_at": ("created_at", "changed_at")}
_DELIMITERS = ",;\t"


class WrongColumns(ValueError):
    """The file as a whole cannot be read; one sentence."""


@dataclass(slots=True)
class VoteRow:
    line: int
    story: int
    actor: str
    belief: str
    dimension: str
    annotator: str
    label: str
    occurrence: int
    created_at: datetime | None


def read_votes(handle: TextIO, file: str, schema: Schema) -> Iterator[VoteRow | Problem]:
    """Yield the rows of the file in order, with a Problem in place of each that cannot be used. Raises WrongColumns."""
    csv.field_size_limit(MAX_FIELD)
    try:
        head = handle.readline(MAX_FIELD)
        delimiter = max(_DELIMITERS, key=head.count)  # spreadsheets of half of Europe save semicolons
        reader = csv.reader(chain([head], handle), delimiter=delimiter)
        header = next(reader, [])
        at = _columns(header, file)
        widths = range(max(at[name] for name in REQUIRED) + 1, len(header) + 1)
        labels = {
            (dimension.key, value.lower()): value for dimension in schema.dimensions for value in dimension.values
        }
        for cells in reader:
            line = reader.line_num
            if not any(cells):
                continue
            try:
                yield _row(cells, at, widths, line, labels, schema)
            except _Bad as error:
                yield Problem(file, line, str(error))
    except csv.Error as error:
        yield Problem(file, reader.line_num, f"The line is not valid CSV: {error}.")
    except UnicodeDecodeError as error:
        raise WrongColumns(f"{file} is not UTF-8; save the spreadsheet as CSV in UTF-8.") from error


def _columns(header: list[str], file: str) -> dict[str, int]:
    names = [name.strip().lstrip("\ufeff").lower() for name in header]
    if twice := first_duplicate(filter(None, names)):
        raise WrongColumns(f"{file}, line 1: the column {twice[:60]} occurs twice; expected each name once.")
    if missing := [name for name in REQUIRED if name not in names]:
        raise WrongColumns(f"{file}, line 1: the column {missing[0]} is missing; expected {', '.join(REQUIRED)}.")
    at = {name: names.index(name) for name in REQUIRED}
    for name, spellings in _OPTIONAL.items():
        if present := [spelling for spelling in spellings if spelling in names]:
            at[name] = names.index(present[0])
    return at


class _Bad(ValueError):
    pass


def _row(
    cells: list[str],
    at: dict[str, int],
    widths: range,
    line: int,
    labels: Mapping[tuple[str, str], str],
    schema: Schema,
) -> VoteRow:
    if len(cells) not in widths:
        few, many = widths[0], widths[-1]
        expected = f"at least {few}" if len(cells) < few else f"at most {many}, as in the first line"
        raise _Bad(f"The line has {len(cells)} cells; expected {expected}.")
    story, dimension, annotator = (
        cells[at["story_id"]].strip(),
        cells[at["dimension"]].strip(),
        cells[at["annotator"]].strip(),
    )
    if not story.isdecimal() or len(story) > 18:
        raise _Bad(f"story_id is {story[:40]!r}; expected a whole number.")
    if dimension not in schema:
        raise _Bad(f"dimension is {dimension[:40]!r}; expected one of {', '.join(schema.keys)}.")
    if not 0 < len(annotator) <= 150 or "\x00" in annotator:
        raise _Bad("annotator is empty, longer than 150 characters or holds a NUL character.")
    label = labels.get((dimension, cells[at["label"]].strip().lower()))
    if label is None:
        raise _Bad(f"label is {cells[at['label']][:40]!r}; expected one of {', '.join(schema[dimension].values)}.")
    return VoteRow(
        line,
        int(story),
        restored(cells[at["actor"]]),
        restored(cells[at["belief"]]),
        dimension,
        restored(annotator),
        label,
        _occurrence(cells, at),
        _moment(cells, at),
    )


def _optional(cells: list[str], at: dict[str, int], name: str) -> str:
    return cells[at[name]].strip() if name in at and at[name] < len(cells) else ""


def _occurrence(cells: list[str], at: dict[str, int]) -> int:
    raw = _optional(cells, at, "occurrence") or "1"
    if not raw.isdecimal() or not 1 <= int(raw[:9]) < 10**6:
        raise _Bad(f"occurrence is {raw[:40]!r}; expected 1 for the first of equal propositions, 2 for the second.")
    return int(raw)


def _moment(cells: list[str], at: dict[str, int]) -> datetime | None:
    raw = _optional(cells, at, "created_at")
    if not raw:
        return None
    try:
        moment = datetime.fromisoformat(raw)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _Bad(f"created_at is {raw[:40]!r}; expected a time such as 2026-10-05T09:30:00Z.") from error
