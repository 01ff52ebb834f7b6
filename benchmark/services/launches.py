"""Launches as the API's body, the page's form and `run_benchmark` read them: one shape, whose bounds and sentences all
three have."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from django.db import transaction
from pydantic import Field

from annotation.models import Project, User
from annotation.services import audit
from benchmark.controls.chosen import CONTROLS
from benchmark.domain.parameters import Options
from benchmark.domain.provenance import DatasetVersion, ExamplesUsed, Provenance
from benchmark.models import DatasetSample, Run, RunItem
from benchmark.services import preparing
from benchmark.services.archiving import locked_run
from benchmark.services.asking import reads_prompts
from benchmark.services.in_context import examples_used
from benchmark.services.judges import ensure_test
from benchmark.services.plan_checks import can_be_lean, check, check_all_but_samples
from benchmark.services.plans import (
    HANDLER,
    MOST_REPETITIONS,
    MOST_SEED,
    MOST_STORIES,
    MOST_TITLE,
    MOST_TOKENS,
    Plan,
    RunRefused,
    asked_under,
    draft_of,
    own_steps,
    part_of,
    plan_of,
    prompt_hashes,
    title_of,
    under_control,
)
from benchmark.services.provenance import spec_of, versions
from benchmark.services.run_items import enter, enter_models, judged_answers, needed_by_judge, nothing_to_judge
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import suite_named, suites_of
from core.incoming.shapes import Counted, Given, Like, Within, may_lack
from core.messages import gettext_noop, labelled, sentences
from core.plain import Json
from workers.domain.pricing import Dollars
from workers.models import Endpoint
from workers.services.jobs import JobRefused, open_job

BUDGET = "A hard cap in US dollars, as a string."
Name = Annotated[str, Like(r"^[-a-zA-Z0-9_]{1,60}$", "the name of an endpoint")]
Names = Annotated[list[Name], Counted(1, 200)]
Part = Annotated[
    str, Like(r"^[^\u0000]*$", f"a text of at most {MOST_TITLE} characters, without NUL", max_length=MOST_TITLE)
]
Keys = Annotated[list[Annotated[str, Like(r"^[-a-z0-9_]{1,40}$", "a key, as of a step")]], Counted(1, 40)]
Levels = Annotated[list[Annotated[int, Within(1, 9, pointed=True)]], Counted(1, 9)]
Limit = Annotated[int, Within(0, MOST_STORIES, pointed=True)]
Version = Annotated[int, Within(1, 99_999_999, pointed=True)]
Repetitions = Annotated[int, Within(1, MOST_REPETITIONS, pointed=True)]


class Launch(Given):
    """A run to be launched; what it leaves out is as the suite and the project have it."""

    dataset: Version = may_lack("Number of the version.")
    endpoints: Names = Field(description="Names of the models that are asked.")
    suite: Annotated[str, Like(r"^[-a-z0-9_]{1,40}$", "the name of a suite")] = may_lack(
        "One that asks about the version (`suites` of the version); the first of them without it."
    )
    steps: Keys = may_lack("All that can be launched; a method of the suite may say them itself.")
    judge: Name = may_lack()
    split: Part = may_lack("Only samples of this split.")
    category: Part = may_lack("Only samples of this category.")
    limit: Limit = may_lack("Only the first so many samples; 0 takes all.")
    max_tokens: Annotated[int, Within(1, MOST_TOKENS, pointed=True)] = may_lack("Of an answer.")
    seed: Annotated[int, Within(0, MOST_SEED, pointed=True)] = may_lack()
    repetitions: Repetitions = may_lack("Each is a call of its own.")
    temperature: float | None = may_lack("From 0 to 2; null takes the suite's.")
    budget: Dollars = may_lack(BUDGET)
    batch: bool = may_lack("As a batch, at the provider's lower price.")
    title: Part = may_lack()
    options: Json = may_lack("Settings of the suite by name, as the dataset lists them.")
    methods: Keys = may_lack(
        "Methods of the suite, those of its setting `method`: everything is asked by each, as a run of its own."
    )
    levels: Levels = may_lack("Prompt levels: everything is asked at each, as a run of its own.")
    judges: Names = may_lack("Names of further models that judge the answers of the last level, a run each.")
    judge_levels: Levels = may_lack("Levels of the judge's prompt: each judge judges them at each, a run each.")
    controls: Keys = may_lack("Controls under which everything is asked once more, as runs beside.")


OF_ONE_RUN = (
    "steps", "split", "category", "limit", "max_tokens", "seed", "repetitions", "temperature", "budget", "batch",
    "title", "options", "controls",
)  # fmt: skip
"""Fields of a launch that a plan has under the same names."""


class LaunchIn(Launch):
    """A run to be launched; only dataset and endpoints are needed."""

    dataset: Version = Field(description="Number of the version.")


class JudgeIn(Given):
    """Answers of a run to be judged anew."""

    judge: Name = Field(description="Name of the model that judges.")
    judges: Names = may_lack("Names of further models that judge the same answers, a run each.")
    judge_levels: Levels = may_lack("Levels of the judge's prompt: each judge judges at each, as a run of its own.")
    budget: Dollars = may_lack(BUDGET)
    batch: bool = may_lack()
    title: Part = may_lack()
    options: Json = may_lack("Settings of judging by name.")


class ExtendIn(Given):
    """Additions to a run: models, samples, or both."""

    endpoints: Names = may_lack("Names of further models.")
    more: bool = may_lack("Whether samples are added, those that split, category and limit leave.")
    split: Part = may_lack()
    category: Part = may_lack()
    limit: Limit = may_lack()


def suite_of_version(project: Project, version: str | None, name: str | None = None) -> Suite:
    """Return the suite of that `name`, else the first, that asks about a dataset version or the project's gold."""
    number = int(version) if version and version.isdecimal() and len(version) < 9 else None
    dataset = project.datasets.filter(version=number).first() if number is not None else None
    if dataset is None:
        dataset = project.datasets.filter(suite="").first() or project.datasets.first()
    schema = dataset.schema if dataset else project.schema
    able = suites_of(dataset.suite if dataset else "", schema) or suites_of("", schema)
    return next((suite for suite in able if name in (suite.name, suite.asked_for_as)), able[0])


