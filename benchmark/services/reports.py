"""The figures of a run, computed once and kept until an item changes, or the code that computes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from benchmark.controls.chosen import outdated
from benchmark.models import Run, RunItem, RunReport, StoryScores
from benchmark.services.asking import settings_of
from benchmark.services.human_results import people_in
from benchmark.services.results import each_entered, samples_of
from benchmark.suites.contract import Entered, Measured, Sample, Suite
from benchmark.suites.guarding import SuiteFailed
from benchmark.suites.people import PersonMeasured
from benchmark.suites.registry import suite_named
from core.made_by import made_by
from workers.services.notify import Notifier

REPORTS = Notifier("the report is computed when somebody opens it")
"""Asks a worker to compute the report of a run, by the id of its job."""


def report_of(run: Run) -> dict[str, Any]:
    """Return {entrants: [{id, name, kind, GROUP…[, role, number][, failed]}], stories, numbers, answers, scored,
    places, version}, from the stored row where that is up to date.

    The figures of each metric group of the suite are None or {official, repaired, answered, asked, analyses[, reason]};
    `official` and `repaired` as score_outputs prints them, without their `stories`, which are in `StoryScores`; rows of
    `official` have an `interval` too. `reason` says why `official` is None; `answered` counts the answers that official
    scoring takes. `analyses` is {reading: those of the suite}, None where the parse has no figures. Of a person the
    group that the suite names for people has `labelled` and `own` too, as `suites.people` says. `failed` is the
    sentence of a suite that could not score what this one said: then no group has figures.
    """
    return reports_of([run])[run.pk]


def reports_of(runs: Sequence[Run]) -> dict[int, dict[str, Any]]:
    """Return the report of each run, by run id. Two queries where all are up to date."""
    scored = places_of(runs)
    stored = {row.run_id: row for row in RunReport.objects.filter(run__in=runs)}
    reports = {}
    for run in runs:
        row = stored.get(run.pk)
        valid = {"places": scored[run.pk], "version": made_by()}
        current = row is not None and {name: row.metrics.get(name) for name in valid} == valid
        reports[run.pk] = row.metrics if current else _computed(run, scored[run.pk])
    return reports


def _computed(run: Run, scored: list[int]) -> dict[str, Any]:
    rows, numbers = _rows(run)
    failed = any("failed" in row for row in rows)
    metrics = {
        "stories": len(numbers),
        "numbers": numbers,
        "entrants": [{name: value for name, value in row.items() if name != "by_story"} for row in rows],
        "answers": _answers(run),
        "scored": scored[1],
        "places": scored,
        "version": "" if failed else made_by(),  # what a suite failed at is tried again whenever somebody asks
    }
    by_story = [
        StoryScores(run=run, entrant_id=row["id"], person="" if row["id"] else row["name"], metrics=row["by_story"])
        for row in rows
    ]
    with transaction.atomic():
        # two who open the page at once would both insert, and of a run that somebody deletes meanwhile nothing is kept
        if Run.objects.select_for_update().filter(pk=run.pk).first() is None:
            return metrics
        values = {"scored": scored[1], "metrics": metrics, "computed_at": timezone.now()}
        RunReport.objects.update_or_create(run=run, defaults=values)
        StoryScores.objects.filter(run=run).delete()
        StoryScores.objects.bulk_create(by_story, batch_size=1)  # one is megabytes as text
    return metrics


def _answers(run: Run) -> list[dict[str, Any]]:
    """Return the model names under which the answers of each entrant and step came, their number, tokens and the time
    of the last one."""
    answered = RunItem.objects.filter(entrant__run=run, call__isnull=False).order_by("entrant__position", "stage")
    rows = answered.values_list("entrant", "entrant__name", "stage", "call__answered_by").annotate(
        Count("call"), Sum("call__input_tokens"), Sum("call__output_tokens"), Max("call__finished_at")
    )
    names = ("entrant", "name", "stage", "answered_by", "answers", "input_tokens", "output_tokens", "last")
    calls = [dict(zip(names, row, strict=True)) for row in rows]
    return [row | {"last": row["last"].isoformat() if row["last"] else None} for row in calls]


def forget_report(run: Run) -> None:
    """Have the figures of a run computed anew, and those of its controls, to whose sets its answers may belong."""
    RunReport.objects.filter(Q(run=run) | Q(run__original=run)).delete()


def places_of(runs: Sequence[Run]) -> dict[int, list[int]]:
    """Return, by run id, how many items there are, and how many have an answer; of a run under a control those of the
    run as published after them."""
    whose = {run.pk: [run.pk, run.original_id] if run.original_id else [run.pk] for run in runs}
    items = RunItem.objects.filter(entrant__run__in={pk for one in whose.values() for pk in one}).order_by()
    rows = items.values_list("entrant__run").annotate(Count("id"), Count("call"))
    counts = {run: [places, scored] for run, places, scored in rows}
    return {run: [count for pk in one for count in counts.get(pk, [0, 0])] for run, one in whose.items()}


def _rows(run: Run) -> tuple[list[dict[str, Any]], list[int]]:
    """Each entrant's and person's figures with `by_story`, and the numbers of the samples."""
    suite = suite_named(run.suite)
    if why := outdated(settings_of(run)):
        return [row | _failed(suite, why) for row in _entrants(run)], []
    samples = samples_of(run)
    rows = [
        {"id": pk, "name": entered.name, "kind": entered.kind} | _measured(suite, entered)
        for pk, entered in each_entered(run, samples)
    ]
    return [*rows, *_people(suite, run, samples)], [sample.number for sample in samples.values()]


def _entrants(run: Run) -> list[dict[str, Any]]:
    return [
        {"id": one.pk, "name": one.name, "kind": "model" if one.endpoint.about.reads_prompts else "baseline"}
        for one in run.entrants.select_related("endpoint")
    ]


def _measured(suite: Suite, entered: Entered) -> dict[str, Any]:
    try:
        return _by_group(suite.measure(entered))
    except SuiteFailed as error:
        return _failed(suite, str(error))


def _people(suite: Suite, run: Run, samples: Mapping[int, Sample]) -> Iterator[dict[str, Any]]:
    if suite.people_measured is None or run.control:  # people labelled what was published
        return
    for person in people_in(run, samples):
        row = {"id": None, "name": person.name, "kind": "person", "role": person.role, "number": person.number}
        try:
            measured = suite.people_measured(person)
        except SuiteFailed as error:
            yield row | _failed(suite, str(error))
        else:
            if measured:
                yield row | _of_person(suite.people, measured)


def _of_person(group: str, measured: PersonMeasured) -> dict[str, Any]:
    row = _by_group(measured.measured)
    own, by_story = measured.own
    row[group] = row[group] | {"labelled": measured.labelled, "own": own.as_json()}
    row["by_story"][group]["own"] = by_story.as_json()
    return row


def _failed(suite: Suite, why: str) -> dict[str, Any]:
    return _by_group(dict.fromkeys(group.key for group in suite.groups)) | {"failed": why}


def _by_group(measured: Mapping[str, Measured | None]) -> dict[str, Any]:
    """Return what is kept of the figures: those of each metric group, and by sample under `by_story`."""
    metrics = {group: result and result.metrics.as_json() for group, result in measured.items()}
    by_story = {group: result and result.by_sample.as_json() for group, result in measured.items()}
    return {**metrics, "by_story": by_story}


def scores_of(run: Run) -> dict[str, Any]:
    """Return {official, repaired} of a run in the form of score_outputs, by model where there are several."""
    from benchmark.suites.measuring import summary_of  # loads the statistics libraries

    suite, samples = suite_named(run.suite), samples_of(run)
    summary = suite.summary or (lambda entered: summary_of(suite.measure(entered)))
    scores = {entered.name: summary(entered) for _, entered in each_entered(run, samples)}
    return next(iter(scores.values())) if len(scores) == 1 else scores
