"""The figures of a run, computed once and kept until an item changes, or the code that computes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Sum
from django.utils import timezone

from benchmark.models import Run, RunItem, RunReport, Stage, StoryScores
from benchmark.services.human_results import GAPS, HumanResults, human_results
from benchmark.services.results import Results, each_results, records_of, results_of
from benchmark.services.story_scores import READINGS, official_columns, repaired_columns, with_intervals
from benchmark.suites.omnitom.analyses import outputs_analysis, stage1_analyses, stage2_analyses
from benchmark.suites.omnitom.counted_rows import unread
from benchmark.suites.omnitom.metrics import stage1_metrics, stage2_metrics
from benchmark.suites.omnitom.official import STRUCTURED
from benchmark.suites.omnitom.repaired import stage1_report, stage2_report
from benchmark.suites.omnitom.results import NO_GOLD
from core.made_by import made_by
from workers.services.doorbell import Bell

SKIPPED = "rows without a judgement"
REPORTS = Bell("the report is computed when somebody opens it")
"""Asks a worker to compute the report of a run, by the id of its job."""


def report_of(run: Run) -> dict[str, Any]:
    """{entrants: [{id, name, kind, stage1, stage2[, role, number]}], stories, numbers, answers, scored, places, version}; from the row where it
    is up to date.

    `stage1` and `stage2` are None or {official, repaired, answered, asked, analyses[, reason]}; `official` and `repaired` as
    score_outputs prints them, without their `stories`, which are in `StoryScores`; rows of `official` have an `interval` too.
    `reason` says why `official` is None; `answered` counts the answers that official scoring takes. `analyses` is {reading: those of
    `suites.omnitom.analyses` with "outputs"}, None where the reading has no figures. A person's `stage2` has `labelled` and `own` too: the
    figures by reading against gold that contains the person's own votes.
    """
    return reports_of([run])[run.pk]


def reports_of(runs: Sequence[Run]) -> dict[int, dict[str, Any]]:
    """`report_of` each by run id: two queries where all are up to date."""
    scored = _scored(runs)
    held = {row.run_id: row for row in RunReport.objects.filter(run__in=runs)}
    found = {}
    for run in runs:
        row = held.get(run.pk)
        valid = {"places": scored[run.pk], "version": made_by()}
        current = row is not None and {name: row.figures.get(name) for name in valid} == valid
        found[run.pk] = row.figures if current else _computed(run, scored[run.pk])
    return found


def _computed(run: Run, scored: list[int]) -> dict[str, Any]:
    rows, numbers = _rows(run)
    figures = {
        "stories": len(numbers),
        "numbers": numbers,
        "entrants": [{name: value for name, value in row.items() if name != "by_story"} for row in rows],
        "answers": _answers(run),
        "scored": scored[1],
        "places": scored,
        "version": made_by(),
    }
    by_story = [
        StoryScores(run=run, entrant_id=row["id"], person="" if row["id"] else row["name"], figures=row["by_story"])
        for row in rows
    ]
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run.pk)  # two who open the page at once would both insert
        told = {"scored": scored[1], "figures": figures, "computed_at": timezone.now()}
        RunReport.objects.update_or_create(run=run, defaults=told)
        StoryScores.objects.filter(run=run).delete()
        StoryScores.objects.bulk_create(by_story)
    return figures


def _answers(run: Run) -> list[dict[str, Any]]:
    """Which model names the answers of each entrant and stage came under, their number, tokens and the time of the last one."""
    held = RunItem.objects.filter(entrant__run=run, call__isnull=False).order_by("entrant__position", "stage")
    rows = held.values_list("entrant", "entrant__name", "stage", "call__answered_by").annotate(
        Count("call"), Sum("call__input_tokens"), Sum("call__output_tokens"), Max("call__finished_at")
    )
    names = ("entrant", "name", "stage", "answered_by", "answers", "input_tokens", "output_tokens", "last")
    found = [dict(zip(names, row, strict=True)) for row in rows]
    return [row | {"last": row["last"].isoformat() if row["last"] else None} for row in found]


def forget_report(run: Run) -> None:
    RunReport.objects.filter(run=run).delete()


def _scored(runs: Sequence[Run]) -> dict[int, list[int]]:
    """By run id: how many places there are, and how many have an answer."""
    held = RunItem.objects.filter(entrant__run__in=runs).order_by().values_list("entrant__run")
    found = {run: [places, scored] for run, places, scored in held.annotate(Count("id"), Count("call"))}
    return {run.pk: found.get(run.pk, [0, 0]) for run in runs}


def _rows(run: Run) -> tuple[list[dict[str, Any]], list[int]]:
    """Each entrant's and person's figures with `by_story`, and the numbers of the stories."""
    seed = run.params.get("seed", 1)
    asked = set(RunItem.objects.filter(entrant__run=run).values_list("sample_id", flat=True))
    records = records_of(run.dataset, asked)
    held = chain(each_results(run, records), ((None, one) for one in human_results(run, records)))
    return [_row(pk, one, seed) for pk, one in held], [record.story_id for record in records.values()]


def _row(pk: int | None, held: Results, seed: int) -> dict[str, Any]:
    row = {"id": pk, "name": held.name, "kind": held.kind} | _stages(held, seed)
    if isinstance(held, HumanResults):
        own, by_story = _own(held, seed)
        row |= {
            "role": held.role,
            "number": held.number,
            "stage2": row["stage2"] | {"labelled": held.labelled, "own": own},
        }
        row["by_story"]["stage2"]["own"] = by_story
    return row


def _own(held: HumanResults, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """(figures, figures by story) of a person by reading, against gold that contains the person's own votes and decisions."""
    official = held.own_official2 if held.lacking.get("stage2") not in (GAPS, STRUCTURED) else []
    metrics = stage2_metrics(official) if official else None
    both, by_story = _both(official, metrics, stage2_report(held.own_repaired2, seed=seed), {}, "stage2")
    return {name: both[name] for name in READINGS}, by_story


