"""Links to the calibration reports on the judge of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from annotation.models import User
from benchmark.models import Run, RunItem
from benchmark.services.judge_versions import judge_name
from benchmark.services.judgements import versions_of
from benchmark.services.run_items import needed_by_judge
from benchmark.suites.registry import suite_named
from judge.models import Alignment, AlignmentStudy


@dataclass(frozen=True, slots=True)
class CalibrationLink:
    """The report of one version of a judge over a study."""

    study: AlignmentStudy
    version: str
    judge: str


def calibrations_of(runs: Sequence[Run], reader: User) -> list[CalibrationLink]:
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
        CalibrationLink(study, version, judge_name(judged[0]))
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


def study_drawn_from(runs: Sequence[Run]) -> AlignmentStudy | None:
    """Return the newest study of tables of these runs of one project; None where there is none."""
    uids = {run.uid for run in runs}
    studies = AlignmentStudy.objects.filter(project=runs[0].project_id).without_frame()
    return next((study for study in studies if uids.intersection(study.came_of.runs)), None)


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
