"""Votes kept in a spreadsheet: one row a vote (the contract of `import_votes`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from annotation.domain.columns import cell_of, columns_of
from annotation.domain.problems import Problem
from annotation.domain.schema import Schema
from annotation.domain.spreadsheet import restored
from core.incoming.sheets import BadSheet, SheetRow

REQUIRED = ("story_id", "actor", "belief", "dimension", "annotator", "label")
_OPTIONAL: Mapping[str, tuple[str, ...]] = {"occurrence": (), "created_at": ("changed_at",)}


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


def read_votes(sheet: Iterable[SheetRow], file: str, schema: Schema) -> Iterator[VoteRow | Problem]:
    """Yield the votes of a spreadsheet in order, with a Problem in place of each row that cannot be used.

    A sheet that cannot be read on is a last Problem. Raises WrongColumns and BadSheet before any row.
    """
    rows = iter(sheet)
    header = next(rows, SheetRow(1, [])).cells
    at = columns_of(header, file, required=REQUIRED, spellings=_OPTIONAL)
    widths = range(max(at[name] for name in REQUIRED) + 1, len(header) + 1)
    labels = {(dimension.key, value.lower()): value for dimension in schema.dimensions for value in dimension.values}
    try:
        for line, cells, problem in rows:
            if not any(cells):
                continue
            try:
                _check(problem)
                yield _row(cells, at, widths, line, labels, schema)
            except _Bad as error:
                yield Problem(file, line, str(error))
    except BadSheet as error:
        yield Problem(file, error.line, f"Nothing was read from here on: {error}")


class _Bad(ValueError):
    pass


def _check(problem: str) -> None:
    if problem:
        raise _Bad(f"{problem[0].upper()}{problem[1:]}")


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


def _occurrence(cells: list[str], at: dict[str, int]) -> int:
    raw = cell_of(cells, at, "occurrence").strip() or "1"
    if not raw.isdecimal() or not 1 <= int(raw[:9]) < 10**6:
        raise _Bad(f"occurrence is {raw[:40]!r}; expected 1 for the first of equal propositions, 2 for the second.")
    return int(raw)


def _moment(cells: list[str], at: dict[str, int]) -> datetime | None:
    raw = cell_of(cells, at, "created_at").strip()
    if not raw:
        return None
    try:
        moment = datetime.fromisoformat(raw)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _Bad(f"created_at is {raw[:40]!r}; expected a time such as 2026-10-05T09:30:00Z.") from error