def _stages(held: Results, seed: int) -> dict[str, Any]:
    stage1, by_story1 = _stage1(held, seed)
    stage2, by_story2 = _stage2(held, seed)
    for stage, figures in (("stage1", stage1), ("stage2", stage2)):
        if figures and stage in held.lacking:
            seen = figures["analyses"] | {"official": None}
            figures |= {"official": None, "reason": held.lacking[stage], "analyses": seen}
    return {"stage1": stage1, "stage2": stage2, "by_story": {"stage1": by_story1, "stage2": by_story2}}


def _stage1(held: Results, seed: int):
    """(figures, figures by story), both None where the stage was not asked for."""
    if not held.repaired1:
        return None, None
    official, repaired = held.official1, held.repaired1
    skipped = sum(sum(one.unjudged) for one in repaired)
    without = held.without[Stage.EXTRACT], held.without[Stage.JUDGE], Counter({SKIPPED: skipped} if skipped else {})
    seen = _seen(official, repaired, stage1_analyses, held.extractions, without, seed)
    metrics = stage1_metrics(official) if official else None
    return _both(official, metrics, stage1_report(repaired, seed=seed), seen, "stage1")


def _stage2(held: Results, seed: int):
    """(figures, figures by story), both None where the stage was not asked for."""
    if not held.repaired2:
        return None, None
    official, repaired = held.official2, held.repaired2
    seen = _seen(official, repaired, stage2_analyses, held.labellings, (held.without[Stage.LABEL],), seed)
    metrics = stage2_metrics(official) if official else None
    return _both(official, metrics, stage2_report(repaired, seed=seed), seen, "stage2")


def _seen(
    official: Sequence, repaired: Sequence, analyse: Callable, outputs: Sequence, without: Sequence[Counter], seed: int
):
    """The analyses by reading; official ones only where every story has an answer, as its figures."""
    names = ("calls", "judgements", "rows")[: len(without)]
    others = {name: dict(sorted(held.items())) for name, held in zip(names, without, strict=True)}
    found = {
        "repaired": analyse(repaired, seed=seed) | {"outputs": outputs_analysis(outputs, others, seed=seed)},
        "official": None,
    }
    if official and len(official) == len(repaired):  # as the figures, only where no story lacks one
        nothing = [unread(one) for one, mended in zip(official, repaired, strict=True) if mended.unusable != NO_GOLD]
        found["official"] = analyse(official, seed=seed) | {"outputs": outputs_analysis(nothing, others, seed=seed)}
    return found


def _both(official: Sequence, metrics: dict[str, Any] | None, mended: dict[str, Any], seen: dict[str, Any], stage: str):
    columns = official_columns(metrics["stories"], [one.category for one in official], stage) if metrics else None
    by_story = {"official": columns, "repaired": repaired_columns(mended["stories"], stage)}
    if columns:
        rules = {"seed": mended["seed"], "resamples": mended["resamples"]}
        metrics = with_intervals(_without_stories(metrics), columns, set(columns["stories"]), stage, **rules)
    figures = {
        "official": metrics,
        "repaired": _without_stories(mended),
        "answered": len(official),
        "asked": len(mended["stories"]),
        "analyses": seen,
    }
    return figures, by_story


def _without_stories(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if name != "stories"}


def scores_of(run: Run) -> dict[str, Any]:
    """{official, repaired} of a run in the form of score_outputs, by model where there are several. A stage without figures is
    None, with its sentence in the reading's `reason`."""
    seed = run.params.get("seed", 1)
    found = {held.name: _scores(held, seed) for held in results_of(run).values()}
    return next(iter(found.values())) if len(found) == 1 else found


def _scores(held: Results, seed: int) -> dict[str, Any]:
    official = {"stage1": (stage1_metrics, held.official1), "stage2": (stage2_metrics, held.official2)}
    mended = {"stage1": (stage1_report, held.repaired1), "stage2": (stage2_report, held.repaired2)}
    unasked = {stage: held.lacking[stage] for stage, (_, results) in mended.items() if not results}
    return {
        "official": {
            stage: None if stage in held.lacking else metrics(results) for stage, (metrics, results) in official.items()
        }
        | ({"reason": held.lacking} if held.lacking else {}),
        "repaired": {
            stage: report(results, seed=seed) if results else None for stage, (report, results) in mended.items()
        }
        | ({"reason": unasked} if unasked else {}),
    }
