"""Launching runs, extending them, and judging an earlier run's extractions anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotation.models import User
from annotation.services import audit
from benchmark.controls.chosen import CONTROLS
from benchmark.models import DatasetSample, Entrant, Form, Run, RunItem
from benchmark.services.archiving import standing
from benchmark.services.asking import reads_prompts
from benchmark.services.controlled_plans import budget_of_each, under_control, under_controls
from benchmark.services.in_context import calibration_of, examples_used
from benchmark.services.judge_tests import ensure_test
from benchmark.services.plan_checks import check, check_addresses, check_room, check_structured
from benchmark.services.plans import Plan, RunRefused, own_stages, prompt_hashes, title_of
from benchmark.services.provenance import spec_of, versions
from benchmark.services.results import WITHOUT_CALL
from benchmark.services.stored_plans import draft_of, plan_of
from benchmark.services.taken_over import ended_extractions, nothing_to_judge
from benchmark.suites.contract import Step
from benchmark.suites.guarding import SuiteFailed
from benchmark.suites.registry import suite_named
from core.bulk import insert_rows, update_rows
from workers.models import Endpoint, Item, Job, JobState
from workers.services.delivery import reopen_job
from workers.services.jobs import JobRefused, add_items, open_job

PURPOSE = "evaluation"
EXTENDED, READ_AGAIN, FOLLOWED_UP = "extended", "read again", "followed up"
"""What a run's `spec.later` lists."""
BESIDE = "This run stands beside {of} as its control: what is done to that one is done to its controls too."


def start_run(*, by: User | None, plan: Plan, now: datetime, stories: Sequence[DatasetSample] = ()) -> Run:
    """A run that works, on `stories` of the dataset where given, else on those that the plan selects, with one beside it for each control of the plan.
    Raises RunRefused; then nothing was made."""
    stories = stories or check(plan)
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
    """Start a run of each plan, as `start_run` does, with the controls of each. Raises RunRefused; then nothing was made."""
    return [start_run(by=by, plan=plan, now=now) for plan in plans]


def _start_controls(
    by: User | None, run: Run, plan: Plan, stories: Sequence[DatasetSample], now: datetime
) -> list[Run]:
    """Start the runs beside this one, under each control of the plan that has something to ask."""
    started = []
    for under in under_controls(plan, stories):
        if under.plan:
            started.append(_start(by, replace(under.plan, original=run), under.samples, now))
    return started


def add_controls(*, by: User | None, run: Run, controls: Sequence[str], now: datetime) -> list[Run]:
    """Ask everything that a run has asked once more under controls that it has not, each with a budget as the run's own. Raises RunRefused; then nothing was
    made."""
    plan, stories = controls_of_run(run, controls)
    try:
        with transaction.atomic():
            started = _start_controls(by, standing(run, changed=True), plan, stories, now)
    except JobRefused as error:
        raise RunRefused(str(error), "endpoints") from error
    if not started:
        raise RunRefused(" ".join(note for under in under_controls(plan, stories) for note in under.notes), "controls")
    return started


def controls_of_run(run: Run, controls: Sequence[str]) -> tuple[Plan, list[DatasetSample]]:
    """Return the plan of these controls of a run that is there, and all its samples. Raises RunRefused."""
    if run.control:
        raise RunRefused(BESIDE.format(of=run.original))
    plan = plan_of(run)
    if there := [name for name in controls if name in plan.controls]:
        raise RunRefused(f"The run has the control “{CONTROLS[there[0]].title}” already.", "controls")
    if not controls:
        raise RunRefused("Tick at least one control.", "controls")
    budget = run.params.get("budget")
    total = Decimal(budget) * (1 + len(controls)) if budget else None
    asked = replace(plan, controls=controls, budget=total)
    check(asked)
    return asked, _stories_of(run)


