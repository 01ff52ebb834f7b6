"""The figures of a run, computed once and kept until an item changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from benchmark.domain.omnitom import analyses
from benchmark.domain.omnitom.labels import DIMENSIONS
from benchmark.domain.omnitom.metrics import stage1_metrics, stage2_metrics
from benchmark.domain.omnitom.repaired import stage1_report, stage2_report
from benchmark.domain.omnitom.results import Stage1Result, Stage2Result
from benchmark.models import Run, RunItem, RunReport
from benchmark.services.results import Results, human_results, records_of, results_of


def report_of(run: Run) -> dict[str, Any]:
    """{entrants: [{id, name, kind, stage1, stage2}], stories, scored}; from the row where it is up to date.

    `stage1` and `stage2` are None or {official, repaired, answered, asked, analyses}; `official` and `repaired` as score_outputs
    prints them, without their `stories`.
    """
    scored = _scored(run)
    held = RunReport.objects.filter(run=run).first()
    if held is not None and held.scored == scored:
        return held.figures
    figures = _figures(run) | {"scored": scored}
    with transaction.atomic():
        row = {"scored": scored, "figures": figures, "computed_at": timezone.now()}
        RunReport.objects.update_or_create(run=run, defaults=row)
    return figures


def forget_report(run: Run) -> None:
    RunReport.objects.filter(run=run).delete()


def _scored(run: Run) -> int:
    return RunItem.objects.filter(entrant__run=run, call__isnull=False).count()


def _figures(run: Run) -> dict[str, Any]:
    seed = run.params.get("seed", 1)
    asked = set(RunItem.objects.filter(entrant__run=run).values_list("story_id", flat=True))
    records = records_of(run.dataset, asked)
    rows = [
        {"id": pk, "name": held.name, "kind": held.kind} | _stages(held, seed)
        for pk, held in results_of(run, records).items()
    ]
    people = [
        {"id": None, "name": one.name, "kind": one.kind} | _stages(one, seed) for one in human_results(run, records)
    ]
    return {"stories": len(records), "entrants": rows + people}


def _stages(held: Results, seed: int) -> dict[str, Any]:
    return {
        "stage1": _stage1(held.official1, held.repaired1, seed),
        "stage2": _stage2(held.official2, held.repaired2, seed),
    }


def _stage1(official: Sequence[Stage1Result], repaired: Sequence[Stage1Result], seed: int) -> dict[str, Any] | None:
    if not repaired:
        return None
    return {
        "official": _without_stories(stage1_metrics(official)) if official else None,
        "repaired": _without_stories(stage1_report(repaired, seed=seed)),
        "answered": len(official),
        "asked": len(repaired),
        "analyses": {
            "orders": analyses.recall_by_order(repaired),
            "match_counts": analyses.match_counts(repaired),
            "volume": analyses.volume(repaired),
            "unusable": analyses.unusable_share(repaired),
        },
    }


def _stage2(official: Sequence[Stage2Result], repaired: Sequence[Stage2Result], seed: int) -> dict[str, Any] | None:
    if not repaired:
        return None
    return {
        "official": _without_stories(stage2_metrics(official)) if official else None,
        "repaired": _without_stories(stage2_report(repaired, seed=seed)),
        "answered": len(official),
        "asked": len(repaired),
        "analyses": {
            "by_category": analyses.accuracy_by_category(repaired),
            "confusion": {name: analyses.confusion(repaired, name) for name in DIMENSIONS},
            "distribution": {name: analyses.label_distribution(repaired, name) for name in DIMENSIONS},
            "unusable": analyses.unusable_share(repaired),
        },
    }


def _without_stories(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if name != "stories"}


def scores_of(run: Run) -> dict[str, Any]:
    """{official, repaired} of a run in the form of score_outputs, by model where there are several."""
    seed = run.params.get("seed", 1)
    found = {held.name: _scores(held, seed) for held in results_of(run).values()}
    return next(iter(found.values())) if len(found) == 1 else found


def _scores(held: Results, seed: int) -> dict[str, Any]:
    return {
        "official": {
            "stage1": stage1_metrics(held.official1) if held.official1 else None,
            "stage2": stage2_metrics(held.official2) if held.official2 else None,
        },
        "repaired": {
            "stage1": stage1_report(held.repaired1, seed=seed) if held.repaired1 else None,
            "stage2": stage2_report(held.repaired2, seed=seed) if held.repaired2 else None,
        },
    }