def planned(suite: Suite, chosen: Mapping[str, Any], **rows: Any) -> Plan:
    """Return the plan of what was chosen for one run, a `Launch` by name; the suite has the rest. `rows` are the rows
    that names stand for, and fields that take precedence. Raises RunRefused."""
    defaults: dict[str, Any] = {
        "steps": [step.key for step in suite.launched],
        "max_tokens": suite.asking.max_tokens,
        "repetitions": suite.asking.repetitions,
    }
    given = {name: value for name in OF_ONE_RUN if (value := chosen.get(name)) not in (None, "", [])}
    if "budget" in given:
        given["budget"] = abs(Decimal(given["budget"]))  # -0 is typed, too
    return Plan(suite=suite.name, **(defaults | given | rows))


def judging_plans(
    source: Run,
    *,
    judges: Sequence[Endpoint],
    options: Options,
    budget: Decimal | None = None,
    batch: bool | None = None,
    title: str = "",
) -> list[Plan]:
    """Return a plan for each judge that judges the answers of a run again, with equal parts of the budget.

    The dataset, models, answer format, prompts and controls are those of the run, as is `batch` if it is None; all
    samples with an answer are judged. `options` are the settings of judging. Raises RunRefused.
    """
    if source.control:
        raise RunRefused(BESIDE.format(of=source.original), "source")
    suite, original = suite_named(source.suite), source.source or source
    needed = needed_by_judge(suite)
    answered = set(source.entrants.filter(items__step__in=needed).values_list("endpoint", flat=True))
    if not answered or suite.judging is None:
        what = judged_answers(suite)[0]
        raise RunRefused("{source} has no {suite} to be judged.", "source", source=source.title, suite=what)
    plan, judges = plan_of(source), list(dict.fromkeys(judges))
    controls = original.controls.order_by("pk")
    same = replace(
        plan,
        controls=[control.control for control in controls if set(needed) <= set(control.steps)],
        endpoints=[endpoint for endpoint in plan.endpoints if endpoint.pk in answered],
        steps=[suite.judging.key],
        source=original,
        split="",
        category="",
        limit=0,
        options={**plan.options, **options},
        budget=part_of(budget, len(judges)),
        batch=plan.batch if batch is None else batch,
    )

    def titled(judge: Endpoint) -> str:
        if title:
            return labelled(title, judge.name)[:MOST_TITLE] if judges[1:] else title
        return f"{source.title}, judged by {judge.name}"[:MOST_TITLE]

    return [replace(same, judge=judge, title=titled(judge)) for judge in judges]