def _start(by: User | None, plan: Plan, stories: Sequence[DatasetSample], now: datetime) -> Run:
    if plan.source:
        standing(plan.source)
    project = plan.dataset.project
    title = title_of(plan)
    endpoints = [*plan.endpoints, *([plan.judge] if plan.judge else [])]
    job = open_job(
        by=by.username if by else "", purpose=PURPOSE, title=title, endpoints=endpoints,
        params={"project": project.slug}, budget=plan.budget, batch=plan.batch,
    )  # fmt: skip
    run = draft_of(plan, stories)
    run.title, run.source, run.job, run.created_by, run.spec = title, plan.source, job, by, _spec(plan, run, stories)
    run.save()
    _enter(run, plan, plan.endpoints, stories, now)
    if not job.items.exists():  # a job without items would never end
        raise RunRefused(nothing_to_judge(plan.definition), "source")
    if plan.self_test and plan.judges:
        ensure_test(by=by, run=run, now=now)
    details = {
        "models": [endpoint.name for endpoint in plan.endpoints],
        "stages": list(plan.stages),
        "stories": len(stories),
    }
    audit.record(by=by, project=project, action="run.started", target=run.uid, **details)
    return run


def _spec(plan: Plan, run: Run, stories: Sequence[DatasetSample]) -> dict[str, Any]:
    """Everything that made the run besides what its rows say: versions, hashes, examples, and the endpoints as they are now."""
    return {
        "dataset": {"version": plan.dataset.version, "digest": plan.dataset.digest},
        "prompts": prompt_hashes(plan),
        "examples": _examples(plan, run, stories),
        "judge": spec_of(plan.judge) if plan.judge else None,
        **versions(),
    }


def _examples(plan: Plan, run: Run, stories: Sequence[DatasetSample]) -> list[dict[str, Any]]:
    """Return `examples_used`; for extractions that were taken over, what their run recorded."""
    taken = plan.source.spec.get("examples", ()) if plan.source else ()
    return [
        *(row for row in taken if row["stage"] in plan.judged_anew),
        *examples_used(run, _prompted_stages(plan), stories),
    ]


def _prompted_stages(plan: Plan) -> list[str]:
    """The stages at which somebody reads a prompt: a baseline does not."""
    models = [endpoint for endpoint in plan.endpoints if reads_prompts(endpoint)]
    read = {stage for endpoint in models for stage in own_stages(plan, endpoint)}
    judged = reads_prompts(plan.judge)
    return [stage for stage in plan.stages if (judged if plan.definition.step(stage).judged else stage in read)]


def _enter(
    run: Run, plan: Plan, endpoints: Iterable[Endpoint], stories: Sequence[DatasetSample], now: datetime
) -> None:
    start = run.entrants.count()
    for position, endpoint in enumerate(endpoints, start):
        entrant = Entrant.objects.create(
            run=run, endpoint=endpoint, position=position, name=endpoint.name, spec=spec_of(endpoint)
        )
        _add_run_items(run, entrant, own_stages(plan, endpoint), stories, now)


def _add_run_items(
    run: Run, entrant: Entrant, stages: Sequence[str], stories: Sequence[DatasetSample], now: datetime
) -> None:
    """Add the items of an entrant and their work. Judging waits for the extraction (services/evaluating.py) or takes the source's."""
    for stage in stages:
        if not suite_named(run.suite).needed(stage, stages):
            turns = range(run.params.get("repetitions", 1))
            rows = [(entrant.pk, story.pk, stage, "", turn) for turn in turns for story in stories]
            insert_rows(RunItem, _NEW, rows)
    judging = suite_named(run.suite).judging
    if run.source_id and judging and judging.key in run.stages:
        _take_over(run, judging, entrant, stories)
    work = RunItem.objects.filter(entrant=entrant, item=None, call=None, unusable="").order_by("id")
    add_work(run=run, run_items=list(work.select_related("entrant__endpoint")), now=now)


_NEW = ("entrant", "sample", "stage", "unusable", "repetition")


def _take_over(run: Run, judging: Step, entrant: Entrant, stories: Sequence[DatasetSample]) -> None:
    """Take over the source's answers that the judge reads, call by call, and add an item to judge where all of them are there. An answer
    that was lost is lost here too, and its item says why."""
    extractions = ended_extractions(run.source, entrant.endpoint).values_list(
        "stage", "sample_id", "repetition", "call_id", "repaired", "unusable", "item__state"
    )
    answers = {
        (step, sample, turn): (call, repaired, unusable if call else unusable or WITHOUT_CALL[state])
        for step, sample, turn, call, repaired, unusable, state in extractions
    }
    positions = {story.pk: at for at, story in enumerate(stories)}
    keys = sorted((key for key in answers if key[1] in positions), key=lambda key: (key[2], positions[key[1]], key[0]))
    fields = ("entrant", "stage", "sample", "repetition", "call", "repaired", "unusable")
    insert_rows(RunItem, fields, [(entrant.pk, *key, *answers[key]) for key in keys])
    answered = Counter((sample, turn) for step, sample, turn in keys if answers[step, sample, turn][0])
    complete = [cell for cell, count in answered.items() if count == len(judging.needs)]
    insert_rows(RunItem, _NEW, [(entrant.pk, sample, judging.key, "", turn) for sample, turn in complete])


