"""Labelling accuracy by dimension and story category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.domain.tables import Items, Table
from benchmark.domain.tables.estimates import figure_of, worst_of
from benchmark.suites.omnitom.labels import COLUMNS, DIMENSIONS, SCHEMA
from benchmark.suites.omnitom.tables import by_dimension_and_category
from benchmark.suites.showing.entrants import by_category, row_of
from benchmark.suites.showing.missing import unlike_missing
from benchmark.suites.shown import EntrantResults

BY_NAME = {SCHEMA[dimension].name: dimension for dimension in DIMENSIONS}


def dimension_table(entrants: Sequence[EntrantResults], reading: str) -> Table:
    """The paper's table 10."""
    accuracies = {entrant["model"]: _accuracies(entrant, reading) for entrant in entrants}
    table = by_dimension_and_category(accuracies, reading=reading)
    by_model = {entrant["model"]: entrant for entrant in entrants}
    rows = [row_of(by_model[row["model"]], "stage2", row, _where(row, reading)) for row in table.rows]
    return replace(table, rows=rows, lead=unlike_missing({"stage2": entrants}))


def _accuracies(entrant: EntrantResults, reading: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return {dimension: {category: {value, interval, n}}}; official figures are texts, their number of stories too."""
    accuracies: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in DIMENSIONS}
    for category, row in by_category(entrant, reading).items():
        for name in DIMENSIONS:
            share = f"acc_{COLUMNS[name]}"
            accuracies[name][category] = figure_of(row, share) | {
                "n": int(row["stories"]),
                "worst": worst_of(row, share),
            }
    return accuracies


def _where(row: Mapping[str, Any], reading: str) -> dict[str, Items]:
    cells = {"dimension": BY_NAME[row["dimension"]], "reading": reading}
    return {key: Items(cells | {"category": key.removeprefix("in ")}) for key in row if key.startswith("in ")}
