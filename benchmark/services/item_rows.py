"""The items of a model that a metric over rows rests on: those whose answers hold rows that the suite's filters mean.

Answers are parses in JSON, which no two databases search alike, so that one model's are read and counted.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from django.db.models import QuerySet

from benchmark.models import DatasetSample, Run, RunItem, SnapshotItem
from benchmark.services.asking import DatasetResources, sample_asked
from benchmark.services.chosen_items import OFFICIAL, REPAIRED, ChosenItems
from benchmark.suites.items import KeptParse, Rows
from benchmark.suites.questions import Sample
from benchmark.suites.registry import suite_named
from core.messages import gettext_noop


def asks_for_rows(rows: Rows | None, chosen: ChosenItems) -> bool:
    """Return whether the filters need the rows of a model's answers."""
    return rows is not None and (bool(chosen.rows) or _asks_for_unreadable(rows, chosen))


def heading_of_rows(rows: Rows | None, chosen: ChosenItems) -> str:
    """Return what the column of rows is called."""
    share = rows.share(chosen.rows) if rows and rows.share else ""
    return share or gettext_noop("Rows meant")


def _asks_for_unreadable(rows: Rows, chosen: ChosenItems) -> bool:
    return rows.unreadable is not None and chosen.problem == "unreadable" and chosen.parse == OFFICIAL


def rows_of_items(
    run: Run,
    chosen: ChosenItems,
    closed: Set[int] = frozenset(),
    among: QuerySet[SnapshotItem] | None = None,
) -> dict[int, tuple[int, int]]:
    """Return (rows meant, rows they are among) by item of the chosen model, where there are any.

    Items of stories in `closed` are not looked into, whatever a filter tells. Of answers that official parsing gets
    nothing out of, all rows that were asked for.
    """
    rows = suite_named(run.suite).items.rows
    if rows is None:
        return {}
    unreadable = _asks_for_unreadable(rows, chosen)
    listed = bool(rows.share and rows.share(chosen.rows))
    counts = {}
    for pk, parse in _parses(run, rows, chosen, RunItem.objects.all() if among is None else among, closed):
        count = rows.unreadable(parse) if rows.unreadable and unreadable else 0
        meant, total = (count, count) if unreadable else rows.count(parse, chosen.rows)
        if meant or (total and listed):
            counts[pk] = (meant, total)
    return counts


def _parses(
    run: Run, rows: Rows, chosen: ChosenItems, among: QuerySet[Any], closed: Set[int]
) -> list[tuple[int, KeptParse]]:
    steps = rows.steps_of(chosen.rows) & ({chosen.step} if chosen.step else {*rows.steps})
    items = among.filter(entrant__run=run, entrant=chosen.model, step__in=steps).without(closed)
    items = items.exclude(**{chosen.parse: None})
    if chosen.category:
        items = items.filter(sample__category=chosen.category)
    if chosen.parse == REPAIRED:
        items = items.filter(unreadable="")
    stored = list(items.values_list("pk", "sample_id", "step", chosen.parse))
    samples, resources = _samples(run, {sample for _, sample, _, _ in stored}), DatasetResources(run.dataset)
    return [
        (pk, KeptParse(samples[sample], step, chosen.parse == OFFICIAL, answer, resources))
        for pk, sample, step, answer in stored
    ]


def _samples(run: Run, ids: Set[int]) -> dict[int, Sample]:
    rows = DatasetSample.objects.filter(dataset=run.dataset).defer("votes", "methods", "adjudications")
    return {row.pk: sample_asked(run, row) for row in rows if row.pk in ids}