def add_work(*, run: Run, run_items: Sequence[RunItem], now: datetime) -> None:
    """Queue work for run items that have none, in the caller's transaction."""
    if not run_items:
        return
    judge = run.judge
    judged = {step.key for step in suite_named(run.suite).steps if step.judged}
    items = [
        (judge if run_item.stage in judged else run_item.entrant.endpoint, run_item.stage, str(run_item.pk))
        for run_item in run_items
    ]
    add_items(job=run.job, items=items, now=now)
    for endpoint, stage in {(endpoint.pk, stage) for endpoint, stage, _ in items}:
        keys = [key for asked, item_stage, key in items if (asked.pk, item_stage) == (endpoint, stage)]
        for at in range(0, len(keys), 500):
            created = Item.objects.filter(job=run.job, endpoint=endpoint, stage=stage, key__in=keys[at : at + 500])
            update_rows(RunItem, ["item"], [(pk, int(key)) for pk, key in created.values_list("pk", "key")])


IMPORTED = (
    "The answers of this run were imported: nothing is asked of its model here. Import further answers as another run."
)


def check_asks(run: Run) -> None:
    """Raise RunRefused for a run whose answers were made elsewhere."""
    if run.imported:
        raise RunRefused(IMPORTED)


@transaction.atomic
def extend_run(
    *,
    by: User | None,
    run: Run,
    endpoints: Sequence[Endpoint] = (),
    stories: Sequence[DatasetSample] = (),
    now: datetime,
) -> int:
    """Add models, or stories of its dataset, to a run and its controls; what is there stays. Returns how many items are new. Raises RunRefused."""
    job = Job.objects.select_for_update().get(pk=run.job_id)
    standing(run, changed=True)
    run.refresh_from_db(fields=["params", "spec"])  # another may have extended it meanwhile
    more = extension_of(run, endpoints, stories)
    if job.state == JobState.CANCELLED:
        raise RunRefused("The run was cancelled; run it again instead.")
    added = _extend(by, run, more, now)
    for control in run.controls.exclude(job__state=JobState.CANCELLED).select_related(
        "job", "project", "dataset", "judge"
    ):
        added += _extend_control(by, control, more, now)
    if not added:
        raise RunRefused(f"These models and {more.plan.definition.noun[1]} are all in the run already.")
    return added


def _extend_control(by: User | None, control: Run, more: Extension, now: datetime) -> int:
    """Extend a run under a control as the one beside which it stands; returns how many items are new."""
    Job.objects.select_for_update().get(pk=control.job_id)
    here = extension_under(control, more)
    return _extend(by, control, here, now) if here else 0


def extension_under(control: Run, more: Extension) -> Extension | None:
    """Return what a run under a control becomes where its original becomes `more`; None where nothing is added."""
    plan, there = plan_of(control), _stories_of(control)
    fresh = under_control(more.plan, control.control, more.fresh).samples
    added = [endpoint for endpoint in more.added if own_stages(plan, endpoint)]
    stories = sorted([*there, *fresh], key=lambda story: story.position)
    return Extension(plan, added, list(fresh), stories) if added or fresh else None


def _extend(by: User | None, run: Run, more: Extension, now: datetime) -> int:
    before = RunItem.objects.filter(entrant__run=run).count()
    reopen_job(run.job_id)
    run.job.refresh_from_db()
    for entrant in run.entrants.select_related("endpoint") if more.fresh else []:
        _add_run_items(run, entrant, own_stages(more.plan, entrant.endpoint), more.fresh, now)
    _enter(run, more.plan, more.added, more.stories, now)
    added = RunItem.objects.filter(entrant__run=run).count() - before
    if not added:
        return 0
    details = {"models": [endpoint.name for endpoint in more.added], "stories": len(more.fresh)}
    run.params |= {"stories": len(more.stories)}
    run.params |= {"example_stories": calibration_of(more.plan, more.stories)} if more.plan.definition.prompting else {}
    everybody = replace(more.plan, endpoints=[*more.plan.endpoints, *more.added])
    run.spec["examples"] = _examples(everybody, run, more.stories)
    note_later(run, EXTENDED, now, **details, changed=_changed_endpoints(run))
    run.save(update_fields=["params", "spec"])
    audit.record(by=by, project=run.project, action="run.extended", target=run.uid, **details)
    return added


