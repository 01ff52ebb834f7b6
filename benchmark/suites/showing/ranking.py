"""Notes of a table on the ranking that its rows are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmark.domain.tables import Column, Row, Table, source_of, with_cell
from benchmark.suites.results import EntrantResults
from core.messages import Sentence, clauses, gettext_noop, listed, worded

WITHIN = {"prompts": gettext_noop("asked with"), "judge": gettext_noop("judged by")}
"""Models are ranked among those that were asked and judged alike; how a sentence says so."""


def ranked_within(entrants: Sequence[EntrantResults]) -> list[str]:
    """Name the prompts and the judge that all models of a ranking have in common."""
    scope = _within(entrants)
    return (
        [
            Sentence(
                "One ranking: {scope}. What was asked or judged otherwise has a ranking of its own.",
                scope=listed(scope),
            )
        ]
        if scope
        else []
    )


def ranked_by(entrants: Sequence[EntrantResults]) -> str:
    """The name of the ranking, as files have it."""
    return clauses(gettext_noop("worst case (missing answers at their worst)"), *_within(entrants))


def _within(entrants: Sequence[EntrantResults]) -> list[str]:
    names_of = {field: {name for entrant in entrants if (name := entrant.within.get(field))} for field in WITHIN}
    return [worded(label, clauses(*sorted(names_of[field]))) for field, label in WITHIN.items() if names_of[field]]


def in_rank_order(entrants: Sequence[EntrantResults], parse: str) -> list[EntrantResults]:
    """Return the entrants that are ranked in the parse, by their rank."""
    ranks = [(model.rank, entrant) for entrant in entrants if (model := entrant.ranking.get(parse))]
    return [
        entrant for _, entrant in sorted(((rank, ranked) for rank, ranked in ranks if rank), key=lambda pair: pair[0])
    ]


def with_settings(table: Table) -> Table:
    """Return the table with a column of the settings that not all rows share, where there are any."""
    if not any(_own(row) for row in table.rows):
        return table
    rows, totals = (
        [with_cell(row, "settings", _own(row) or None) for row in rows] for rows in (table.rows, table.totals)
    )
    columns = [*table.columns, Column(key="settings", header=gettext_noop("Settings"))]
    return replace(table, columns=columns, rows=rows, totals=totals)


def _own(row: Row) -> str:
    source = source_of(row)
    return source.own if source else ""
