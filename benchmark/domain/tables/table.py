"""A table of results: one object from the computation to its reader.

A `Table` has columns and rows. A row maps the key of a column to a value, or to a `Cell` if the value has an interval,
a count, bounds, a reason or items behind it. Other keys of a row are for links and are never printed; `OF` is the key
of the `Source` of the row.

Everything that shows results renders this object: `views/tables.py` for pages, `to_csv`, `to_json` and `to_latex` for
files, the API and the command `results`. A column has intervals, counts and bounds if any of its cells has them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal

from benchmark.domain.bounded_estimates import BoundedEstimate
from core.messages import Sentence, clauses, gettext_noop, listed, noted
from core.statistics import Estimate

Cells = dict[str, Any]
Row = Mapping[str, Any]
Ends = Sequence[float]
"""[low, high]"""
Mark = Literal["best", "second"]
Part = Literal["interval", "bounds", "no_interval", "n"]
OF = "of_entrant"
MISSING = "–"
ENTERED = gettext_noop(
    "Entered rows: figures as their sources print them, not computed here; never ranked, marked or tested."
)
OWN_WORDING = gettext_noop("asked in Credence’s own wording: not the paper’s prompts")
"""The kind of this site's models, next to figures that a paper prints."""
OWN_WORDING_NOTE = Sentence("Models here are {own_wording}.", own_wording=OWN_WORDING)
MARKED = gettext_noop("Bold: best of the column; underlined: second.")
MARKED_ACROSS = gettext_noop("Bold: best of the row.")
MARKED_BY_WORST = gettext_noop("Bold: best of the column with missing answers at their worst; underlined: second.")


