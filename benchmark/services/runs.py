"""Launching runs, extending them, and judging an earlier run's answers anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction

from annotation.models import User
from annotation.services import audit
from benchmark.controls.chosen import CONTROLS
from benchmark.domain.provenance import DatasetVersion, ExamplesUsed, Provenance
from benchmark.models import DatasetSample, Run, RunItem
from benchmark.services import preparing
from benchmark.services.archiving import locked_run
from benchmark.services.asking import reads_prompts
from benchmark.services.controlled_plans import asked_under, budget_of_each, under_controls
from benchmark.services.entering import enter, enter_models
from benchmark.services.in_context import examples_used
from benchmark.services.judge_tests import ensure_test
from benchmark.services.plan_checks import can_be_lean, check, check_all_but_samples
from benchmark.services.plans import HANDLER, Plan, RunRefused, own_steps, prompt_hashes, title_of
from benchmark.services.provenance import spec_of, versions
from benchmark.services.stored_plans import draft_of, plan_of
from benchmark.services.taken_over import nothing_to_judge
from benchmark.suites.guarding import SuiteFailed
from benchmark.suites.registry import suite_named
from core.messages import Sentence, gettext_noop, sentences
from workers.services.jobs import JobRefused, open_job

LAUNCH = "launch"
"""The entry of a run's `spec` that those of one launch have in common."""
EXTENDED, READ_AGAIN, FOLLOWED_UP = "extended", gettext_noop("read again"), gettext_noop("followed up")
"""The kinds of entries in a run's `spec.later`."""
BESIDE = gettext_noop(
    "This run stands beside {of} as its control: what is done to that one is done to its controls too."
)


def start_run(*, by: User | None, plan: Plan, now: datetime, stories: Sequence[DatasetSample] = ()) -> Run:
    """A run that works, on `stories` of the dataset where given, else on those that the plan selects, with one beside
    it for each control of the plan. Raises RunRefused; then nothing was made."""
    stories = stories or check(plan, lean=True)
    try:
        with transaction.atomic():
            run = _start(by, replace(plan, controls=(), budget=budget_of_each(plan)), stories, now)
            _start_controls(by, run, replace(plan, title=run.title), stories, now)
            return run
    except JobRefused as error:
        raise RunRefused(str(error), "batch" if plan.batch else "endpoints") from error
    except SuiteFailed as error:
        raise RunRefused(str(error)) from error


@transaction.atomic
def start_runs(*, by: User | None, plans: Sequence[Plan], now: datetime) -> list[Run]:
    """Start a run of each plan, as `start_run` does, with the controls of each; several know of each other as one
    launch. Raises RunRefused; then nothing was made."""
    started = [start_run(by=by, plan=plan, now=now) for plan in plans]
    for run in started if started[1:] else ():
        run.spec = replace(run.provenance, launch=started[0].uid).as_json()
        run.save(update_fields=["spec"])
    return started


def _start_controls(
    by: User | None, run: Run, plan: Plan, stories: Sequence[DatasetSample], now: datetime
) -> list[Run]:
    """Start the runs beside this one, under each control of the plan that has something to ask."""
    if len(stories) > preparing.LOOKED_AT and can_be_lean(plan.definition) and plan.source is None:
        asked = [asked_under(plan, name) for name in plan.controls]
        return [
            _start(by, replace(under, original=run), stories, now, looks=True) for under in asked if under.endpoints
        ]
    return [
        _start(by, replace(under.plan, original=run), under.samples, now)
        for under in under_controls(plan, stories)
        if under.plan
    ]


def add_controls(*, by: User | None, run: Run, controls: Sequence[str], now: datetime) -> list[Run]:
    """Ask everything that a run has asked once more under controls that it has not, each with a budget as the run's
    own. Raises RunRefused; then nothing was made."""
    plan, stories = controls_of_run(run, controls)
    try:
        with transaction.atomic():
            started = _start_controls(by, locked_run(run, changed=True), plan, stories, now)
    except JobRefused as error:
        raise RunRefused(str(error), "endpoints") from error
    if not started:
        raise RunRefused(
            sentences(*(note for under in under_controls(plan, stories) for note in under.notes)), "controls"
        )
    return started


def controls_of_run(run: Run, controls: Sequence[str]) -> tuple[Plan, list[DatasetSample]]:
    """Return the plan of these controls of a run that is there, and all its samples. Raises RunRefused."""
    if run.control:
        raise RunRefused(BESIDE.format(of=run.original))
    plan = plan_of(run)
    if there := [name for name in controls if name in plan.controls]:
        raise RunRefused(
            Sentence("The run has the control “{controls}” already.", controls=CONTROLS[there[0]].title), "controls"
        )
    if not controls:
        raise RunRefused(gettext_noop("Tick at least one control."), "controls")
    budget = run.parameters.budget
    total = None if budget is None else budget * (1 + len(controls))
    asked = replace(plan, controls=controls, budget=total)
    return asked, _stories_again(asked, run)


