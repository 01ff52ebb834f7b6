"""A table and a picture of its own, and where they stand on a page."""

from __future__ import annotations

from functools import partial

from benchmark.domain.drawn import Plot
from benchmark.domain.tables import Column, Table
from benchmark.domain.tables.estimates import estimate, estimated, metric_of
from benchmark.suites.results import ParseResults, Section, ShownPicture, ShownTable
from benchmark.suites.showing.entrants import row_of
from tests.benchmark.tiny.plots import right

SECTIONS = (Section("Sums at a glance", ("glance",), ("glance",)),)


def tables(results: ParseResults) -> dict[str, ShownTable]:
    return {"glance": ShownTable(partial(_table, results), ("tiny",))} if results.read["tiny"] else {}


def _table(results: ParseResults) -> Table:
    rows = [
        row_of(one, "tiny", estimate("right", metric_of(one.parses.overall(results.parse), "right")))
        for one in results.read["tiny"]
    ]
    columns = [Column(key="model", header="Model"), estimated("right", "Right")]
    return Table(title=f"Right at a glance, {results.parse} parse", columns=columns, rows=rows)


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    return {"glance": ShownPicture("Right at a glance", partial(_plot, results), ("tiny",), whole=True)}


def _plot(results: ParseResults) -> Plot:
    rows = [(one.model, metric_of(one.parses.overall(results.parse), "right")) for one in results.read["tiny"]]
    return right(rows, parse=results.parse)
