"""Tables of results as a page shows them: cells with their interval, mark and the way down to the items behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cache, partial
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from benchmark.domain.tables import Column, Items, Row, Source, Table, source_of
from benchmark.suites.registry import group_named
from benchmark.views.files import PageFile
from core.messages import noted, word

LEGEND_NOTES, LEGEND_LENGTH = 3, 190
"""The number of notes that stand open below a table, and of characters that each has at most; the others are
unfolded."""
Href = Callable[[Row, Column], str]
KINDS = {"baseline": "baseline", "person": "person"}


def items_url(slug: str, run: str, **query: Any) -> str:
    """The items of a run, filtered."""
    return _filtered(_items_of_run(slug, run), query)


def _items_of_run(slug: str, run: str) -> str:
    return reverse("benchmark:run_items", args=[slug, run])


def _filtered(address: str, query: Mapping[str, Any]) -> str:
    return f"{address}?{urlencode({name: value for name, value in query.items() if value})}"


def person_url(slug: str, source: Source, category: str, split: str) -> str:
    """The stories that a person's figures rest on."""
    run, _, person = source.key.partition(".")
    filters = urlencode({name: value for name, value in {"category": category, "split": split}.items() if value})
    return reverse("benchmark:run_person", args=[slug, run, person]) + (f"?{filters}" if filters else "")


def item_links(slug: str, split: str = "") -> Href:
    """The link of a cell: the items of its model and step in the selection `split`, and which of them its row says."""
    address = cache(partial(_items_of_run, slug))  # a page has hundreds of links to the items of a run
    items = _item_links(
        lambda run, **query: _filtered(address(run), query),
        lambda source, category: person_url(slug, source, category, split),
        split,
    )
    return partial(_opening, slug, items)


def snapshot_item_links(slug: str, report: str) -> Href:
    """The link of a cell of a snapshot: the items as they were then. What people labelled is not among them."""
    address = reverse("benchmark:snapshot_items", args=[slug, report])
    items = _item_links(lambda run, **query: _filtered(address, query), lambda source, category: "", alone=True)
    return partial(_opening, slug, items)


def _opening(slug: str, items: Href, row: Row, column: Column) -> str:
    """Return where a cell leads: a corrected score to the calibration report that it rests on, others to `items`."""
    source = source_of(row)
    if not column.key.startswith("corrected") or source is None:
        return items(row, column)
    if not source.study or row.get(column.key) is None:
        return ""
    return calibration_url(slug, source.study, source.version)


def calibration_url(slug: str, study: str, version: str) -> str:
    """Return the address of the calibration report of a version of a judge by a study; of all of its judges without
    one."""
    return _filtered(reverse("judge:calibration", args=[slug, study]), {"judge": version})


def snapshot_items_url(slug: str, report: str, **query: Any) -> str:
    return _filtered(reverse("benchmark:snapshot_items", args=[slug, report]), query)


def _item_links(
    items: Callable[..., str], person: Callable[[Source, str], str], split: str = "", *, alone: bool = False
) -> Href:
    """The links of cells; `alone`, where the items of runs beside that of a row are not at hand."""

    def href(row: Row, column: Column) -> str:
        source = source_of(row)
        if source is None or column.is_text or row.get(column.key) is None:
            return ""
        items_of_cell = source.where.get(column.key, Items())
        if source.kind == "person":
            return person(source, items_of_cell.filters.get("category", ""))
        if not source.entrant or (alone and items_of_cell.run not in ("", source.run)):
            return ""
        query = {
            "model": items_of_cell.entrant or source.entrant,
            "step": group_named(source.group).scored,
            "split": split,
        }
        return items(items_of_cell.run or source.run, **query | dict(items_of_cell.filters))

    return href


