"""Results in the sample project: gold published, a finished run of baselines and scripted models, a snapshot and
comparison of it, and tables of it that people aligned with gold."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.domain.scripted_readers import FURTHER_READERS, READERS
from annotation.models import Project
from annotation.services.sample import note_completed
from benchmark.models import Audience, Dataset, ResultsVisibility, Run
from benchmark.services.calibration import calibration
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.datasets import publish_version
from benchmark.services.launches import judging_plans, planned, start_run, start_runs, suite_of_version
from benchmark.services.plans import Plan, plans_of_sweep
from benchmark.services.snapshots import save_comparison_snapshot, save_run_snapshot
from benchmark.services.visibility import set_audience
from benchmark.services.warm import warm
from benchmark.suites.registry import suite_named
from core.messages import gettext_noop
from workers.models import Endpoint, JobState
from workers.services.run_to_end import run_to_end

TITLE = gettext_noop("Baselines and scripted models")
FURTHER_TITLE = gettext_noop("Scripted models of other families")
SWEEP_TITLE = gettext_noop("Prompt levels")
ANEW_TITLE = gettext_noop("Judged anew")
NOTE = gettext_noop("The sample as it is loaded.")
BASELINES = ("omniscient", "majority", "random")
JUDGE, OTHER_JUDGES = "lexical-judge", ("sample-steady", "sample-hasty")
"""Judge of the run, and those who judge its answers anew; the last of them is watched."""
SWEPT, SWEPT_SPLIT, LEVELS = ("sample-careful", "sample-literal"), "calibration", (1, 3)
COMPARED = ("sample-hasty", "sample-literal")


def add_results(project: Project) -> None:
    """Publish the sample's gold, see its runs through and keep the report of the first. What is there already is gone
    on with, so that it can be called again after it was broken off."""
    run = project.runs.filter(title=TITLE).first() or _start(project)
    if not _is_finished(run):
        return note_completed(project)
    further = _further_runs(project, run)
    warm(run)
    with transaction.atomic():
        if not run.snapshots.exists():
            save_run_snapshot(by=None, run=run)
            # how two scripted models that are near each other compare where people are compared, too
            keys = [f"{run.uid}.{run.entrants.get(name=name).pk}" for name in COMPARED]
            runs, pair_by_group = pair_of(project, *keys)
            group = suite_named(run.suite).gold.people
            comparison = compare(pair_by_group[group], group, "repaired")
            save_comparison_snapshot(by=None, project=project, runs=runs, keys=keys, comparison=comparison)
        if not ResultsVisibility.objects.filter(project=project).exists():
            set_audience(by=None, project=project, audience=Audience.EXPERTS)  # who look at doubtful gold again
    watched = next((each for each in further if each.judge and each.judge.name == OTHER_JUDGES[-1]), None)
    calibration.fill_sample(project, run, watched, timezone.now())
    note_completed(project)


def _is_finished(run: Run) -> bool:
    """See a run through; False where somebody paused or cancelled it, which is theirs to decide."""
    run_to_end(job=run.job)
    return run.job.state == JobState.FINISHED


@transaction.atomic
def _start(project: Project) -> Run:
    dataset, _ = publish_version(by=None, project=project, note=NOTE)
    names = [*(reader.name for reader in READERS), *BASELINES]
    return start_run(by=None, plan=_plan(dataset, names, TITLE), now=timezone.now())


def _plan(dataset: Dataset, names: Sequence[str], title: str, **asked: Any) -> Plan:
    by_name = _endpoints([*names, JUDGE])
    suite, endpoints = suite_of_version(dataset.project, str(dataset.version)), [by_name[name] for name in names]
    return planned(suite, {"title": title, **asked}, dataset=dataset, endpoints=endpoints, judge=by_name[JUDGE])


def _endpoints(names: Sequence[str]) -> dict[str, Endpoint]:
    return {endpoint.name: endpoint for endpoint in Endpoint.objects.filter(name__in=names)}


def _further_runs(project: Project, run: Run) -> list[Run]:
    """Return the runs beside the first that are finished: models of other families, prompt levels, and the answers of
    the first judged anew, in this order."""
    dataset, names = run.dataset, [reader.name for reader in FURTHER_READERS]
    judges = _endpoints(OTHER_JUDGES)
    settings = {setting.name: setting.default for setting in suite_named(run.suite).judging_settings}
    launches: dict[str, Callable[[], Sequence[Plan]]] = {
        FURTHER_TITLE: lambda: [_plan(dataset, names, FURTHER_TITLE)],
        SWEEP_TITLE: lambda: plans_of_sweep(
            [_plan(dataset, SWEPT, SWEEP_TITLE, split=SWEPT_SPLIT)], {"levels": LEVELS}
        ),
        ANEW_TITLE: lambda: judging_plans(
            run, judges=[judges[name] for name in OTHER_JUDGES], options=settings, title=ANEW_TITLE
        ),
    }
    runs: list[Run] = []
    for title, plans in launches.items():  # the titles of the runs of a launch begin with its own
        there = list(project.runs.filter(title__startswith=title).order_by("pk"))
        runs += there or start_runs(by=None, plans=plans(), now=timezone.now())
    return [each for each in runs if _is_finished(each)]
