"""Tables, plots and their files as pages show them: cells with their interval, mark and link to the items behind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from benchmark.domain.tables import OF, Column, Items, Row, Source, Table
from benchmark.suites.registry import group_named
from core.messages import gettext_noop, noted, word
from core.views.pages import Context

Href = Callable[[Row, Column], str]
"""The address that a cell opens, "" for none."""
Address = Callable[[str, str, str], str]
"""(kind "table" or "plot", name, suffix) → the address of the file."""
LEGEND_NOTES, LEGEND_LENGTH = 3, 190
"""The number of notes that stand open below a table, and of characters that each has at most; the others are folded."""
KINDS = {"baseline": "baseline", "person": "person"}
SUFFIXES = {"table": ("csv", "json", "tex"), "plot": ("svg", "pdf", "png")}
NAMES = {"csv": "CSV", "json": "JSON", "tex": "LaTeX", "svg": "SVG", "pdf": "PDF", "png": "PNG"}


# --- addresses
def address_of(view: str, *args: str, query: str = "") -> Address:
    """Return the addresses of the files of a page, whose views are `<view>_table` and `<view>_plot`."""
    ending = f"?{query}" if query else ""
    return lambda kind, name, suffix: reverse(f"benchmark:{view}_{kind}", args=[*args, name, suffix]) + ending


def files_of(kind: str, name: str, address: Address) -> list[Context]:
    """Return the files of a table or plot. `column` is the address of a plot as wide as a column of a paper."""
    hrefs = {suffix: address(kind, name, suffix) for suffix in SUFFIXES[kind]}
    column = "{href}{join}width=column" if kind == "plot" else ""
    return [
        {"href": href, "label": NAMES[suffix], "column": column.format(href=href, join="&" if "?" in href else "?")}
        for suffix, href in hrefs.items()
    ]


def plot_of(name: str, title: str, address: Address, *, alone: bool = False, lead: Sequence[str] = ()) -> Context:
    """Return the context of _picture.html; a plot that is `alone` in its part of a page has no heading."""
    svg = address("plot", name, "svg")
    files = files_of("plot", name, address)
    shown = {"svg": svg, "join": "&" if "?" in svg else "?", "files": files}
    return {"name": name, "title": title, "alone": alone, "lead": lead, **shown}


def filtered(address: str, query: Mapping[str, Any]) -> str:
    return f"{address}?{urlencode({name: value for name, value in query.items() if value})}"


def items_url(slug: str, run: str, **query: Any) -> str:
    """Return the address of the items of a run, filtered."""
    return filtered(reverse("benchmark:run_items", args=[slug, run]), query)


def snapshot_items_url(slug: str, report: str, **query: Any) -> str:
    return filtered(reverse("benchmark:snapshot_items", args=[slug, report]), query)


def calibration_url(slug: str, study: str, version: str) -> str:
    """Return the address of the calibration report of a version of a judge by a study."""
    return filtered(reverse("judge:calibration", args=[slug, study]), {"judge": version})


# --- links of cells
def item_links(slug: str, split: str = "") -> Href:
    """Return links of cells to the items of their entrant in the selection `split`."""
    address = cache(lambda run: reverse("benchmark:run_items", args=[slug, run]))  # a page has hundreds of such links
    return _links(slug, lambda run, query: filtered(address(run), query), split)


def snapshot_item_links(slug: str, report: str) -> Href:
    """Return links of the cells of a snapshot to the items as they were."""
    address = reverse("benchmark:snapshot_items", args=[slug, report])
    return _links(slug, lambda run, query: filtered(address, query), alone=True)


def _links(slug: str, items: Callable[[str, Context], str], split: str = "", *, alone: bool = False) -> Href:
    """Return links of cells. If `alone`, only the items of a row's own run are at hand."""

    def href(row: Row, column: Column) -> str:
        source: Source | None = row.get(OF)
        cell = column.cell(row)
        if source is None or column.is_text or cell.value is None:
            return ""
        if column.key.startswith("corrected"):
            return calibration_url(slug, source.study, source.version) if source.study else ""
        behind = cell.items or Items()
        if not source.entrant or (alone and behind.run not in ("", source.run)):
            return ""
        query = {"model": behind.entrant or source.entrant, "step": group_named(source.group).scored, "split": split}
        return items(behind.run or source.run, query | dict(behind.filters))

    return href


def no_link(row: Row, column: Column) -> str:
    return ""