@dataclass(frozen=True, slots=True)
class Items:
    """The items behind a cell: `filters` of the items page, and the run and entrant if they are not the row's."""

    filters: Mapping[str, str] = field(default_factory=dict)
    run: str = ""
    entrant: int | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with its uncertainty. Official values are texts of six decimals."""

    value: Any = None
    interval: Ends | None = ()
    """[low, high]; None for an estimate that has none, empty for a value that is no estimate."""
    n: int | None = None
    reason: str | None = None
    """The reason why there is no interval, or no value."""
    bounds: Ends | None = None
    """[worst, best] case of the missing answers. None if nothing is missing."""
    items: Items | None = None
    unreadable: int | None = None

    @classmethod
    def of(cls, estimate: Estimate | Cell | float | str | None) -> Cell:
        """Return the cell of an estimate, or of a number."""
        if isinstance(estimate, Cell):
            return estimate
        if not isinstance(estimate, Estimate):
            return cls(estimate)
        bounds = estimate.bounds if isinstance(estimate, BoundedEstimate) else None
        return cls(estimate.value, estimate.interval, estimate.n, estimate.reason, bounds)

    @classmethod
    def uncounted(cls, estimate: Estimate | Cell) -> Cell:
        """Return the cell of an estimate without its n, which the table has elsewhere or not at all."""
        return replace(cls.of(estimate), n=None)

    @property
    def no_interval(self) -> str:
        """The reason why the value has no interval. Returns "" if it has one, and without a value or reason."""
        return "" if self.interval or self.value in (None, "") else self.reason or ""


NOTHING = Cell()
"""The cell of a row that lacks a column."""


def with_items(cells: Row, items: Mapping[str, Items]) -> Cells:
    """Return the cells of a row with the items behind them, by column."""
    return {**cells, **{key: replace(Cell.of(cells[key]), items=items[key]) for key in items.keys() & cells.keys()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The entrant that a row is of: its key and kind (model, baseline or person), and its run."""

    key: str
    kind: str
    run: str
    entrant: int | None
    group: str
    """The metric group of the figures."""
    run_title: str = ""
    own: str = ""
    """The settings that not all rows have, in words."""
    others: int = 0
    """The number of earlier entrants that the row stands for."""
    unranked: bool = False
    """True for a row without marks."""
    study: str = ""
    """The alignment study of corrected scores, and the version of their judge."""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Absent:
    """A model that a table or plot does not have, and the reason."""

    model: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column. `kind` is the format: text, a count, a number, or a share (a fraction, printed in per cent)."""

    key: str
    header: str
    unit: str = ""
    kind: Literal["text", "count", "number", "share"] = "text"
    group: str = ""
    """A heading over several columns."""
    best: Literal["", "high", "low"] = ""
    """The end of the scale that is marked. Marks compare worst cases."""
    digits: int = 2
    label: str = ""
    """The header on pages if files keep another one."""

    @property
    def is_text(self) -> bool:
        return self.kind == "text"

    @property
    def title(self) -> str:
        """The header with its unit."""
        return f"{self.header} ({self.unit})" if self.unit else self.header

    def cell(self, row: Row) -> Cell:
        value = row.get(self.key)
        return value if isinstance(value, Cell) else Cell(value)

    def exact(self, value: Any) -> Decimal | None:
        """Return a number in the unit of the header, unrounded. Raises ValueError for infinities and nan."""
        if value is None or value == "":
            return None
        number = Decimal(str(value))
        if not number.is_finite():
            raise ValueError(f"{self.header}: {value} is not a number to print.")
        return number.scaleb(2) if self.kind == "share" else number

    def rounded(self, value: Any) -> Decimal | None:
        """Return the number as printed: halves away from zero, on the decimal digits."""
        number = self.exact(value)
        return None if number is None else _printed(number, self.places)

    @property
    def places(self) -> int:
        return 0 if self.kind == "count" else self.digits

    def text(self, row: Row) -> str:
        """Return the printed value, `MISSING` for None."""
        value = self.cell(row).value
        if self.is_text:
            return MISSING if value is None else str(value)
        number = self.rounded(value)
        return MISSING if number is None else f"{number:,}"

    def aside(self, row: Row) -> str:
        """Return `[low, high] n = 9`, without the parts that the cell lacks; `[–]` if there is a reason for no
        interval. The ends of shares have one digit less than the value, those of other numbers as many."""
        cell = self.cell(row)
        places = max(0, self.places - (self.kind == "share"))
        numbers = [self.exact(end) for end in cell.interval or ()]
        ends = [f"{_printed(number, places):,}" for number in numbers if number is not None]
        ends = ends or ([MISSING] if cell.no_interval else [])
        counted = [] if cell.n is None else [f"n = {cell.n:,}"]
        return " ".join([*([f"[{', '.join(ends)}]"] if ends else []), *counted])

    def compared(self, row: Row) -> Decimal | None:
        """Return the number that marks compare, as printed: the worst case. Returns None without a value."""
        cell = self.cell(row)
        return self.rounded(cell.bounds[1 if self.best == "low" else 0] if cell.bounds else cell.value)


def _printed(number: Decimal, places: int) -> Decimal:
    rounded = number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return rounded if rounded else abs(rounded)  # no zero has a sign


def share_column(key: str, header: str, **more: Any) -> Column:
    """Return a column of shares in per cent, of which the highest is best; `more` are other fields of the column."""
    return Column(key=key, header=header, **{"unit": "%", "kind": "share", "best": "high", **more})


def bounds_text(bounds: Ends | None) -> str | None:
    """Return bounds in points as narrow columns have them. Returns None without bounds."""
    return " to ".join(f"{100 * end:.1f}" for end in bounds).replace("-", "−") if bounds else None


def absent_text(absent: Sequence[Absent]) -> str:
    """Return the models that a table lacks, those with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for absence in absent:
        by_reason.setdefault(absence.why, []).append(absence.model)
    return clauses(*(noted(listed(models), why) for why, models in by_reason.items()))


ShortNames = Mapping[str, str]
"""The short name of each category, in the order in which tables have them."""


def in_order(categories: Iterable[str], short: ShortNames) -> list[str]:
    """Return each category once: first those with a short name, in that order, then the others by name."""
    order = {name: at for at, name in enumerate(short)}
    return sorted(set(categories), key=lambda category: (order.get(category, len(order)), category))


def short_name_texts(categories: Iterable[str], short: ShortNames) -> list[str]:
    """Return the note that explains short names. Returns no note if all names are short themselves."""
    abbreviations = [f"{short[name]} {name}" for name in categories if short.get(name, name) != name]
    return [Sentence("{text}.", text=clauses(*abbreviations))] if abbreviations else []