def _start(by: User | None, plan: Plan, stories: Sequence[DatasetSample], now: datetime, *, looks: bool = False) -> Run:
    """Start one run about these samples. A worker makes its items where they are many, or where it `looks` which
    samples its control changes."""
    if plan.source:
        locked_run(plan.source)
    project = plan.dataset.project
    title = title_of(plan)
    endpoints = [*plan.endpoints, *([plan.judge] if plan.judge else [])]
    later = looks or preparing.is_large(plan, len(stories))
    job = open_job(
        by=by.username if by else "", handler=HANDLER, title=title, endpoints=endpoints,
        params={"project": project.slug}, budget=plan.budget, batch=plan.batch, preparing=later,
    )  # fmt: skip
    run = draft_of(plan, stories)
    run.title, run.source, run.job, run.created_by = title, plan.source, job, by
    run.spec = _provenance(plan, run, stories).as_json()
    run.save()
    if later:
        enter_models(run, plan.endpoints)
        preparing.begin(run, stories, looks=looks)
    else:
        enter(run, plan, plan.endpoints, stories, now)
        if not job.items.exists():  # a job without items would never end
            raise RunRefused(nothing_to_judge(plan.definition), "source")
    if plan.self_test and plan.judges:
        ensure_test(by=by, run=run, now=now)
    details = {
        "models": [endpoint.name for endpoint in plan.endpoints],
        "steps": list(plan.steps),
        "stories": len(stories),
    }
    audit.record(by=by, project=project, action="run.started", target=run.uid, **details)
    return run


def _provenance(plan: Plan, run: Run, stories: Sequence[DatasetSample]) -> Provenance:
    """Everything that made the run besides what its rows say, with the endpoints as they are now."""
    return Provenance(
        dataset=DatasetVersion(version=plan.dataset.version, digest=plan.dataset.digest),
        prompts=prompt_hashes(plan),
        examples=examples_of(plan, run, stories),
        judge=spec_of(plan.judge) if plan.judge else None,
        made_by=versions(),
    )


def examples_of(plan: Plan, run: Run, stories: Sequence[DatasetSample]) -> list[ExamplesUsed]:
    """Return `examples_used`; for answers that were taken over, what their run recorded."""
    taken = plan.source.provenance.examples if plan.source else ()
    return [
        *(row for row in taken if row.step in plan.judged_anew),
        *examples_used(run, _prompted_steps(plan), stories),
    ]


def _prompted_steps(plan: Plan) -> list[str]:
    """The steps at which somebody reads a prompt: a baseline does not."""
    models = [endpoint for endpoint in plan.endpoints if reads_prompts(endpoint)]
    read = {step for endpoint in models for step in own_steps(plan, endpoint)}
    judged = reads_prompts(plan.judge)
    return [step for step in plan.steps if (judged if plan.definition.step(step).judged else step in read)]


IMPORTED = gettext_noop(
    "The answers of this run were imported: nothing is asked of its model here. Import further answers as another run."
)


def check_asks(run: Run) -> None:
    """Raise RunRefused for a run whose answers were made elsewhere."""
    if run.imported:
        raise RunRefused(IMPORTED)


@transaction.atomic
def run_again(*, by: User | None, run: Run, now: datetime) -> Run:
    """Launch the run once more, on all stories that it has by now. Answers that the ledger has are not asked for again.
    Raises RunRefused."""
    locked_run(run)
    plan, stories = again_of(run)
    return start_run(by=by, plan=plan, now=now, stories=stories)


def again_of(run: Run) -> tuple[Plan, list[DatasetSample]]:
    """Return the plan and the stories of a repeated run, with its controls. Raises RunRefused where it can no longer be
    launched."""
    if run.control:
        raise RunRefused(BESIDE.format(of=run.original))
    check_asks(run)
    plan = plan_of(run)
    return plan, _stories_again(plan, run)


def _stories_again(plan: Plan, run: Run) -> list[DatasetSample]:
    """Return the samples that a run asks about, for a plan of it to ask about them again. Raises RunRefused."""
    if plan.source is None:
        check_all_but_samples(plan)
    else:  # the answers that are judged may be gone
        check(plan, lean=True)
    return stories_of(run)


def stories_of(run: Run) -> list[DatasetSample]:
    """Return the samples that a run asks about, lean where they can be."""
    samples, positions = DatasetSample.objects.all(), preparing.to_prepare(run)
    if positions is None:
        samples = samples.filter(pk__in=RunItem.objects.filter(entrant__run=run).values("sample"))
    else:
        samples = samples.filter(dataset=run.dataset_id, position__in=positions)
    return list(samples.lean() if can_be_lean(suite_named(run.suite)) else samples)