def no_link(row: Row, column: Column) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCell:
    """A cell as printed, with its interval or `why` there is none, whether it is a `number`, how it is marked, and the
    address that it opens; `again` where a cell before it in the row opens the same."""

    text: str
    interval: str = ""
    why: str = ""
    number: bool = False
    mark: str = ""
    href: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A row of cells, of which entrant it is if of one (`row`), and the address of its run; or the heading of a
    `section`, without cells."""

    cells: Sequence[PageCell] = ()
    kind: str = ""
    own: str = ""
    row: Source | None = None
    run_href: str = ""
    section: Any = None


@dataclass(frozen=True, slots=True)
class PageEntered:
    """A row that was entered from a paper, with its source."""

    cells: Sequence[PageCell]
    kind: str
    source: str


@dataclass(frozen=True, slots=True)
class PageHead:
    key: str
    label: str
    number: bool


@dataclass(frozen=True, slots=True)
class PageGroup:
    """A heading over so many columns."""

    label: str
    span: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """Context of templates/benchmark/results/_table.html. `sort` is a column's key, with a dash before it for falling
    values, `query` the filters that its links keep."""

    name: str
    title: str
    groups: Sequence[PageGroup]
    columns: Sequence[PageHead]
    rows: Sequence[PageRow]
    totals: Sequence[PageRow]
    entered: Sequence[PageEntered]
    lead: Sequence[str]
    notes: Sequence[str]
    more_notes: Sequence[str]
    sort: str = ""
    sortable: bool = False
    query: str = ""
    files: Sequence[PageFile] = ()

    @property
    def width(self) -> int:
        return len(self.columns)


def page_table(
    name: str,
    table: Table,
    *,
    href: Href = no_link,
    run_href: Callable[[str], str] | None = None,
    sort: str = "",
    sortable: bool = False,
    query: str = "",
    files: Sequence[PageFile] = (),
) -> PageTable:
    """Return the table as a page shows it, in the order of `sort`; `run_href` makes the address of a row's run."""
    table = ordered(table, sort) if sort else table
    legend, more = split_notes(table)
    return PageTable(
        name=name,
        title=table.title,
        groups=_groups(table.columns),
        columns=[_head(column, first=not at) for at, column in enumerate(table.columns)],
        rows=[*_rows(table, href, run_href)],
        totals=[_row(table.columns, row, href, {}) for row in table.totals],
        entered=[
            PageEntered(_row(table.columns, row.cells, no_link, {}).cells, row.kind, row.beside)
            for row in table.entered
        ],
        lead=[*table.lead, *table.missing_rows],
        notes=legend,
        more_notes=more,
        sort=sort,
        sortable=sortable,
        query=query,
        files=files,
    )


def _rows(table: Table, href: Href, run_href: Callable[[str], str] | None) -> Iterator[PageRow]:
    """Yield the rows, before each section its heading."""
    marks, section = table.marks(), None
    for at, row in enumerate(table.rows):
        if table.section and row.get(table.section) != section:
            section = row.get(table.section)
            yield PageRow(section=section)
        marked = {column.key: marks.get((at, column.key), "") for column in table.columns}
        yield _row(table.columns, row, href, marked, run_href)


def split_notes(table: Table) -> tuple[list[str], list[str]]:
    """Split notes into the few short ones that make a table readable, and the others; what its marks mean comes
    first."""
    notes = [*table.legend, *table.entered_texts, *table.dashes, *table.notes]
    legend = [note for note in notes if len(note) <= LEGEND_LENGTH][:LEGEND_NOTES]
    return legend, [note for note in notes if note not in legend]


def ordered(table: Table, sort: str) -> Table:
    """Return the table sorted by a column; rows without a value stay last either way. An unknown column changes
    nothing."""
    key = sort.removeprefix("-")
    column = next((candidate for candidate in table.columns if candidate.key == key), None)
    if column is None:
        return table
    with_value = [row for row in table.rows if row.get(key) not in (None, "")]
    with_value.sort(key=lambda row: _rank(column, row[key]), reverse=sort.startswith("-"))
    rows = with_value + [row for row in table.rows if row.get(key) in (None, "")]
    return replace(table, rows=rows)


def _rank(column: Column, value: Any) -> Any:
    if column.is_text:
        return str(value).casefold()
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return Decimal(0)


def _head(column: Column, *, first: bool) -> PageHead:
    """Return the head of a column; the first one names the rows, and stands left also where these are numbers."""
    name = column.label or column.header
    label = noted(name, word(column.unit)) if column.unit else name
    return PageHead(column.key, label, not column.is_text and not first)


def _groups(columns: Sequence[Column]) -> list[PageGroup]:
    """Return the headings over the columns; the first column, which stays in sight, has a cell of its own."""
    if not any(column.group for column in columns):
        return []
    spans = [(name, len(list(group))) for name, group in groupby(columns, key=lambda column: column.group)]
    (name, span), *others = spans
    first = [(name, span)] if name or span == 1 else [("", 1), ("", span - 1)]
    return [PageGroup(name, span) for name, span in (*first, *others)]


def _text(column: Column, value: Any) -> str:
    """Write a value as printed, but never round a small number to nought: no p is 0."""
    if column.kind == "number" and value and not column.rounded(value):
        return f"<{Decimal(1).scaleb(-column.places)}"
    return _minus(column, column.text(value))


def _minus(column: Column, text: str) -> str:
    """Write numbers with the minus of charts and sentences; files keep the hyphen, which programs read."""
    return text if column.is_text else text.replace("-", "−")


def _row(
    columns: Sequence[Column],
    row: Row,
    href: Href,
    marks: Mapping[str, str],
    run_href: Callable[[str], str] | None = None,
) -> PageRow:
    seen: set[str] = set()
    cells = []
    for column in columns:
        link = href(row, column)
        cells.append(
            PageCell(
                text=_text(column, row.get(column.key)),
                interval=_minus(column, column.interval_text(row)),
                why=column.no_interval(row),
                number=not column.is_text,
                mark=marks.get(column.key, ""),
                href=link,
                again=link in seen,
            )
        )
        seen.add(link)
    source = source_of(row)
    if source is None:
        return PageRow(cells=cells)
    run = run_href(source.run) if run_href else ""
    return PageRow(cells=cells, kind=KINDS.get(source.kind, ""), own=source.own, row=source, run_href=run)
