"""Choices of judges and models that rest on runs, and so keep these from being deleted."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.models import Run, SweepPick
from benchmark.services.calibration_links import judged_in
from benchmark.services.judge_versions import judged_at, version_failure, version_of
from benchmark.suites.registry import suite_named
from core.messages import Sentence, listed, noted
from judge.models import AlignmentStudy


def chosen_by(runs: Sequence[Run]) -> str:
    """Name the choices that rest on one of these runs of a project, which is why it is not deleted; empty where there
    is none."""
    return _chosen_judge(runs) or _chosen_model(runs)


def _chosen_judge(runs: Sequence[Run]) -> str:
    versions = {run.pk: version_of(run) for run in runs if judged_at(run) and not version_failure(run)}
    studies = AlignmentStudy.objects.filter(project=runs[0].project_id, judge_version__in=set(versions.values()))
    chosen = list(studies.without_frame().order_by("pk")) if versions else []
    judged = judged_in(chosen, [run for run in runs if run.pk in versions])
    named = [study for study in chosen if any((study.pk, pk) in judged for pk, version in versions.items()
                                              if version == study.judge_version)]  # fmt: skip
    if not named:
        return ""
    titles = _listed([f"“{study.name}”" for study in named])
    return Sentence(
        "Its judge, {judge_name}, was chosen in {titles}; archive it instead.",
        judge_name=named[0].judge_name,
        titles=titles,
    )


def _chosen_model(runs: Sequence[Run]) -> str:
    picks = list(SweepPick.objects.filter(entrant__run__in=runs).select_related("entrant__run").order_by("pk"))
    if not picks:
        return ""
    titles = {group.key: group.title for group in suite_named(picks[0].entrant.run.suite).groups}
    named = _listed([noted(pick.entrant.name, titles.get(pick.group, pick.group)) for pick in picks])
    return Sentence("Its sweep chose {named}; archive it instead.", named=named)


def _listed(names: Sequence[str]) -> str:
    return listed(names[:3]) + (" …" if len(names) > 3 else "")
