"""Adding models or samples to a run that is there, and to the controls beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.models import User
from annotation.services import audit
from benchmark.domain.provenance import LaterChange
from benchmark.models import DatasetSample, Run, RunItem
from benchmark.services import preparing
from benchmark.services.archiving import locked_run
from benchmark.services.launches import EXTENDED, check_asks, examples_of, stories_of
from benchmark.services.plan_checks import check_endpoints
from benchmark.services.plans import Plan, RunRefused, calibration_of, own_steps, plan_of, under_control
from benchmark.services.provenance import spec_of, versions
from benchmark.services.run_items import add_run_items, enter, enter_models
from core.messages import word
from workers.models import EXTENDABLE, Endpoint, Job, JobState
from workers.services.delivery import reopen_job


@dataclass(frozen=True, slots=True)
class Extension:
    """A run as extended: the plan of its launch, new models, new samples, and all samples."""

    plan: Plan
    added: list[Endpoint]
    fresh: list[DatasetSample]
    stories: list[DatasetSample]


@transaction.atomic
def extend_run(
    *,
    by: User | None,
    run: Run,
    endpoints: Sequence[Endpoint] = (),
    stories: Sequence[DatasetSample] = (),
    now: datetime,
) -> int:
    """Add models, or samples of its dataset, to a run and its controls; returns the number of new items. Raises
    RunRefused."""
    job = run.job = Job.objects.select_for_update().get(pk=run.job_id)
    locked_run(run, changed=True)
    run.refresh_from_db(fields=["params", "spec"])  # another may have extended it meanwhile
    more = extension_of(run, endpoints, stories)
    if job.state == JobState.CANCELLED:
        raise RunRefused("The run was cancelled; run it again instead.")
    added = _extend(by, run, more, now)
    for control in Run.objects.extended_with(run).select_related("job", "project", "dataset", "judge"):
        control.job = Job.objects.select_for_update().get(pk=control.job_id)
        if here := extension_under(control, more):
            added += _extend(by, control, here, now)
    if not added:
        raise RunRefused("These models and {noun} are all in the run already.", noun=word(more.plan.definition.noun[1]))
    return added


def extension_of(run: Run, endpoints: Sequence[Endpoint], stories: Sequence[DatasetSample]) -> Extension:
    """Return the run as extended. Raises RunRefused if these models cannot join it, or a sample is an example in its
    prompts."""
    check_asks(run)
    if preparing.to_prepare(run) is not None or run.controls.filter(job__state=JobState.PREPARING).exists():
        raise RunRefused("The questions of the run are not all there yet; extend it once they are, or run it again.")
    plan, here = plan_of(run), stories_of(run)
    there, models = {story.pk for story in here}, {endpoint.pk for endpoint in plan.endpoints}
    fresh = [story for story in stories if story.pk not in there]
    added = [endpoint for endpoint in endpoints if endpoint.pk not in models]
    for endpoint in added:
        if not endpoint.active:
            raise RunRefused("The endpoint {endpoint} is switched off.", "endpoints", endpoint=endpoint.name)
        if not own_steps(plan, endpoint):
            raise RunRefused("{endpoint} can do none of the run's steps.", "endpoints", endpoint=endpoint.name)
    check_endpoints(replace(plan, endpoints=added))
    suite, serving = plan.definition, set(run.parameters.example_stories or ())
    examples = sorted({story.number for story in fresh} & serving)
    if examples and suite.asking.prompting:
        raise RunRefused(
            "{noun} {examples} serves this run's prompts as an example, so that it cannot be asked too; "
            "leave the split {split} out.", "split",
            noun=suite.noun[0].capitalize(), examples=examples[0], split=suite.asking.prompting.split,
        )  # fmt: skip
    return Extension(plan, added, fresh, sorted([*here, *fresh], key=lambda story: story.position))


def extension_under(control: Run, more: Extension) -> Extension | None:
    """Return a run under a control as extended like its original, or None if nothing is added to it."""
    plan = plan_of(control)
    _, fresh, _ = under_control(more.plan, control.control, more.fresh)
    added = [endpoint for endpoint in more.added if own_steps(plan, endpoint)]
    if not (added or fresh):
        return None
    stories = sorted([*stories_of(control), *fresh], key=lambda story: story.position)
    return Extension(plan, added, fresh, stories)


def _extend(by: User | None, run: Run, more: Extension, now: datetime) -> int:
    added = _add_items(run, more, now)
    if not added:
        return 0
    examples = calibration_of(more.plan, more.stories) if more.plan.definition.asking.prompting else None
    run.params = run.parameters.about(len(more.stories), examples).as_json()
    everybody = replace(more.plan, endpoints=[*more.plan.endpoints, *more.added])
    names = [endpoint.name for endpoint in more.added]
    asked: list[Any] = [(each.name, each.asked_as, each.endpoint) for each in run.entrants.select_related("endpoint")]
    asked += [(run.judge.name, run.provenance.judge, run.judge)] if run.judge else []
    change = LaterChange(
        did=EXTENDED,
        at=now.isoformat(),
        models=names,
        stories=len(more.fresh),
        settings=[name for name, spec, endpoint in asked if spec != spec_of(endpoint)],
        by=versions(),
    )
    provenance = run.provenance.with_examples(examples_of(everybody, run, more.stories))
    run.spec = provenance.with_later(change).as_json()
    run.save(update_fields=["params", "spec"])
    details = {"models": names, "stories": len(more.fresh)}
    audit.record(by=by, project=run.project, action="run.extended", target=run.uid, **details)
    return added


def _add_items(run: Run, more: Extension, now: datetime) -> int:
    """Make the new items, or leave them to a worker if they are many and depend on no other run; returns their number.
    A paused run stays paused, so that its items are made here."""
    pairs = [(entrant.endpoint, more.fresh) for entrant in run.entrants.select_related("endpoint")]
    pairs += [(endpoint, more.stories) for endpoint in more.added]
    first = 0  # questions that depend on no earlier answer
    for endpoint, stories in pairs:
        steps = own_steps(more.plan, endpoint)
        first += len(stories) * sum(not more.plan.definition.needed(step, steps) for step in steps)
    first *= more.plan.repetitions
    if run.job.state in EXTENDABLE and more.plan.source is None and first > preparing.AT_ONCE:
        enter_models(run, more.added)
        preparing.extend(run, more.stories)
        return first
    before = RunItem.objects.filter(entrant__run=run).count()
    reopen_job(run.job_id)
    run.job.refresh_from_db()
    for entrant in run.entrants.select_related("endpoint") if more.fresh else []:
        add_run_items(run, entrant, own_steps(more.plan, entrant.endpoint), more.fresh, now)
    enter(run, more.plan, more.added, more.stories, now)
    return RunItem.objects.filter(entrant__run=run).count() - before
