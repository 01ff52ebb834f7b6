"""The leaderboard of a dataset version: which runs are on it, over which stories, and what an address or a command left open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.models import Project
from benchmark.models import Dataset, Form, Run
from benchmark.services.absences import absences, apart, is_absent
from benchmark.services.conditions import FIELDS, named, ranked_together
from benchmark.services.leaderboards import Entry, entries_of, label, newest, standing
from benchmark.services.reports import reports_of
from benchmark.services.selections import Selection, selection_named, selections_of
from benchmark.suites.registry import keys_of, suites
from workers.models import JobState


def finished_runs(dataset: Dataset, form: str, suite: str = "") -> list[Run]:
    """Those of one suite, newest first, their entrants loaded; without a name of the suite that `suite_to_show` chooses."""
    suite = suite or suite_to_show(dataset)
    held = Run.objects.filter(dataset=dataset, suite=suite, form=form, job__state=JobState.FINISHED)
    return list(held.select_related("judge", "project", "dataset", "source", "job").prefetch_related("entrants"))


def board(
    dataset: Dataset,
    form: str,
    key: str | None,
    *,
    suite: str = "",
    all_runs: bool = False,
    asked: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """{selections, chosen, stages: {stage: (entries, shared settings)}, rankings: {stage: Ranking}, conditions, runs, fitting, failed, absent}.

    Of one suite, as `finished_runs`. `key` names a selection; an unknown one is the largest. `asked` names conditions of the rankings, `conditions` has all that there are, by
    field. `fitting` runs have figures of its stories, `failed` ones would have; `absent` are models that the
    rankings do not have, with the reason.
    """
    suite = suite or suite_to_show(dataset)
    runs = finished_runs(dataset, form, suite)
    reports = reports_of(runs)
    selections = selections_of(dataset, reports, runs)
    chosen = _chosen(dataset, selections, key)
    fitting = [run for run in runs if chosen and chosen.stories <= set(reports[run.pk]["numbers"])]
    everybody, absent = {}, []
    for stage in keys_of(suite):
        entries = entries_of(fitting, reports, stage)
        absent += absences(stage, [one for one in entries if is_absent(one)])
        entries = [
            one for one in entries if not is_absent(one)
        ]  # before the newest is chosen: an earlier run has figures
        everybody[stage] = entries if all_runs else newest(entries)
        named(everybody[stage])
    known = {field: _names(everybody.values(), field) for field in FIELDS}
    stages, rankings = {}, {}
    for stage, entries in everybody.items():
        together, rankings[stage] = ranked_together(entries, asked or {}, known)
        common = label(together)
        stages[stage] = (standing(together, stage, chosen), common)
        absent += apart(stage, rankings[stage])
    return {
        "selections": selections,
        "chosen": chosen,
        "stages": stages,
        "rankings": rankings,
        "conditions": known,
        "runs": runs,
        "fitting": [run for run in fitting if not run.job.has_failed],
        "failed": [run for run in fitting if run.job.has_failed],
        "absent": absent,
    }


def _names(stages: Iterable[Sequence[Entry]], field: str) -> list[str]:
    """All names of a condition."""
    return sorted({name for entries in stages for one in entries if (name := one["within"][field])})


def _chosen(dataset: Dataset, selections: Sequence[Selection], key: str | None) -> Selection | None:
    """The selection of that name, or the one with the same stories: a run may be about a split."""
    if key and key not in {one.key for one in selections}:
        named = selection_named(dataset, key)
        key = next((one.key for one in selections if named and one.stories == named.stories), None)
    return next((one for one in selections if one.key == key), selections[0] if selections else None)


def version_to_show(project: Project) -> Dataset | None:
    """The newest version that has a run, or the newest one; None without any."""
    used = Dataset.objects.filter(project=project, runs__isnull=False).order_by("-version").first()
    return used or Dataset.objects.filter(project=project).order_by("-version").first()


def form_to_show(dataset: Dataset) -> Form:
    """Free text, unless the version has structured runs alone."""
    forms = set(Run.objects.filter(dataset=dataset).values_list("form", flat=True))
    return Form.STRUCTURED if forms == {Form.STRUCTURED} else Form.TEXT


def suite_to_show(dataset: Dataset) -> str:
    """The suite of the newest run on the version, or the first that there is."""
    newest = Run.objects.filter(dataset=dataset, suite__in=suites()).order_by("-id").values_list("suite", flat=True)
    return newest.first() or next(iter(suites()))
