"""Calibration for the pages, tables and checks of runs (`benchmark.services.calibration`)."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from annotation.models import Project, User
from benchmark.models import Dataset, Run
from benchmark.services import calibration as seam
from benchmark.services.judges import judged_at, version_failure, version_of
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
    which is compared with the first ones; studies of alignment whose tables are its answers, or that chose its
    judge."""
    uids = {run.uid for run in runs}
    repeats = Q(repeats__run__in=runs) | Q(repeats__run__source__in=runs)
    watches = AnchorWatch.objects.filter(Q(run__in=runs) | repeats).distinct().select_related("asked")
    versions = {run.pk: version_of(run) for run in runs if judged_at(run) and not version_failure(run)}
    studies = list(AlignmentStudy.objects.filter(project=runs[0].project_id).without_frame().order_by("pk"))
    chosen = [study for study in studies if study.judge_version in versions.values()]
    judged = judged_in(chosen, [run for run in runs if run.pk in versions])
    judged_by = {(study, versions[run]) for study, run in judged}
    chosen = [study for study in chosen if (study.pk, study.judge_version) in judged_by]
    names = [watch.asked.name for watch in watches]
    names += [study.name for study in studies if study in chosen or uids & set(study.came_of.runs)]
    named = listed(f"“{name}”" for name in names)
    return Sentence("Watches or studies rest on this run: {named}. Archive it instead.", named=named) if names else ""
