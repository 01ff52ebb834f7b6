"""A table of results as data: what its columns mean, what its rows hold and how a cell reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal

from benchmark.domain.tables.sourced import source_of
from core.messages import Sentence, clauses, gettext_noop, listed, noted

Cells = dict[str, Any]
"""Cells of a row in the making, by the key of their column."""
Row = Mapping[str, Any]
Mark = Literal["best", "second"]
MISSING = "–"
ENTERED = gettext_noop(
    "Entered rows: figures as their sources print them, not computed here; never ranked, marked or tested."
)
OWN_WORDING = gettext_noop("asked in Credence’s own wording: not the paper’s prompts")
"""The kind of this site's models, beside figures that a paper prints."""
OWN_WORDING_NOTE = Sentence("Models here are {own_wording}.", own_wording=OWN_WORDING)
MARKED = gettext_noop("Bold: best of the column; underlined: second.")
MARKED_ACROSS = gettext_noop("Bold: best of the row.")
MARKED_BY_WORST = gettext_noop("Bold: best of the column with missing answers at their worst; underlined: second.")


@dataclass(frozen=True, slots=True)
class Absent:
    """A model that a table or a picture does not have, and why."""

    model: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """`kind` says what rows hold under `key`: text, a count, a number, or a share (a fraction, shown in per cent).

    `interval` is the key under which a row has [low, high] of the same kind, and with `_reason` behind it why it has
    none; `n` that of how many the value rests on, `group` a heading over several columns, `best` which end of the scale
    is marked, `worst` the key of what the marks compare instead of the value: that with missing answers at their worst,
    `bounds` the key of [lowest, highest] with what is missing at either end, which files have where any row does. Marks
    go by the worse of the two where a row has them. `label` is what pages say where files keep another header. None is
    what is missing.
    """

    key: str
    header: str
    unit: str = ""
    kind: Literal["text", "count", "number", "share"] = "text"
    group: str = ""
    interval: str = ""
    n: str = ""
    best: Literal["", "high", "low"] = ""
    worst: str = ""
    bounds: str = ""
    digits: int = 2
    label: str = ""

    @property
    def is_text(self) -> bool:
        return self.kind == "text"

    def exact(self, value: Any) -> Decimal | None:
        """A number in the unit of the header, unrounded. Raises ValueError for infinities and nan."""
        if value is None or value == "":
            return None
        number = Decimal(str(value))
        if not number.is_finite():
            raise ValueError(f"{self.header}: {value} is not a number to print.")
        return number.scaleb(2) if self.kind == "share" else number

    def rounded(self, value: Any) -> Decimal | None:
        """Return the number as printed: halves away from nought, on the decimal digits."""
        number = self.exact(value)
        return None if number is None else _printed(number, self.places)

    @property
    def places(self) -> int:
        return 0 if self.kind == "count" else self.digits

    def text(self, value: Any) -> str:
        """Return what a reader sees; `MISSING` for None."""
        if self.is_text:
            return MISSING if value is None else str(value)
        number = self.rounded(value)
        return MISSING if number is None else f"{number:,}"

    @property
    def has_aside(self) -> bool:
        """Return whether a row can have anything beside its value: what `interval_text` says."""
        return bool(self.interval or self.n)

    def interval_text(self, row: Row) -> str:
        """`[low, high] n = 9`, the ends of shares with one digit less than the value, those of other numbers, which are
        mostly below 1, with as many; `[–]` where there is a reason for none; without what the row has none of."""
        if not self.has_aside:
            return ""
        ends = row.get(self.interval) if self.interval else None
        numbers = [self.exact(end) for end in ends or ()]
        places = max(0, self.places - (self.kind == "share"))
        texts = [f"{_printed(number, places):,}" for number in numbers if number is not None]
        texts = texts or ([MISSING] if self.no_interval(row) else [])
        n = row.get(self.n) if self.n else None
        return " ".join([*([f"[{', '.join(texts)}]"] if texts else []), *([f"n = {n:,}"] if n is not None else [])])

    def no_interval(self, row: Row) -> str:
        """Return why the value of a row has no interval; empty where it has one, or where there is no value or no
        reason."""
        if not self.interval or row.get(self.interval) or row.get(self.key) in (None, ""):
            return ""
        return row.get(f"{self.interval}_reason") or ""


def _printed(number: Decimal, places: int) -> Decimal:
    """Return a number as printed with so many places: halves away from nought, and no nought with a sign."""
    rounded = number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return rounded if rounded else abs(rounded)


def absent_text(absent: Sequence[Absent]) -> str:
    """Return the models that a table lacks, those that one reason keeps out together."""
    by_reason: dict[str, list[str]] = {}
    for absence in absent:
        by_reason.setdefault(absence.why, []).append(absence.model)
    return clauses(*(noted(listed(models), why) for why, models in by_reason.items()))