# --- tables
def page_table(
    name: str,
    table: Table,
    *,
    href: Href = no_link,
    run_href: Callable[[str], str] | None = None,
    files: Sequence[Context] = (),
    sort: str = "",
    sortable: bool = False,
    query: str = "",
) -> Context:
    """Return the context of _table.html: the table in the order of `sort`, a column's key with a dash before it for
    falling values. `run_href` makes the address of a row's run, `query` are the filters that links keep."""
    table = ordered(table, sort) if sort else table
    columns, marks, section, rows = table.columns, table.marks(), None, []
    for at, row in enumerate(table.rows):
        if table.section and row.get(table.section) != section:
            section = row.get(table.section)
            rows.append({"section": section})
        marked = {column.key: marks.get((at, column.key), "") for column in columns}
        rows.append(_row(columns, row, href, marked, run_href))
    notes = [*table.legend, *table.entered_texts, *table.dashes, *table.notes]
    names = [(column.label or column.header, column.unit) for column in columns]
    labels = [noted(name, word(unit)) if unit else name for name, unit in names]
    legend = [note for note in notes if len(note) <= LEGEND_LENGTH][:LEGEND_NOTES]
    return {
        "name": name,
        "title": table.title,
        "groups": _groups(columns),
        "columns": [
            # the first one names the rows, and stands left even if these are numbers
            {"key": column.key, "label": labels[at], "number": bool(at) and not column.is_text}
            for at, column in enumerate(columns)
        ],
        "rows": rows,
        "totals": [_row(columns, row, href) for row in table.totals],
        "entered": [
            {"cells": _cells(columns, row.cells, no_link), "kind": row.kind, "source": row.beside}
            for row in table.entered
        ],
        "lead": [*table.lead, *table.missing_rows],
        "notes": legend,
        "more_notes": [note for note in notes if note not in legend],
        "sort": sort,
        "sortable": sortable,
        "query": query,
        "files": files,
    }


def ordered(table: Table, sort: str) -> Table:
    """Return the table sorted by a column; rows without a value stay last. An unknown column changes nothing."""
    column = next((candidate for candidate in table.columns if candidate.key == sort.removeprefix("-")), None)
    if column is None:
        return table
    values = [(column.cell(row).value, row) for row in table.rows]
    there = [(_rank(column, value), at, row) for at, (value, row) in enumerate(values) if value not in (None, "")]
    there.sort(key=lambda placed: placed[0], reverse=sort.startswith("-"))
    rows = [row for _, _, row in there] + [row for value, row in values if value in (None, "")]
    return replace(table, rows=rows)


def _rank(column: Column, value: Any) -> Any:
    if column.is_text:
        return str(value).casefold()
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return Decimal(0)


def _row(
    columns: Sequence[Column],
    row: Row,
    href: Href,
    marks: Mapping[str, str] | None = None,
    run_href: Callable[[str], str] | None = None,
) -> Context:
    source: Source | None = row.get(OF)
    run = run_href(source.run) if run_href and source else ""
    kind = KINDS.get(source.kind, "") if source else ""
    return {"cells": _cells(columns, row, href, marks or {}), "of": source, "kind": kind, "run_href": run}


def _cells(columns: Sequence[Column], row: Row, href: Href, marks: Mapping[str, str] | None = None) -> list[Context]:
    links = [href(row, column) for column in columns]
    cells = []
    for at, column in enumerate(columns):
        cell, text, aside = column.cell(row), column.text(row), column.aside(row)
        if column.kind == "number" and cell.value and not column.rounded(cell.value):
            text = f"<{Decimal(1).scaleb(-column.places)}"  # a small number is never rounded to zero: no p is 0
        if not column.is_text:  # the minus of charts and sentences; files keep the hyphen, which programs read
            text, aside = text.replace("-", "−"), aside.replace("-", "−")
        cells.append(
            {
                "text": text,
                "interval": aside,
                "why": cell.no_interval,
                "number": not column.is_text,
                "mark": (marks or {}).get(column.key, ""),
                "href": links[at],
                "again": links[at] in links[:at],
            }
        )
    return cells


def _groups(columns: Sequence[Column]) -> list[Context]:
    """Return the headings over the columns; the first column, which stays in sight, has a cell of its own."""
    if not any(column.group for column in columns):
        return []
    spans = [(name, len(list(group))) for name, group in groupby(columns, key=lambda column: column.group)]
    (name, span), *others = spans
    first = [(name, span)] if name or span == 1 else [("", 1), ("", span - 1)]
    return [{"label": name, "span": span} for name, span in (*first, *others)]


WORDS = (
    gettext_noop("official"), gettext_noop("repaired"), gettext_noop("Official"), gettext_noop("Repaired"),
    gettext_noop("parse"), gettext_noop("baseline"), gettext_noop("person"),
    gettext_noop("annotator"), gettext_noop("expert"), gettext_noop("admin"), gettext_noop("data"),
    gettext_noop("prompts"), gettext_noop("level"), gettext_noop("seed"), gettext_noop("longest answer"),
    gettext_noop("judge"), gettext_noop("max_tokens"), gettext_noop("points"), gettext_noop("share"),
    gettext_noop("none is settled"), gettext_noop("free"), gettext_noop("seed for random"),
    gettext_noop("threshold for the lexical judge"),
)  # fmt: skip
"""Words that figures of all suites have one by one, and pages show: parses, kinds, roles, settings, units."""