@dataclass(frozen=True, slots=True)
class Extension:
    """A run as extended: `plan` is that of its launch, `added` and `fresh` are the new models and stories, `stories` all stories."""

    plan: Plan
    added: list[Endpoint]
    fresh: list[DatasetSample]
    stories: list[DatasetSample]


def extension_of(run: Run, endpoints: Sequence[Endpoint], stories: Sequence[DatasetSample]) -> Extension:
    """Return what the run becomes. Raises RunRefused where these models cannot join it, or a story is shown in its prompts."""
    if run.control:
        raise RunRefused(BESIDE.format(of=run.original))
    check_asks(run)
    plan, here = plan_of(run), _stories_of(run)
    there, models = {story.pk for story in here}, {endpoint.pk for endpoint in plan.endpoints}
    new_stories = [story for story in stories if story.pk not in there]
    added = [endpoint for endpoint in endpoints if endpoint.pk not in models]
    for endpoint in added:
        if not endpoint.active:
            raise RunRefused(f"The endpoint {endpoint.name} is switched off.", "endpoints")
        if not own_stages(plan, endpoint):
            raise RunRefused(f"{endpoint.name} can do none of the run's stages.", "endpoints")
    joined = replace(plan, endpoints=added)
    if run.form == Form.STRUCTURED:
        check_structured(joined)
    check_room(joined)
    check_addresses(joined)
    _refuse_shown(run, new_stories)
    return Extension(plan, added, new_stories, sorted([*here, *new_stories], key=lambda story: story.position))


def _refuse_shown(run: Run, new_stories: Sequence[DatasetSample]) -> None:
    """Raise RunRefused where a sample to be asked about serves as an example in the run's prompts."""
    suite, serving = suite_named(run.suite), set(run.params.get("example_stories", ()))
    examples = sorted({story.number for story in new_stories} & serving)
    if examples and suite.prompting:
        raise RunRefused(
            f"{suite.noun[0].capitalize()} {examples[0]} serves this run's prompts as an example, so that it cannot be asked too; leave the "
            f"split {suite.prompting.split} out.",
            "split",
        )


def note_later(run: Run, did: str, now: datetime, **details: Any) -> None:
    """Record what happened to the run after its launch, with the code that did it; the caller saves `spec`."""
    run.spec["later"] = [*run.spec.get("later", ()), {"did": did, "at": now.isoformat(), **details, **versions()}]


def _changed_endpoints(run: Run) -> list[str]:
    """Return the names of the run's endpoints whose settings have changed since its launch."""
    endpoints = [(entrant.name, entrant.spec, entrant.endpoint) for entrant in run.entrants.select_related("endpoint")]
    endpoints += [(run.judge.name, run.spec.get("judge"), run.judge)] if run.judge else []
    return [name for name, spec, endpoint in endpoints if spec != spec_of(endpoint)]


@transaction.atomic
def run_again(*, by: User | None, run: Run, now: datetime) -> Run:
    """Launch the run once more, on all stories that it has by now. Answers that the ledger has are not asked for again. Raises RunRefused."""
    standing(run)
    plan, stories = again_of(run)
    return start_run(by=by, plan=plan, now=now, stories=stories)


def again_of(run: Run) -> tuple[Plan, list[DatasetSample]]:
    """Return the plan and the stories of a repeated run, with its controls. Raises RunRefused where it can no longer be launched."""
    if run.control:
        raise RunRefused(BESIDE.format(of=run.original))
    check_asks(run)
    plan = plan_of(run)
    check(plan)
    return plan, _stories_of(run)


def _stories_of(run: Run) -> list[DatasetSample]:
    return list(DatasetSample.objects.filter(pk__in=RunItem.objects.filter(entrant__run=run).values("sample")))