@dataclass(frozen=True, slots=True)
class Entered:
    """A row that somebody entered from a source, whose figures nothing here computed: its `cells`, its `kind` in one
    word, and the `source`. One of models, `asked_otherwise`, had the paper's prompts, which the others of the table had
    not."""

    cells: Row
    kind: str
    source: str
    asked_otherwise: bool = False

    @property
    def beside(self) -> str:
        """The source, with what sets the row apart from those above."""
        return (
            Sentence("{source}; the models above: {own_wording}", source=self.source, own_wording=OWN_WORDING)
            if self.asked_otherwise
            else self.source
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """`section` is the key that splits rows into blocks, each under its value; rows of a section stand together.

    `totals` stand below a rule and are never marked, nor are rows whose source is unranked. `mark_within` is the key
    within whose equal values cells are compared, empty to compare all rows; `mark_across` compares the cells of a row
    instead, and marks its best one. `lead` are sentences to read before the table, `notes` those below.
    `beside_a_paper` says that it is filled after a table that a paper prints. `ranking` names what the order of the
    rows and the marks go by, `absent` the models that have no row, with the reason. `entered` rows stand last, and are
    never marked.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    totals: Sequence[Row] = ()
    lead: Sequence[str] = ()
    notes: Sequence[str] = ()
    section: str = ""
    mark_within: str = ""
    mark_across: bool = False
    ranking: str = ""
    absent: Sequence[Absent] = ()
    entered: Sequence[Entered] = ()
    beside_a_paper: bool = False

    def marks(self) -> dict[tuple[int, str], Mark]:
        """Return (row, column key) → best or second; ties share a mark, judged by the digits that are printed. A share
        that cannot be worse has none."""
        if self.mark_across:
            return {place: "best" for at in range(len(self.rows)) for place in self._best_of_row(at)}
        groups: dict[Any, list[int]] = defaultdict(list)
        for at, row in enumerate(self.rows):
            if (source := source_of(row)) and source.unranked:
                continue
            groups[row.get(self.mark_within) if self.mark_within else None].append(at)
        marks: dict[tuple[int, str], Mark] = {}
        for column in self.columns:
            if column.best:
                for rows in groups.values():
                    marks |= self._marked(column, rows)
        return marks if any(len(rows) > 1 for rows in groups.values()) else {}

    @property
    def missing_rows(self) -> tuple[str, ...]:
        """A sentence that names the models without a row, and why; none where every model has one."""
        return (Sentence("Not in this table: {absent}.", absent=absent_text(self.absent)),) if self.absent else ()

    @property
    def all_rows(self) -> tuple[Row, ...]:
        """Every row, in order."""
        return (*self.rows, *self.totals, *(row.cells for row in self.entered))

    @property
    def entered_texts(self) -> tuple[str, ...]:
        """The explanation of entered rows, where there are any, and how models were asked here where they stand beside
        a paper's."""
        asked = self.beside_a_paper or any(row.asked_otherwise for row in self.entered)
        return (*((ENTERED,) if self.entered else ()), *((OWN_WORDING_NOTE,) if asked else ()))

    @property
    def legend(self) -> tuple[str, ...]:
        """The meaning of the marks, where there are any."""
        if self.mark_across:
            return (MARKED_ACROSS,) if self.marks() else ()
        by_worst = any(
            column.best and at_worst(column, row) is not None for column in self.columns for row in self.rows
        )
        return (MARKED_BY_WORST if by_worst else MARKED,) if self.marks() else ()

    @property
    def no_intervals(self) -> dict[str, tuple[str, ...]]:
        """The reasons for which cells of a column have no interval, by its key; columns without such cells are not
        among them."""
        rows = (*self.rows, *self.totals)
        reasons_by_column = {
            column.key: dict.fromkeys(filter(None, map(column.no_interval, rows))) for column in self.columns
        }
        return {key: tuple(reasons) for key, reasons in reasons_by_column.items() if reasons}

    @property
    def dashes(self) -> tuple[str, ...]:
        """The meaning of `[–]`, where it stands."""
        reasons = dict.fromkeys(reason for column_reasons in self.no_intervals.values() for reason in column_reasons)
        return (
            (Sentence("No interval [{missing}]: {reasons}.", missing=MISSING, reasons=clauses(*reasons)),)
            if reasons
            else ()
        )

    @property
    def bounded(self) -> frozenset[str]:
        """The keys of the columns in which any row has bounds."""
        rows = (*self.rows, *self.totals)
        return frozenset(
            column.key for column in self.columns if column.bounds and any(row.get(column.bounds) for row in rows)
        )

    def _best_of_row(self, at: int) -> list[tuple[int, str]]:
        """The cells of a row that no other one of it exceeds; none where there is one cell alone."""
        values = {
            column.key: value
            for column in self.columns
            if column.best == "high" and (value := column.rounded(self.rows[at].get(column.key))) is not None
        }
        return [(at, key) for key, value in values.items() if len(values) > 1 and value == max(values.values())]

    def _marked(self, column: Column, rows: Iterable[int]) -> dict[tuple[int, str], Mark]:
        values = {at: value for at in rows if (value := _compared(column, self.rows[at])) is not None}
        if not any(values.values()):  # where all are nought, none is best
            return {}
        ranked = sorted(set(values.values()), reverse=column.best == "high")
        names: dict[Decimal, Mark] = dict(zip(ranked, ("best", "second"), strict=False))
        return {
            (at, column.key): names[value]
            for at, value in values.items()
            if value in names and not _could_not_be_worse(column, value)
        }


def at_worst(column: Column, row: Row) -> Any:
    """Return a row's value of a column with what is missing at its worst; None where nothing is said of that."""
    if column.worst and row.get(column.worst) is not None:
        return row[column.worst]
    low, high = (row.get(column.bounds) if column.bounds else None) or (None, None)
    return high if column.best == "low" else low


def _compared(column: Column, row: Row) -> Decimal | None:
    """Return what marks compare of a row, as it is printed; None of one without a figure."""
    worst = at_worst(column, row)
    return column.rounded(row.get(column.key) if worst is None and not column.worst else worst)


def _could_not_be_worse(column: Column, value: Decimal) -> bool:
    return column.kind == "share" and value == (100 if column.best == "low" else 0)
