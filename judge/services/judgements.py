"""Judgements, row by row: of one run, and of all runs that one version of a judge judged."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from django.db.models import Exists, OuterRef

from annotation.models import Project, User
from benchmark.models import Run, RunItem
from benchmark.services.judges import judge_name, judged_at, version_of
from benchmark.services.run_items import needed_by_judge
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import suite_named
from judge.domain.judgements import StoryJudgement
from judge.models import Alignment, AlignmentStudy

Turn = tuple[int, ...]
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
    judges = {run: suite_named(run.suite).judge for run in runs.order_by("id") if judged_at(run)}
    return [run for run, judge in judges.items() if judge and judge.kept]


def _version(run: Run) -> str:
    """Return the digest of the run's judge, empty if its suite cannot say what it is."""
    try:
        return version_of(run)
    except SuiteFailed:
        return ""


def judgements_of(run: Run) -> Iterator[StoryJudgement]:
    """Yield what the judge of a run said of each answer that it judged, in the order of models and samples."""
    suite, version = suite_named(run.suite), _version(run)
    if suite.judge is None or suite.judge.kept is None or not version:
        return
    answered = RunItem.objects.filter(entrant__run=run, call__isnull=False)
    turn_fields = ("entrant_id", "sample_id", "repetition")
    # the judge's calls about each answer, of all passes and of the follow-up, and the call whose answer is judged
    judged_steps = [step.key for step in suite.steps if step.judged]
    calls: dict[Turn, list[tuple[str, Decimal | None]]] = {}
    asked = answered.filter(step__in=judged_steps).order_by("id")
    for *turn, uid, cost in asked.values_list(*turn_fields, "call__uid", "call__cost"):
        calls.setdefault(tuple(turn), []).append((uid, cost))
    needed = answered.filter(step__in=needed_by_judge(suite)[-1:])
    judged_calls = {tuple(turn): uid for *turn, uid in needed.values_list(*turn_fields, "call__uid")}
    items = answered.filter(step=judged_at(run), repaired__isnull=False)
    items = items.order_by("entrant__position", "sample__position", "repetition")
    fields = ("entrant__name", "sample__key", "sample__number", "sample__category", "repaired")
    for entrant, sample, repetition, name, key, number, category, repaired in items.values_list(*turn_fields, *fields):
        turn = entrant, sample, repetition
        predicted, gold = suite.judge.kept(repaired)
        made = calls.get(turn, [])
        costs = [cost for _, cost in made]
        yield StoryJudgement(
            version, run.uid, name, key, number, category, repetition, judged_calls.get(turn, ""),
            tuple(predicted), tuple(gold), tuple(uid for uid, _ in made),
            None if None in costs else sum(filter(None, costs), Decimal(0)),
        )  # fmt: skip


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


def judged_in(studies: Sequence[AlignmentStudy], runs: Sequence[Run]) -> set[tuple[int, int]]:
    """Return (study, run) by id of each run of one project that judged, beside the same version of gold, an answer that
    tables of the study were made from. Two statements, however many there are."""
    if not runs or not studies:
        return set()
    uids = {uid for study in studies for uid in study.came_of.runs}
    origins = {run.uid: run for run in Run.objects.filter(project=runs[0].project_id, uid__in=uids)}
    made_from = {study.pk: [origins[uid] for uid in study.came_of.runs if uid in origins] for study in studies}
    shared_answers: dict[str, Exists] = {}
    for pk, origin in made_from.items():
        # an answer of these runs, on the same version of gold, at the step that their judge reads first
        steps = {step for run in origin for step in needed_by_judge(suite_named(run.suite))[:1]}
        answers = RunItem.objects.filter(entrant__run__in=origin, step__in=steps, call__isnull=False).values("call")
        gold = {run.dataset_id for run in origin}
        own = RunItem.objects.filter(entrant__run=OuterRef("pk"), entrant__run__dataset__in=gold)
        shared_answers[f"study_{pk}"] = Exists(own.filter(step__in=steps, call__in=answers))
    judged = Run.objects.filter(pk__in=[run.pk for run in runs]).annotate(**shared_answers)
    return {
        (pk, run)
        for run, *shares in judged.values_list("pk", *shared_answers)
        for pk, shared in zip(made_from, shares, strict=True)
        if shared
    }
