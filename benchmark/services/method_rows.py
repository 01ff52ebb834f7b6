"""Rows of what one model came to by each method, in one metric group and parse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from benchmark.domain.beside import MethodRow
from benchmark.models import Run
from benchmark.services.paired_sides import common_cases, paired_sides, score_estimate
from benchmark.suites.figures import KeptScores
from benchmark.suites.questions import Columns
from benchmark.suites.results import EntrantResults
from core.messages import Sentence, gettext_noop, word


@dataclass(frozen=True, slots=True)
class Asked:
    """Source of the answers that stand for a model by a method: `entrant` of `run`."""

    run: Run
    entrant: int


Chosen = dict[tuple[str, int], Asked | str]
"""What was asked by (method, endpoint id); a sentence where a run by the method cannot stand for the model."""


@dataclass(frozen=True, slots=True)
class MethodTable:
    """One metric group in one parse: the methods, the first of which is plain, whose answers count, their scores by
    run and endpoint, and over which samples; the report corrects over so many `tests`."""

    group: str
    parse: str
    methods: Mapping[str, str]
    chosen: Chosen
    scores: Mapping[tuple[int, int], KeptScores]
    numbers: frozenset[int]
    tests: int

    @property
    def plain(self) -> str:
        return next(iter(self.methods))

    def asked(self, method: str, endpoint: int) -> Asked | str:
        return self.chosen.get((method, endpoint), "Not asked.")

    def columns(self, method: str, endpoint: int) -> Columns | None:
        """Return the scores of a model by a method, None where there are none."""
        asked = self.asked(method, endpoint)
        scores = None if isinstance(asked, str) else self.scores.get((asked.run.pk, endpoint))
        return scores.columns(self.group, self.parse) if scores else None


Scored = Callable[[MethodRow], MethodRow]
"""Takes a row of a model that was asked by its method, and returns it with the figures that there are."""


def rows_of_model(
    table: MethodTable, entrant: EntrantResults, endpoint: int, scored: Scored | None = None
) -> list[MethodRow]:
    """Return the rows of one model, by the plain method first; without `scored` by the score of the metric group."""
    rows = []
    for name, title in table.methods.items():
        row = MethodRow(
            key=entrant.key, model=entrant.model, kind=entrant.kind, entrant=entrant.entrant, run=entrant.run,
            method=name, title=title,
        )  # fmt: skip
        asked = table.asked(name, endpoint)
        if isinstance(asked, str):
            rows.append(replace(row, why=asked))
            continue
        row = replace(row, beside=asked.run.uid, beside_entrant=asked.entrant)
        row = scored(row) if scored else _scored(row, table, endpoint)
        rows.append(replace(row, why=_why(table, row, endpoint), p=row.p if entrant.kind == "model" else None))
    return rows


def _scored(row: MethodRow, table: MethodTable, endpoint: int) -> MethodRow:
    """Return the row with the score by its method, and the difference to that by the plain one."""
    own, beside = table.columns(row.method, endpoint), table.columns(table.plain, endpoint)
    if not own:
        return row
    alone = common_cases([own], table.group, table.numbers)
    missing = [int(alone.missing[0]) if alone.stories else None, None]
    row = replace(row, score=score_estimate(alone, table.group), missing=missing)
    if row.method == table.plain or not beside:
        return row
    pair = paired_sides(common_cases([own, beside], table.group, table.numbers), table.group, table.tests)
    return replace(row.with_difference(pair.difference), own=pair.means[0], plain=pair.means[1])


def _why(table: MethodTable, row: MethodRow, endpoint: int) -> str:
    """Return why a row of somebody who was asked lacks a figure; empty where it lacks none."""
    if row.score is None:
        return Sentence("No {parse} figures.", parse=word(table.parse))
    if row.value is not None or row.method == table.plain:
        return ""
    if row.asked:
        return gettext_noop("Nothing was answered both ways.")
    title = table.methods[table.plain]
    if isinstance(table.asked(table.plain, endpoint), str):
        return Sentence("Not asked {title}.", title=title)
    return Sentence("Nothing was asked both ways, or has {parse} figures.", parse=word(table.parse))
