"""Judgements, row by row: of one run, and of all runs that one version of a judge judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from django.db.models import Exists, OuterRef

from annotation.models import Project, User
from benchmark.models import Run, RunItem
from benchmark.services.judge_versions import judge_name, judged_at, version_of
from benchmark.services.run_items import needed_by_judge
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import suite_named
from judge.domain.judgements import StoryJudgement
from judge.models import Alignment, AlignmentStudy

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


def calibrations_of(runs: Sequence[Run], reader: User) -> list[dict[str, Any]]:
    """Return the calibration reports of the judges of these runs of one project that a reader may see, the newest study
    first: none of a study in which the reader still aligns. Four statements, however many studies and runs there
    are."""
    if not runs or not (studies := _studies_for(runs[0], reader)):
        return []
    run_ids = {run.pk for run in runs}
    versions = {
        version: judged
        for version, judged in versions_of(runs[0].project).items()
        if run_ids & {run.pk for run in judged}
    }
    judged_pairs = judged_in(studies, [run for judged in versions.values() for run in judged])
    return [
        {"study": study, "version": version, "judge": judge_name(judged[0])}
        for study in studies
        for version, judged in versions.items()
        if any((study.pk, run.pk) in judged_pairs for run in judged)
    ]


def _studies_for(run: Run, reader: User) -> list[AlignmentStudy]:
    own = Alignment.objects.unfinished().filter(annotator=reader).values("task__study")
    studies = AlignmentStudy.objects.filter(project=run.project_id, tasks__settled__isnull=False)
    return list(studies.exclude(pk__in=own).without_frame().distinct())


def calibrated_studies(run: Run, reader: User) -> list[AlignmentStudy]:
    """Return the studies with settled tables of answers on the same version of gold as a run, of those that the
    reader may see, the newest first."""
    ids = [study.pk for study in _studies_for(run, reader)]
    return [study for study in AlignmentStudy.objects.filter(pk__in=ids) if _is_of_gold(study, run)]


def _is_of_gold(study: AlignmentStudy, run: Run) -> bool:
    return (study.came_of.suite, study.came_of.dataset) == (run.suite, run.dataset.version)


def still_aligns(run: Run, reader: User) -> bool:
    """Return whether the reader still aligns tables of the same version of gold, and may not know of its judges yet."""
    own = Alignment.objects.unfinished().filter(annotator=reader).values("task__study")
    studies = AlignmentStudy.objects.filter(project=run.project_id, pk__in=own).without_frame()
    return any(_is_of_gold(study, run) for study in studies)


def judged_tables_of(study: AlignmentStudy, judged: Sequence[Run]) -> bool:
    """Return whether one of the runs judged an answer that tables of the study were made from."""
    return bool(judged_in([study], judged))


def judged_in(studies: Sequence[AlignmentStudy], runs: Sequence[Run]) -> set[tuple[int, int]]:
    """Return (study, run) by id of each run of one project that judged, beside the same version of gold, an answer that
    tables of the study were made from. Two statements, however many there are."""
    if not runs or not studies:
        return set()
    uids = {uid for study in studies for uid in study.came_of.runs}
    origins = {run.uid: run for run in Run.objects.filter(project=runs[0].project_id, uid__in=uids)}
    made_from = {study.pk: [origins[uid] for uid in study.came_of.runs if uid in origins] for study in studies}
    judged = Run.objects.filter(pk__in=[run.pk for run in runs]).annotate(
        **{f"study_{pk}": _shares_answers(origin) for pk, origin in made_from.items()}
    )
    names = [f"study_{pk}" for pk in made_from]
    return {
        (pk, run)
        for run, *shares in judged.values_list("pk", *names)
        for pk, shared in zip(made_from, shares, strict=True)
        if shared
    }


def _shares_answers(origin: Sequence[Run]) -> Exists:
    """Return whether a run has an answer of these, on the same version of gold, at the step that their judge reads
    first."""
    steps = {step for run in origin for step in needed_by_judge(suite_named(run.suite))[:1]}
    answers = RunItem.objects.filter(entrant__run__in=origin, step__in=steps, call__isnull=False).values("call")
    gold = {run.dataset_id for run in origin}
    own = RunItem.objects.filter(entrant__run=OuterRef("pk"), entrant__run__dataset__in=gold)
    return Exists(own.filter(step__in=steps, call__in=answers))
