"""The items of a model that a metric over rows rests on: those whose answers hold rows that the suite's filters mean.

Answers are parses in JSON, which no two databases search alike, so that one model's are read and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from django.db.models import QuerySet

from benchmark.models import DatasetSample, Run, RunItem, SharedItem
from benchmark.services.asking import DatasetResources, sample_asked
from benchmark.suites.asked import PARSES
from benchmark.suites.contract import Sample
from benchmark.suites.item_filters import KeptParse, Rows
from benchmark.suites.registry import suite_named
from core.language import gettext_noop

OFFICIAL, REPAIRED = PARSES


def asks_for_rows(rows: Rows | None, chosen: Mapping[str, Any]) -> bool:
    """Return whether the filters need the rows of a model's answers."""
    return rows is not None and (bool(_filters(rows, chosen)) or _asks_for_unread(rows, chosen))


def heading_of_rows(rows: Rows | None, chosen: Mapping[str, Any]) -> str:
    """Return what the column of rows is called."""
    share = rows.share(_filters(rows, chosen)) if rows and rows.share else ""
    return share or gettext_noop("Rows meant")


def _filters(rows: Rows, chosen: Mapping[str, Any]) -> dict[str, str]:
    return {row_filter.name: str(chosen[row_filter.name]) for row_filter in rows.filters if chosen.get(row_filter.name)}


def _asks_for_unread(rows: Rows, chosen: Mapping[str, Any]) -> bool:
    return rows.unread is not None and chosen.get("problem") == "unusable" and chosen.get("reading") == OFFICIAL


def rows_of_items(
    run: Run,
    chosen: Mapping[str, Any],
    closed: Set[int] = frozenset(),
    among: QuerySet[SharedItem] | None = None,
) -> dict[int, tuple[int, int]]:
    """Return (rows meant, rows they are among) by item of the model `chosen["model"]`, where there are any.

    Items of stories in `closed` are not looked into, whatever a filter tells. Of answers that official parsing gets
    nothing out of, all rows that were asked for.
    """
    rows = suite_named(run.suite).rows
    if rows is None:
        return {}
    filters, unread = _filters(rows, chosen), _asks_for_unread(rows, chosen)
    listed = bool(rows.share and rows.share(filters))
    counts = {}
    for pk, parse in _parses(run, rows, chosen, RunItem.objects.all() if among is None else among, closed):
        count = rows.unread(parse) if rows.unread and unread else 0
        meant, total = (count, count) if unread else rows.count(parse, filters)
        if meant or (total and listed):
            counts[pk] = (meant, total)
    return counts


def _parses(
    run: Run, rows: Rows, chosen: Mapping[str, Any], among: QuerySet[Any], closed: Set[int]
) -> list[tuple[int, KeptParse]]:
    parse = chosen.get("reading") or REPAIRED
    steps = rows.steps_of(_filters(rows, chosen)) & ({chosen["stage"]} if chosen.get("stage") else {*rows.steps})
    items = among.filter(entrant__run=run, entrant=chosen["model"], step__in=steps).without(closed)
    items = items.exclude(**{parse: None})
    if chosen.get("category"):
        items = items.filter(sample__category=chosen["category"])
    if parse == REPAIRED:
        items = items.filter(unusable="")
    stored = list(items.values_list("pk", "sample_id", "step", parse))
    samples, resources = _samples(run, {sample for _, sample, _, _ in stored}), DatasetResources(run.dataset)
    return [
        (pk, KeptParse(samples[sample], step, parse == OFFICIAL, answer, resources))
        for pk, sample, step, answer in stored
    ]


def _samples(run: Run, ids: Set[int]) -> dict[int, Sample]:
    rows = DatasetSample.objects.filter(dataset=run.dataset).defer("votes", "methods", "adjudications")
    return {row.pk: sample_asked(run, row) for row in rows if row.pk in ids}