LAUNCH = "launch"
"""The entry of a run's `spec` that the runs of one launch share."""
EXTENDED, READ_AGAIN, FOLLOWED_UP = "extended", gettext_noop("read again"), gettext_noop("followed up")
"""The kinds of entries in a run's `spec.later`."""
BESIDE = gettext_noop(
    "This run stands beside {of} as its control: what is done to that one is done to its controls too."
)
ANSWERS_IMPORTED = gettext_noop(
    "The answers of this run were imported: nothing is asked of its model here. Import further answers as another run."
)


def start_run(*, by: User | None, plan: Plan, now: datetime, stories: Sequence[DatasetSample] = ()) -> Run:
    """Start a run on `stories`, else on the samples that the plan selects, and one under each control of the plan.
    Raises RunRefused; then nothing was made."""
    stories = stories or check(plan, lean=True)
    try:
        with transaction.atomic():
            budget = part_of(plan.budget, 1 + len(plan.controls))  # equal parts for the run and its controls
            run = _start(by, replace(plan, controls=(), budget=budget), stories, now)
            _start_controls(by, run, replace(plan, title=run.title), stories, now)
            return run
    except JobRefused as error:
        raise RunRefused(str(error), "batch" if plan.batch else "endpoints") from error
    except SuiteFailed as error:
        raise RunRefused(str(error)) from error


@transaction.atomic
def start_runs(*, by: User | None, plans: Sequence[Plan], now: datetime) -> list[Run]:
    """Start a run of each plan, with its controls, as one launch. Raises RunRefused; then nothing was made."""
    started = [start_run(by=by, plan=plan, now=now) for plan in plans]
    for run in started if started[1:] else ():
        run.spec = replace(run.provenance, launch=started[0].uid).as_json()
        run.save(update_fields=["spec"])
    return started


def _start_controls(
    by: User | None, run: Run, plan: Plan, stories: Sequence[DatasetSample], now: datetime
) -> list[Run]:
    """Start the runs under each control of the plan that have something to ask. For many samples a worker finds out
    which of them a control changes."""
    if len(stories) > preparing.LOOKED_AT and can_be_lean(plan.definition) and plan.source is None:
        asked = [asked_under(plan, name) for name in plan.controls]
        return [
            _start(by, replace(under, original=run), stories, now, looks=True) for under in asked if under.endpoints
        ]
    found = [under_control(plan, name, stories) for name in plan.controls]
    return [_start(by, replace(under, original=run), samples, now) for under, samples, _ in found if under]


def add_controls(*, by: User | None, run: Run, controls: Sequence[str], now: datetime) -> list[Run]:
    """Ask everything of a run again under further controls. Raises RunRefused; then nothing was made."""
    plan, stories = controls_of_run(run, controls)
    try:
        with transaction.atomic():
            started = _start_controls(by, locked_run(run, changed=True), plan, stories, now)
    except JobRefused as error:
        raise RunRefused(str(error), "endpoints") from error
    if not started:
        notes = [note for name in plan.controls for note in under_control(plan, name, stories)[2]]
        raise RunRefused(sentences(*notes), "controls")
    return started


def controls_of_run(run: Run, controls: Sequence[str]) -> tuple[Plan, list[DatasetSample]]:
    """Return (plan of further controls of a run, all its samples). Raises RunRefused."""
    if run.control:
        raise RunRefused(BESIDE.format(of=run.original))
    plan = plan_of(run)
    if there := [name for name in controls if name in plan.controls]:
        title = CONTROLS[there[0]].title
        raise RunRefused("The run has the control “{controls}” already.", "controls", controls=title)
    if not controls:
        raise RunRefused("Tick at least one control.", "controls")
    budget = run.parameters.budget
    asked = replace(plan, controls=controls, budget=None if budget is None else budget * (1 + len(controls)))
    return asked, _stories_again(asked, run)