@dataclass(frozen=True, slots=True)
class Entered:
    """A row that somebody entered from a source: its cells, its kind in one word, and the source."""

    cells: Row
    kind: str
    source: str
    asked_otherwise: bool = False
    """True for a published row of models, which were asked with the paper's prompts."""

    @property
    def beside(self) -> str:
        """The source, and the wording that the models above had instead."""
        return (
            Sentence("{source}; the models above: {own_wording}", source=self.source, own_wording=OWN_WORDING)
            if self.asked_otherwise
            else self.source
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of results."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    totals: Sequence[Row] = ()
    """Rows below a rule, which are never marked."""
    lead: Sequence[str] = ()
    """Sentences to read before the table."""
    notes: Sequence[str] = ()
    section: str = ""
    """The key that splits rows into blocks, each under its value; rows of a section stand together."""
    mark_within: str = ""
    """The key within whose equal values cells are compared."""
    mark_across: bool = False
    """Compares the cells of a row instead, and marks its best one."""
    ranking: str = ""
    """The name of the order of the rows and of what marks compare."""
    absent: Sequence[Absent] = ()
    entered: Sequence[Entered] = ()
    """Rows of papers. They stand last and are never marked."""
    beside_a_paper: bool = False
    """True if a paper prints this table."""

    @property
    def all_rows(self) -> tuple[Row, ...]:
        return (*self.rows, *self.totals, *(row.cells for row in self.entered))

    def shows(self, part: Part, column: Column) -> bool:
        """Return whether any row has that part of a cell."""
        return any(getattr(column.cell(row), part) not in (None, "", ()) for row in (*self.rows, *self.totals))

    def estimates(self, column: Column) -> bool:
        """Return whether any row has an estimate, with or without an interval."""
        cells = (column.cell(row) for row in (*self.rows, *self.totals))
        return any(cell.interval is None or len(cell.interval) for cell in cells)

    def marks(self) -> dict[tuple[int, str], Mark]:
        """Return (row, column key) → best or second; ties share a mark, judged by the printed digits. Rows of unranked
        entrants and shares that cannot be worse have none."""
        if self.mark_across:
            best: dict[tuple[int, str], Mark] = {}
            compared = [column for column in self.columns if column.best == "high"]
            for at, row in enumerate(self.rows):
                rounded = {column.key: column.rounded(column.cell(row).value) for column in compared}
                values = {key: value for key, value in rounded.items() if value is not None}
                tops = [key for key, value in values.items() if len(values) > 1 and value == max(values.values())]
                best |= {(at, key): "best" for key in tops}
            return best
        groups: dict[Any, list[int]] = defaultdict(list)
        for at, row in enumerate(self.rows):
            if not (row.get(OF) and row[OF].unranked):
                groups[row.get(self.mark_within) if self.mark_within else None].append(at)
        if all(len(rows) < 2 for rows in groups.values()):
            return {}
        marked = (self._marked(column, rows) for column in self.columns if column.best for rows in groups.values())
        return {place: mark for marks in marked for place, mark in marks.items()}

    def _marked(self, column: Column, rows: Iterable[int]) -> dict[tuple[int, str], Mark]:
        values = {at: value for at in rows if (value := column.compared(self.rows[at])) is not None}
        if not any(values.values()):  # where all are zero, none is best
            return {}
        ranked = sorted(set(values.values()), reverse=column.best == "high")
        names: dict[Decimal, Mark] = dict(zip(ranked, ("best", "second"), strict=False))
        worst = (100 if column.best == "low" else 0) if column.kind == "share" else None
        return {(at, column.key): names[value] for at, value in values.items() if value in names and value != worst}

    @property
    def missing_rows(self) -> tuple[str, ...]:
        """A sentence that names the models without a row, with the reasons."""
        return (Sentence("Not in this table: {absent}.", absent=absent_text(self.absent)),) if self.absent else ()

    @property
    def entered_texts(self) -> tuple[str, ...]:
        """The explanation of entered rows, and of the wording of models next to a paper's."""
        asked = self.beside_a_paper or any(row.asked_otherwise for row in self.entered)
        return (*((ENTERED,) if self.entered else ()), *((OWN_WORDING_NOTE,) if asked else ()))

    @property
    def legend(self) -> tuple[str, ...]:
        """The meaning of the marks. Returns nothing if nothing is marked."""
        if not self.marks():
            return ()
        by_worst = any(column.best and self.shows("bounds", column) for column in self.columns)
        return (MARKED_ACROSS if self.mark_across else MARKED_BY_WORST if by_worst else MARKED,)

    @property
    def dashes(self) -> tuple[str, ...]:
        """The meaning of `[–]`. Returns nothing if no cell has it."""
        cells = (column.cell(row) for column in self.columns for row in (*self.rows, *self.totals))
        reasons = dict.fromkeys(reason for cell in cells if (reason := cell.no_interval))
        text = Sentence("No interval [{missing}]: {reasons}.", missing=MISSING, reasons=clauses(*reasons))
        return (text,) if reasons else ()
