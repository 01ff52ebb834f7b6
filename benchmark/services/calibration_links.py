"""Which calibration reports tell of the judge of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import User
from benchmark.models import Run, RunItem
from benchmark.services.judgements import versions_of
from benchmark.services.taken_over import needed_by_judge
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
    first: none of a study in which the reader still aligns."""
    if not runs:
        return []
    studies = _studies_for(runs[0], reader)
    if not studies:
        return []
    shown, links = {run.pk for run in runs}, []
    versions = versions_of(runs[0].project)
    for study in studies:
        for version, judged in versions.items():
            if shown & {run.pk for run in judged} and _judged_tables_of(study, judged):
                name = (judged[0].spec.get("judge") or {}).get("name") or str(judged[0].judge)
                links.append(CalibrationLink(study, version, name))
    return links


def _studies_for(run: Run, reader: User) -> list[AlignmentStudy]:
    own = Alignment.objects.unfinished().filter(annotator=reader).values("task__study")
    studies = AlignmentStudy.objects.filter(project=run.project_id, tasks__settled__isnull=False)
    return list(studies.exclude(pk__in=own).without_frame().distinct())


def _judged_tables_of(study: AlignmentStudy, judged: Sequence[Run]) -> bool:
    """Return whether one of the runs judged an answer that tables of the study were made from."""
    origin = Run.objects.filter(project=study.project_id, uid__in=study.origin.get("runs", []))
    stages = {stage for run in origin for stage in needed_by_judge(suite_named(run.suite))[:1]}
    made_from = RunItem.objects.filter(entrant__run__in=origin, stage__in=stages, call__isnull=False).values("call")
    return RunItem.objects.filter(entrant__run__in=judged, stage__in=stages, call__in=made_from).exists()
