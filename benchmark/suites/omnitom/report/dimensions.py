"""Labelling accuracy by dimension and story category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmark.domain.tables import Items, Row, Table
from benchmark.domain.tables.estimates import metric_of
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.step_keys import STAGE2
from benchmark.suites.omnitom.tables import CategoryAccuracy, by_dimension_and_category
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import row_of
from benchmark.suites.showing.missing import unlike_missing


def dimension_table(entrants: Sequence[EntrantResults], parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """The paper's table 10."""
    accuracies = {entrant.model: _accuracies(entrant, parse, scheme) for entrant in entrants}
    table = by_dimension_and_category(accuracies, parse=parse, scheme=scheme)
    by_model = {entrant.model: entrant for entrant in entrants}
    rows = [row_of(by_model[row["model"]], STAGE2, row, _where(row, parse, scheme)) for row in table.rows]
    return replace(table, rows=rows, lead=unlike_missing({STAGE2: entrants}))


def _accuracies(entrant: EntrantResults, parse: str, scheme: Scheme) -> dict[str, dict[str, CategoryAccuracy]]:
    """Return {dimension: {category: accuracy}}."""
    accuracies: dict[str, dict[str, CategoryAccuracy]] = {name: {} for name in scheme.keys}
    for category, row in entrant.parses.by_category(parse).items():
        for name in scheme.keys:
            share = scheme.share_of(name)
            metric, worst = metric_of(row, share), row.worst_of(share)
            accuracies[name][category] = CategoryAccuracy(metric, row.stories or 0, worst)
    return accuracies


def _where(row: Row, parse: str, scheme: Scheme) -> dict[str, Items]:
    dimension = next(key for key, title in scheme.titles.items() if title == row["dimension"])
    cells = {"dimension": dimension, "parse": parse}
    return {key: Items(cells | {"category": key.removeprefix("in ")}) for key in row if key.startswith("in ")}
