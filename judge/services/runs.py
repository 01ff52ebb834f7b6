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
    return _watching(runs) or _aligned(runs) or _chosen_judge(runs)


def _watching(runs: Sequence[Run]) -> str:
    """Name the watches that ask what one of these runs asked, judge its answers, or have it as a repeat: each repeat is
    compared with the first ones, and the chart goes on from one to the next."""
    repeats = Q(repeats__run__in=runs) | Q(repeats__run__source__in=runs)
    watches = AnchorWatch.objects.filter(Q(run__in=runs) | repeats).distinct()
    names = [f"“{watch.asked.name}”" for watch in watches.select_related("asked")[:4]]
    if len(names) > 1:
        return Sentence("The watches of {named} rest on this run; archive it instead.", named=_first_three(names))
    return Sentence("The watch of {names} rests on this run; archive it instead.", names=names[0]) if names else ""


def _aligned(runs: Sequence[Run]) -> str:
    """Name the studies of alignment whose tables are of one of these runs: judges are calibrated by its items."""
    uids = {run.uid for run in runs}
    studies = AlignmentStudy.objects.filter(project=runs[0].project_id).without_frame().order_by("pk")
    titles = [f"“{study.name}”" for study in studies if uids & set(study.came_of.runs)]
    if not titles:
        return ""
    named = _first_three(titles)
    return Sentence("People align tables of this run in {named}; archive it instead.", named=named)


def _chosen_judge(runs: Sequence[Run]) -> str:
    versions = {run.pk: version_of(run) for run in runs if judged_at(run) and not version_failure(run)}
    studies = AlignmentStudy.objects.filter(project=runs[0].project_id, judge_version__in=set(versions.values()))
    chosen = list(studies.without_frame().order_by("pk")) if versions else []
    judged = judged_in(chosen, [run for run in runs if run.pk in versions])
    named = [study for study in chosen if any((study.pk, pk) in judged for pk, version in versions.items()
                                              if version == study.judge_version)]  # fmt: skip
    if not named:
        return ""
    return Sentence(
        "Its judge, {judge_name}, was chosen in {titles}; archive it instead.",
        judge_name=named[0].judge_name,
        titles=_first_three([f"“{study.name}”" for study in named]),
    )


def _first_three(names: Sequence[str]) -> str:
    return listed(names[:3]) + (" …" if len(names) > 3 else "")
