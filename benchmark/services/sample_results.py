"""What the sample project shows of evaluation: gold frozen, a finished run of baselines and scripted models, a kept
report and comparison of it, and tables of it that people aligned with gold."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from annotation.domain.scripted_readers import READERS
from annotation.models import Project
from annotation.services.sample import note_completed
from benchmark.models import Run
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.datasets import freeze
from benchmark.services.launch_shapes import Launch
from benchmark.services.launching import planned, suite_of_version
from benchmark.services.runs import start_run
from benchmark.services.sample_alignment import add_alignment
from benchmark.services.shared_reports import freeze_comparison, freeze_run
from benchmark.services.warm import warm
from core.language import gettext_noop
from workers.models import Endpoint, JobState
from workers.services.run_to_end import run_to_end

TITLE = gettext_noop("Baselines and scripted models")
NOTE = gettext_noop("The sample as it is loaded.")
BASELINES = ("omniscient", "majority", "random")
JUDGE = "lexical-judge"
COMPARED, COMPARED_AT = ("sample-hasty", "sample-literal"), "stage2"


def add_results(project: Project) -> None:
    """Freeze the sample's gold, see the run through and keep its report. What is there already is gone on with, so that
    it can be called again after it was broken off."""
    run = project.runs.filter(title=TITLE).first() or _start(project)
    run_to_end(job=run.job)
    if run.job.state != JobState.FINISHED:  # somebody paused or cancelled it: theirs to decide
        return note_completed(project)
    warm(run)
    with transaction.atomic():
        if not run.shared_reports.exists():
            freeze_run(by=None, run=run)
            _keep_comparison(project, run)
        if not project.alignment_studies.exists():
            add_alignment(project, run, timezone.now())
        note_completed(project)


def _keep_comparison(project: Project, run: Run) -> None:
    """Keep how two scripted models that are near each other compare at labelling."""
    keys = [f"{run.uid}.{run.entrants.get(name=name).pk}" for name in COMPARED]
    runs, pair_by_group = pair_of(project, *keys)
    comparison = compare(pair_by_group[COMPARED_AT], COMPARED_AT, "repaired")
    freeze_comparison(by=None, project=project, runs=runs, keys=keys, comparison=comparison)


@transaction.atomic
def _start(project: Project) -> Run:
    dataset, _ = freeze(by=None, project=project, note=NOTE)
    names = [*(reader.name for reader in READERS), *BASELINES]
    by_name = {endpoint.name: endpoint for endpoint in Endpoint.objects.filter(name__in=[*names, JUDGE])}
    plan = planned(
        Launch.of({"endpoints": names, "title": TITLE}),
        suite_of_version(project, str(dataset.version)),
        dataset=dataset,
        endpoints=[by_name[name] for name in names],
        judge=by_name[JUDGE],
    )
    return start_run(by=None, plan=plan, now=timezone.now())