def _start(by: User | None, plan: Plan, stories: Sequence[DatasetSample], now: datetime, *, looks: bool = False) -> Run:
    """Start one run about these samples. A worker makes its items if they are many, or if it `looks` which samples the
    control changes."""
    if plan.source:
        locked_run(plan.source)
    project, title = plan.dataset.project, title_of(plan)
    later = looks or preparing.is_large(plan, len(stories))
    job = open_job(
        by=by.username if by else "", handler=HANDLER, title=title,
        endpoints=[*plan.endpoints, *([plan.judge] if plan.judge else [])],
        params={"project": project.slug}, budget=plan.budget, batch=plan.batch, preparing=later,
    )  # fmt: skip
    run = draft_of(plan, stories)
    run.title, run.source, run.job, run.created_by = title, plan.source, job, by
    run.spec = Provenance(
        dataset=DatasetVersion(version=plan.dataset.version, digest=plan.dataset.digest),
        prompts=prompt_hashes(plan),
        examples=examples_of(plan, run, stories),
        judge=spec_of(plan.judge) if plan.judge else None,
        made_by=versions(),
    ).as_json()
    run.save()
    if later:
        enter_models(run, plan.endpoints)
        preparing.leave_to_workers(run, stories, looks=looks)
    else:
        enter(run, plan, plan.endpoints, stories, now)
        if not job.items.exists():  # a job without items would never end
            raise RunRefused(nothing_to_judge(plan.definition), "source")
    if plan.self_test and plan.judges:
        ensure_test(by=by, run=run, now=now)
    models, steps = [endpoint.name for endpoint in plan.endpoints], list(plan.steps)
    details = {"models": models, "steps": steps, "stories": len(stories)}
    audit.record(by=by, project=project, action="run.started", target=run.uid, **details)
    return run


def examples_of(plan: Plan, run: Run, stories: Sequence[DatasetSample]) -> list[ExamplesUsed]:
    """Return the examples in the prompts of a run; for answers that were taken over, those that their run recorded."""
    taken = plan.source.provenance.examples if plan.source else ()
    models = [endpoint for endpoint in plan.endpoints if reads_prompts(endpoint)]
    read = {step for endpoint in models for step in own_steps(plan, endpoint)}
    judged = reads_prompts(plan.judge)
    steps = [step for step in plan.steps if (judged if plan.definition.step(step).judged else step in read)]
    return [*(row for row in taken if row.step in plan.judged_anew), *examples_used(run, steps, stories)]


@transaction.atomic
def run_again(*, by: User | None, run: Run, now: datetime) -> Run:
    """Launch the run once more, on all samples that it has by now. Raises RunRefused."""
    locked_run(run)
    plan, stories = again_of(run)
    return start_run(by=by, plan=plan, now=now, stories=stories)


def again_of(run: Run) -> tuple[Plan, list[DatasetSample]]:
    """Return (plan, samples) of a repeated run, with its controls. Raises RunRefused."""
    check_asks(run)
    plan = plan_of(run)
    return plan, _stories_again(plan, run)


def check_asks(run: Run) -> None:
    """Raise RunRefused for a run under a control, and for imported answers."""
    if run.control:
        raise RunRefused(BESIDE.format(of=run.original))
    if run.imported:
        raise RunRefused(ANSWERS_IMPORTED)


def _stories_again(plan: Plan, run: Run) -> list[DatasetSample]:
    """Return the samples that a run asks about, for a plan that asks about them again. Raises RunRefused."""
    if plan.source is None:
        check_all_but_samples(plan)
    else:  # the answers that are judged may be gone
        check(plan, lean=True)
    return stories_of(run)


def stories_of(run: Run) -> list[DatasetSample]:
    """Return the samples that a run asks about, without their contents if they can be lean."""
    samples, positions = DatasetSample.objects.all(), preparing.to_prepare(run)
    if positions is None:
        samples = samples.filter(pk__in=RunItem.objects.filter(entrant__run=run).values("sample"))
    else:
        samples = samples.filter(dataset=run.dataset_id, position__in=positions)
    return list(samples.lean() if can_be_lean(suite_named(run.suite)) else samples)
