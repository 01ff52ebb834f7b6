"""Judgements, row by row: of one run, and of all runs that one version of a judge judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from annotation.models import Project
from benchmark.models import Run, RunItem
from benchmark.services.judge_versions import judged_at, version_of
from benchmark.services.run_items import needed_by_judge
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import suite_named
from judge.domain.judgements import StoryJudgement

Turn = tuple[int, int, int]
"""(entrant id, sample id, repetition): what the items about one answer have in common."""


def versions_of(project: Project) -> dict[str, list[Run]]:
    """Return the listed runs that each version of a judge judged, by its digest, the oldest first."""
    runs: dict[str, list[Run]] = {}
    for run in judged_runs(project):
        if version := _version(run):
            runs.setdefault(version, []).append(run)
    return runs


def judged_runs(project: Project) -> list[Run]:
    """Return the listed runs of a project with a judge that judges row by row, the oldest first."""
    runs = Run.objects.listed().filter(project=project, judge__isnull=False).select_related("dataset", "judge", "job")
    return [run for run in runs.order_by("id") if judged_at(run) and _judges_rows(run)]


def _judges_rows(run: Run) -> bool:
    judge = suite_named(run.suite).judge
    return judge is not None and judge.kept is not None


def _version(run: Run) -> str:
    """Return the digest of the run's judge, empty where its suite cannot say what it is."""
    try:
        return version_of(run)
    except SuiteFailed:
        return ""


def judgements_of(run: Run) -> Iterator[StoryJudgement]:
    """Yield what the judge of a run said of each answer that it judged, in the order of models and samples."""
    suite, version = suite_named(run.suite), _version(run)
    if suite.judge is None or suite.judge.kept is None or not version:
        return
    calls, judged_calls = _calls_of(run), _judged_calls(run)
    items = RunItem.objects.filter(entrant__run=run, step=judged_at(run), call__isnull=False, repaired__isnull=False)
    items = items.order_by("entrant__position", "sample__position", "repetition")
    fields = ("entrant_id", "sample_id", "repetition", "entrant__name", "sample__key", "sample__number")
    for *turn, name, key, number, category, repaired in items.values_list(*fields, "sample__category", "repaired"):
        predicted, gold = suite.judge.kept(repaired)
        made = calls.get(tuple(turn), [])
        costs = [cost for _, cost in made]
        yield StoryJudgement(
            version, run.uid, name, key, number, category, turn[2], judged_calls.get(tuple(turn), ""),
            tuple(predicted), tuple(gold), tuple(uid for uid, _ in made),
            None if None in costs else sum(filter(None, costs), Decimal(0)),
        )  # fmt: skip


def _calls_of(run: Run) -> dict[Turn, list[tuple[str, Decimal | None]]]:
    """Return (uid, cost) of the judge's calls about each answer: of all passes, and of the follow-up."""
    judged = [step.key for step in suite_named(run.suite).steps if step.judged]
    rows = RunItem.objects.filter(entrant__run=run, step__in=judged, call__isnull=False).order_by("id")
    calls: dict[Turn, list[tuple[str, Decimal | None]]] = {}
    for *turn, uid, cost in rows.values_list("entrant_id", "sample_id", "repetition", "call__uid", "call__cost"):
        calls.setdefault(_turn(turn), []).append((uid, cost))
    return calls


def _judged_calls(run: Run) -> dict[Turn, str]:
    """Return the uid of the call whose answer is judged."""
    needed = needed_by_judge(suite_named(run.suite))[-1:]
    rows = RunItem.objects.filter(entrant__run=run, step__in=needed, call__isnull=False)
    read = rows.values_list("entrant_id", "sample_id", "repetition", "call__uid")
    return {_turn(turn): uid for *turn, uid in read}


def _turn(values: Iterable[int]) -> Turn:
    entrant, sample, repetition = values
    return entrant, sample, repetition
