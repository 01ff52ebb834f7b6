"""Calibration for the pages, tables and checks of runs (`benchmark.services.calibration`)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from annotation.models import Project, User
from benchmark.models import Dataset, Run
from benchmark.services import calibration as seam
from benchmark.services.judge_versions import judged_at, version_failure, version_of
from core.messages import Sentence, listed
from judge.models import AlignmentStudy, AnchorWatch
from judge.services import corrections, judgements
from judge.services.calibration import reports_of
from judge.services.calibration_tables import rows_by_level
from judge.services.judgements import judged_in
from judge.services.open_work import samples_with_open_work, unfinished_in
from judge.services.sample import add_alignment, add_watch


def register_calibration() -> None:
    """Have pages, tables and checks of runs call the functions of this app."""
    calibration = seam.calibration
    calibration.of_run, calibration.of_ranking = corrections.corrections_of, corrections.corrections_in
    calibration.of_pair, calibration.differences = corrections.corrected_comparison, corrections.corrected_pairs
    calibration.links, calibration.still_aligns = judgements.calibrations_of, judgements.still_aligns
    calibration.study_of, calibration.chosen_versions = _study_of, _chosen_versions
    calibration.by_level, calibration.rests_on = _by_level, _rests_on
    calibration.unfinished, calibration.open_samples = unfinished_in, samples_with_open_work
    calibration.fill_sample = _fill_sample


def _study_of(runs: Sequence[Run]) -> str:
    uids = {run.uid for run in runs}
    studies = AlignmentStudy.objects.filter(project=runs[0].project_id).without_frame()
    return next((study.uid for study in studies if uids.intersection(study.came_of.runs)), "")


def _chosen_versions(dataset: Dataset) -> list[str]:
    studies = AlignmentStudy.objects.filter(project=dataset.project_id).exclude(judge_version="")
    rows = studies.order_by("-judge_chosen_at").values_list("judge_version", "origin")
    return [version for version, _ in sorted(rows, key=lambda row: row[1].get("dataset") != dataset.version)]


def _by_level(run: Run, reader: User) -> tuple[seam.Levels, str]:
    for study in judgements.calibrated_studies(run, reader):
        kept = reports_of(study)
        if by_judge := rows_by_level(kept):
            return by_judge, kept.highest
    return {}, ""


def _fill_sample(project: Project, run: Run, watched: Run | None, now: datetime) -> None:
    with transaction.atomic():
        if not project.alignment_studies.exists():
            add_alignment(project, run, now)
    if watched:
        add_watch(project, watched, now)


def _rests_on(runs: Sequence[Run]) -> str:
    """Name what rests on one of these runs: watches that ask what it asked, judge its answers, or have it as a repeat,
    which is compared with the first ones; studies of alignment whose tables are its answers; or studies that chose its
    judge."""
    project, uids = runs[0].project_id, {run.uid for run in runs}
    repeats = Q(repeats__run__in=runs) | Q(repeats__run__source__in=runs)
    watches = AnchorWatch.objects.filter(Q(run__in=runs) | repeats).distinct()
    names = [f"“{watch.asked.name}”" for watch in watches.select_related("asked")[:4]]
    if len(names) > 1:
        return Sentence("The watches of {named} rest on this run; archive it instead.", named=_first_three(names))
    if names:
        return Sentence("The watch of {names} rests on this run; archive it instead.", names=names[0])
    studies = AlignmentStudy.objects.filter(project=project).without_frame().order_by("pk")
    if titles := [f"“{study.name}”" for study in studies if uids & set(study.came_of.runs)]:
        return Sentence("People align tables of this run in {named}; archive it instead.", named=_first_three(titles))
    versions = {run.pk: version_of(run) for run in runs if judged_at(run) and not version_failure(run)}
    chosen = list(studies.filter(judge_version__in=set(versions.values()))) if versions else []
    judged = judged_in(chosen, [run for run in runs if run.pk in versions])
    of_runs = [
        study
        for study in chosen
        if any((study.pk, pk) in judged and version == study.judge_version for pk, version in versions.items())
    ]
    if not of_runs:
        return ""
    text = "Its judge, {judge_name}, was chosen in {titles}; archive it instead."
    titles = [f"“{study.name}”" for study in of_runs]
    return Sentence(text, judge_name=of_runs[0].judge_name, titles=_first_three(titles))


def _first_three(names: Sequence[str]) -> str:
    return listed(names[:3]) + (" …" if len(names) > 3 else "")
