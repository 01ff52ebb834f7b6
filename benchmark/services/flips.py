"""Questions to which a model gave answers of another score under a control, or in another repetition, than as
published: the stories to read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence, Set
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery

from benchmark.controls.chosen import CONTROLS
from benchmark.models import Entrant, Run, RunItem, RunReport
from benchmark.services.leaderboards import KEPT_SECONDS
from benchmark.services.reports import places_of
from benchmark.suites.registry import group_named, keys_of
from core.made_by import made_by

REPETITIONS = "repetitions"
"""The choice, instead of a control, that compares repetitions of the run with its first one."""
SHOWN = 400
"""Characters of an answer that a row shows."""


@dataclass(frozen=True, slots=True)
class Flip:
    """Two answers to one question, by the ids of their items, whose scores in the repaired parse differ."""

    first: int
    second: int
    apart: float


def ways_of(run: Run) -> list[tuple[str, str]]:
    """Return (value, label) of what the run's answers can be held against: its controls, and its repetitions."""
    ways = [
        (control, CONTROLS[control].title) for control in run.controls.order_by("pk").values_list("control", flat=True)
    ]
    return ways + ([(REPETITIONS, "repetitions")] if run.params.get("repetitions", 1) > 1 else [])


Counts = dict[tuple[int, str], tuple[int, int]]


def counts_of(run: Run, ways: Sequence[str], closed: Set[int]) -> Counts:
    """Return (flips, answers with a score both ways) by (endpoint id, way), for who has such answers; nothing of
    samples in `closed`. Counted once for the same figures."""
    key = _key(run, ways, closed)
    counts: Counts | None = cache.get(key) if key else None
    if counts is None:
        counts = _counts(run, ways, closed)
        if key:
            cache.set(key, counts, KEPT_SECONDS)
    return counts


def _key(run: Run, ways: Sequence[str], closed: Set[int]) -> str:
    """Return the key of counts that stand until answers come in or are parsed again, empty where no figures were
    computed since."""
    runs = [run, *run.controls.order_by("pk")]
    computed = dict(RunReport.objects.filter(run__in=runs).values_list("run_id", "computed_at"))
    if len(computed) < len(runs):
        return ""
    places = places_of(runs)
    figures = [[one.pk, computed[one.pk].isoformat(), places[one.pk]] for one in runs]
    facts = [made_by(), figures, sorted(ways), sorted(closed)]
    return f"flips:{hashlib.sha256(json.dumps(facts).encode()).hexdigest()}"


def _counts(run: Run, ways: Sequence[str], closed: Set[int]) -> Counts:
    counts: Counts = {}
    if {*ways} - {REPETITIONS}:
        published = RunItem.objects.filter(
            entrant__run=run, entrant__endpoint=OuterRef("entrant__endpoint"), repetition=OuterRef("repetition")
        )
        under = RunItem.objects.filter(entrant__run__original=run, entrant__run__deleted_at=None)
        rows = _differing(run, under.without(closed), published).values_list(
            "entrant__endpoint", "entrant__run__control"
        )
        counts |= {(endpoint, way): (flips, both) for endpoint, way, flips, both in _counted(rows)}
    if REPETITIONS in ways:
        first = RunItem.objects.filter(entrant=OuterRef("entrant"), repetition=0)
        again = RunItem.objects.filter(entrant__run=run, repetition__gt=0)
        rows = _differing(run, again.without(closed), first).values_list("entrant__endpoint")
        counts |= {(endpoint, REPETITIONS): (flips, both) for endpoint, flips, both in _counted(rows)}
    return counts


def _differing(run: Run, items: QuerySet[RunItem], before: QuerySet[RunItem]) -> QuerySet[RunItem]:
    """The scored items with `before`, the score of the item of the same step and sample there; without those that have
    none."""
    same = before.filter(stage=OuterRef("stage"), sample=OuterRef("sample")).order_by()
    scored = items.filter(stage__in=_steps(run), repaired_score__isnull=False).order_by()
    return scored.annotate(before=Subquery(same.values("repaired_score")[:1])).filter(before__isnull=False)


def _counted(rows: QuerySet) -> QuerySet:
    flips = Count("pk", filter=Q(repaired_score__lt=F("before")) | Q(repaired_score__gt=F("before")))
    return rows.annotate(flips=flips, both=Count("pk"))


def _steps(run: Run) -> set[str]:
    return {group_named(key).scored for key in keys_of(run.suite)}


def flips_of(run: Run, entrant: Entrant, way: str, closed: Set[int]) -> list[Flip]:
    """Return the flips of one model, those furthest apart first, then by sample; nothing of samples in `closed`."""
    published = _scores(entrant, closed)
    if way == REPETITIONS:
        first = {(stage, sample): answer for (stage, sample, turn), answer in published.items() if turn == 0}
        pairs = [(first.get(key[:2]), answer) for key, answer in published.items() if key[2] > 0]
    else:
        other = Entrant.objects.filter(
            run__original=run, run__control=way, run__deleted_at=None, endpoint=entrant.endpoint_id
        ).first()
        controlled = _scores(other, closed) if other else {}
        pairs = [(published.get(key), answer) for key, answer in controlled.items()]
    flips = [
        Flip(first[0], second[0], abs(first[1] - second[1]))
        for first, second in pairs
        if first and first[1] != second[1]
    ]
    return sorted(flips, key=lambda flip: -flip.apart)  # which keeps the order of the samples


def _scores(entrant: Entrant, closed: Set[int]) -> dict[tuple[str, int, int], tuple[int, float]]:
    """Return (item id, score) of a model's scored answers by step, sample and repetition, in the order of the
    samples."""
    items = RunItem.objects.filter(
        entrant=entrant, stage__in=_steps(entrant.run), repaired_score__isnull=False
    ).without(closed)
    rows = items.order_by("sample__position", "repetition").values_list(
        "stage", "sample_id", "repetition", "pk", "repaired_score"
    )
    return {(stage, sample, turn): (pk, score) for stage, sample, turn, pk, score in rows}


def read(flips: Sequence[Flip]) -> list[tuple[RunItem, RunItem]]:
    """Return the items of these flips in their order, each with `answer`, the beginning of what was answered."""
    ids = [pk for flip in flips for pk in (flip.first, flip.second)]
    items = RunItem.objects.filter(pk__in=ids).select_related("sample", "call", "entrant__run__project")
    by_id = {item.pk: item for item in items.defer("sample__votes", "sample__methods", "sample__adjudications")}
    for item in by_id.values():
        text = item.call.answer if item.call else ""
        item.answer = {"text": text[:SHOWN], "left": max(0, len(text) - SHOWN)}
    return [(by_id[flip.first], by_id[flip.second]) for flip in flips]
