"""Adding models or samples to a run that is there, and to the controls beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction

from annotation.models import User
from annotation.services import audit
from benchmark.domain.provenance import LaterChange
from benchmark.models import DatasetSample, Run, RunItem
from benchmark.services import preparing
from benchmark.services.archiving import locked_run
from benchmark.services.launches import BESIDE, EXTENDED, check_asks, examples_of, stories_of
from benchmark.services.plan_checks import check_addresses, check_answer_formats, check_room
from benchmark.services.plans import Plan, RunRefused, calibration_of, own_steps, plan_of, under_control
from benchmark.services.provenance import spec_of, versions
from benchmark.services.run_items import add_run_items, enter, enter_models
from benchmark.suites.registry import suite_named
from core.messages import Sentence, gettext_noop, word
from workers.models import EXTENDABLE, Endpoint, Job, JobState
from workers.services.delivery import reopen_job


@transaction.atomic
def extend_run(
    *,
    by: User | None,
    run: Run,
    endpoints: Sequence[Endpoint] = (),
    stories: Sequence[DatasetSample] = (),
    now: datetime,
) -> int:
    """Add models, or stories of its dataset, to a run and its controls; what is there stays. Returns how many items are
    new. Raises RunRefused."""
    job = Job.objects.select_for_update().get(pk=run.job_id)
    locked_run(run, changed=True)
    run.refresh_from_db(fields=["params", "spec"])  # another may have extended it meanwhile
    more = extension_of(run, endpoints, stories)
    if job.state == JobState.CANCELLED:
        raise RunRefused(gettext_noop("The run was cancelled; run it again instead."))
    added = _extend(by, run, more, now)
    for control in Run.objects.extended_with(run).select_related("job", "project", "dataset", "judge"):
        added += _extend_control(by, control, more, now)
    if not added:
        raise RunRefused(
            Sentence("These models and {noun} are all in the run already.", noun=word(more.plan.definition.noun[1]))
        )
    return added


def _extend_control(by: User | None, control: Run, more: Extension, now: datetime) -> int:
    """Extend a run under a control as the one beside which it stands; returns how many items are new."""
    Job.objects.select_for_update().get(pk=control.job_id)
    here = extension_under(control, more)
    return _extend(by, control, here, now) if here else 0


def extension_under(control: Run, more: Extension) -> Extension | None:
    """Return what a run under a control becomes where its original becomes `more`; None where nothing is added."""
    plan, there = plan_of(control), stories_of(control)
    fresh = under_control(more.plan, control.control, more.fresh).samples
    added = [endpoint for endpoint in more.added if own_steps(plan, endpoint)]
    stories = sorted([*there, *fresh], key=lambda story: story.position)
    return Extension(plan, added, list(fresh), stories) if added or fresh else None


def _extend(by: User | None, run: Run, more: Extension, now: datetime) -> int:
    added = _enter_later(run, more) if _is_left_to_workers(run, more) else _enter(run, more, now)
    if not added:
        return 0
    examples = calibration_of(more.plan, more.stories) if more.plan.definition.prompting else None
    run.params = run.parameters.about(len(more.stories), examples).as_json()
    everybody = replace(more.plan, endpoints=[*more.plan.endpoints, *more.added])
    change = LaterChange(
        did=EXTENDED,
        at=now.isoformat(),
        models=[endpoint.name for endpoint in more.added],
        stories=len(more.fresh),
        settings=_changed_endpoints(run),
        by=versions(),
    )
    provenance = run.provenance.with_examples(examples_of(everybody, run, more.stories))
    run.spec = provenance.with_later(change).as_json()
    run.save(update_fields=["params", "spec"])
    details = {"models": change.models, "stories": change.stories}
    audit.record(by=by, project=run.project, action="run.extended", target=run.uid, **details)
    return added


def _enter(run: Run, more: Extension, now: datetime) -> int:
    """Make the new items; returns how many they are."""
    before = RunItem.objects.filter(entrant__run=run).count()
    reopen_job(run.job_id)
    run.job.refresh_from_db()
    for entrant in run.entrants.select_related("endpoint") if more.fresh else []:
        add_run_items(run, entrant, own_steps(more.plan, entrant.endpoint), more.fresh, now)
    enter(run, more.plan, more.added, more.stories, now)
    return RunItem.objects.filter(entrant__run=run).count() - before


def _is_left_to_workers(run: Run, more: Extension) -> bool:
    """Return whether workers make the new items: many, which rest on no other run's answers. A paused run stays
    paused, so that its items are made at once."""
    here = Job.objects.get(pk=run.job_id).state in EXTENDABLE
    return here and more.plan.source is None and _first_questions(run, more) > preparing.AT_ONCE


def _enter_later(run: Run, more: Extension) -> int:
    """Enter the new models, and have the workers make the new items; returns how many these are."""
    added = _first_questions(run, more)
    enter_models(run, more.added)
    preparing.extend(run, more.stories)
    return added


def _first_questions(run: Run, more: Extension) -> int:
    """Count the new questions that rest on no earlier answer: those of new models about all samples, and of the others
    about fresh ones."""
    there = [entrant.endpoint for entrant in run.entrants.select_related("endpoint")]
    pairs = [(endpoint, len(more.fresh)) for endpoint in there]
    pairs += [(endpoint, len(more.stories)) for endpoint in more.added]
    return more.plan.repetitions * sum(samples * len(_first_steps(more.plan, endpoint)) for endpoint, samples in pairs)


def _first_steps(plan: Plan, endpoint: Endpoint) -> list[str]:
    steps = own_steps(plan, endpoint)
    return [step for step in steps if not plan.definition.needed(step, steps)]


@dataclass(frozen=True, slots=True)
class Extension:
    """A run as extended: `plan` is that of its launch, `added` and `fresh` are the new models and stories, `stories`
    all stories."""

    plan: Plan
    added: list[Endpoint]
    fresh: list[DatasetSample]
    stories: list[DatasetSample]


def extension_of(run: Run, endpoints: Sequence[Endpoint], stories: Sequence[DatasetSample]) -> Extension:
    """Return what the run becomes. Raises RunRefused where these models cannot join it, or a story is shown in its
    prompts."""
    if run.control:
        raise RunRefused(BESIDE.format(of=run.original))
    check_asks(run)
    if preparing.to_prepare(run) is not None or run.controls.filter(job__state=JobState.PREPARING).exists():
        raise RunRefused(
            gettext_noop("The questions of the run are not all there yet; extend it once they are, or run it again.")
        )
    plan, here = plan_of(run), stories_of(run)
    there, models = {story.pk for story in here}, {endpoint.pk for endpoint in plan.endpoints}
    new_stories = [story for story in stories if story.pk not in there]
    added = [endpoint for endpoint in endpoints if endpoint.pk not in models]
    for endpoint in added:
        if not endpoint.active:
            raise RunRefused(Sentence("The endpoint {endpoint} is switched off.", endpoint=endpoint.name), "endpoints")
        if not own_steps(plan, endpoint):
            raise RunRefused(
                Sentence("{endpoint} can do none of the run's steps.", endpoint=endpoint.name), "endpoints"
            )
    joined = replace(plan, endpoints=added)
    check_answer_formats(joined)
    check_room(joined)
    check_addresses(joined)
    _refuse_shown(run, new_stories)
    return Extension(plan, added, new_stories, sorted([*here, *new_stories], key=lambda story: story.position))


def _refuse_shown(run: Run, new_stories: Sequence[DatasetSample]) -> None:
    """Raise RunRefused where a sample to be asked about serves as an example in the run's prompts."""
    suite, serving = suite_named(run.suite), set(run.parameters.example_stories or ())
    examples = sorted({story.number for story in new_stories} & serving)
    if examples and suite.prompting:
        raise RunRefused(
            Sentence(
                "{noun} {examples} serves this run's prompts as an example, so that it cannot be asked too; "
                "leave the split {split} out.",
                noun=suite.noun[0].capitalize(),
                examples=examples[0],
                split=suite.prompting.split,
            ),
            "split",
        )


def _changed_endpoints(run: Run) -> list[str]:
    """Return the names of the run's endpoints whose settings have changed since its launch."""
    entrants = run.entrants.select_related("endpoint")
    endpoints = [(entrant.name, entrant.asked_as, entrant.endpoint) for entrant in entrants]
    endpoints += [(run.judge.name, run.provenance.judge, run.judge)] if run.judge else []
    return [name for name, spec, endpoint in endpoints if spec != spec_of(endpoint)]
