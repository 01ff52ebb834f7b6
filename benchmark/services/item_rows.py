"""Which items of a model a figure over rows rests on: those that hold rows of an order, a MatchCount or a pair of labels.

Answers are readings in JSON, which no two databases search alike, so that one model's are read and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from benchmark.models import Run, RunItem, SharedItem, Stage
from benchmark.services.results import records_of
from benchmark.suites.omnitom.counted_rows import stage1_rows, stage2_rows, unread
from benchmark.suites.omnitom.item_readings import stage1_of, stage2_of

KIND_FILTERS = ("order", "role")
LABEL_FILTERS = ("dimension", "gold", "said")
ROW_FILTERS = (*KIND_FILTERS, *LABEL_FILTERS, "match_count")


def asks_for_rows(chosen: Mapping[str, Any]) -> bool:
    """Whether the filters need the rows of a model's answers."""
    return any(chosen.get(name) for name in ROW_FILTERS) or _asks_for_unread(chosen)


def _asks_for_unread(chosen: Mapping[str, Any]) -> bool:
    return chosen.get("problem") == "unusable" and chosen.get("reading") == "official"


def rows_of_items(
    run: Run, chosen: Mapping[str, Any], among: QuerySet[SharedItem] | None = None
) -> dict[int, tuple[int, int]]:
    """By item of the model `chosen["model"]` (rows meant, rows they are among), where there are any.

    Of answers that official parsing gets nothing out of, all rows that were asked for.
    """
    reading = chosen.get("reading") or "repaired"
    held = RunItem.objects.all() if among is None else among
    held = held.filter(entrant__run=run, entrant=chosen["model"], stage__in=_stages(chosen))
    held = held.exclude(**{reading: None})
    if chosen.get("category"):
        held = held.filter(sample__category=chosen["category"])
    if reading == "repaired":
        held = held.filter(unusable="")
    rows = list(held.values_list("pk", "sample_id", "stage", reading))
    records = records_of(run.dataset, {story for _, story, _, _ in rows})
    mended = reading == "repaired"
    found = {}
    for pk, story, stage, answer in rows:
        result = (stage1_of if stage == Stage.JUDGE else stage2_of)(records[story], answer, mended=mended)
        meant, among = _counted(result, stage, chosen)
        if meant or (among and _measures(chosen)):
            found[pk] = (meant, among)
    return found


def _stages(chosen: Mapping[str, Any]) -> set[str]:
    wanted = {chosen["stage"]} if chosen.get("stage") else {Stage.JUDGE, Stage.LABEL}
    if any(chosen.get(name) for name in LABEL_FILTERS):
        wanted &= {Stage.LABEL}
    return wanted & ({Stage.JUDGE} if chosen.get("match_count") else {Stage.JUDGE, Stage.LABEL})


def _measures(chosen: Mapping[str, Any]) -> bool:
    """A dimension alone asks for every item with a cell of it: right and wrong ones make the figure."""
    return bool(chosen.get("dimension")) and not chosen.get("gold") and not chosen.get("said")


def _counted(result, stage: str, chosen: Mapping[str, Any]) -> tuple[int, int]:
    if _asks_for_unread(chosen):
        among = len(result.gold_counts if stage == Stage.JUDGE else result.gold)
        return (among, among) if unread(result) else (0, 0)
    kinds = {name: chosen.get(name) or "" for name in KIND_FILTERS}
    if stage == Stage.JUDGE:
        return stage1_rows(result, matches=chosen.get("match_count") or "", **kinds)
    return stage2_rows(result, **kinds, **{name: chosen.get(name) or "" for name in LABEL_FILTERS})
