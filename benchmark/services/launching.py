"""Launches: the suite that a version is asked by, the plan of a launch, and plans of runs that start from another
run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from annotation.models import Project
from benchmark.domain.parameters import Options
from benchmark.models import Dataset, Run
from benchmark.services.launch_shapes import Launch
from benchmark.services.plans import MOST_TITLE, Plan, RunRefused, part_of
from benchmark.services.runs import BESIDE
from benchmark.services.stored_plans import plan_of
from benchmark.services.taken_over import judged_answers, needed_by_judge
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suite_named, suites_of
from benchmark.suites.settings import SEED
from core.messages import Sentence, labelled
from workers.models import Endpoint


def suite_of_version(project: Project, version: str | None, name: str | None = None) -> Suite:
    """Return the suite that asks about the dataset version which an address or a form names, else about the project's
    own gold. Where several suites can ask about it, it is the one of that `name`, else the first."""
    number = int(version) if version and version.isdecimal() and len(version) < 9 else None
    dataset = project.datasets.filter(version=number).first() if number is not None else None
    if dataset is None:
        dataset = project.datasets.filter(suite="").first() or project.datasets.first()
    schema = dataset.schema if dataset else project.schema
    able = suites_of(dataset.suite if dataset else "", schema) or suites_of("", schema)
    return next((suite for suite in able if name in (suite.name, suite.asked_for_as)), able[0])


def planned(
    launch: Launch,
    suite: Suite,
    *,
    dataset: Dataset,
    endpoints: Sequence[Endpoint],
    judge: Endpoint | None,
    source: Run | None = None,
    settings: Options | None = None,
) -> Plan:
    """Return the plan of a launch but for its methods, with the rows that its names stand for.

    What it leaves out is as the suite has it. `settings` hold where the launch has no options of their names; `source`
    is the run whose answers the judge reads. Raises RunRefused.
    """
    return Plan(
        dataset=dataset,
        endpoints=endpoints,
        judge=judge,
        source=source,
        suite=suite.name,
        steps=launch.steps or [step.key for step in suite.launched],
        options={**(settings or {}), **(launch.options or {})},
        split=launch.split or "",
        category=launch.category or "",
        limit=launch.limit or 0,
        max_tokens=suite.max_tokens if launch.max_tokens is None else launch.max_tokens,
        seed=SEED if launch.seed is None else launch.seed,
        budget=None if launch.budget is None else Decimal(launch.budget),
        batch=bool(launch.batch),
        title=launch.title or "",
        repetitions=suite.repetitions if launch.repetitions is None else launch.repetitions,
        temperature=launch.temperature,
        controls=launch.controls or (),
    )


def judging_plan(source: Run, *, judge: Endpoint, options: Options, title: str = "") -> Plan:
    """Return what the judge reads of `source` judged anew: same dataset, models, answer format, prompts and budget,
    every sample that has an answer, and so of its controls; `options` are the settings of judging. Raises
    RunRefused."""
    if source.control:
        raise RunRefused(BESIDE.format(of=source.original), "source")
    suite = suite_named(source.suite)
    answered = set(source.entrants.filter(items__step__in=needed_by_judge(suite)).values_list("endpoint", flat=True))
    if not answered or suite.judging is None:
        raise RunRefused(
            Sentence("{source} has no {suite} to be judged.", source=source.title, suite=judged_answers(suite)[0]),
            "source",
        )
    plan = plan_of(source)
    original = source.source or source
    return replace(
        plan,
        controls=_judged_controls(original),
        endpoints=[endpoint for endpoint in plan.endpoints if endpoint.pk in answered],
        steps=[suite.judging.key],
        judge=judge,
        options={**plan.options, **options},
        source=original,
        split="",
        category="",
        limit=0,
        title=title or f"{source.title}, judged by {judge.name}"[:MOST_TITLE],
    )


def judging_plans(
    source: Run,
    *,
    judges: Sequence[Endpoint],
    options: Options,
    budget: Decimal | None = None,
    batch: bool | None = None,
    title: str = "",
) -> list[Plan]:
    """Return the plans by which each of several judges reads the same answers anew, as `judging_plan` has them, with
    equal parts of the budget; as a batch, where nothing else is said, as the source. Raises RunRefused."""
    several = list(dict.fromkeys(judges))
    part = part_of(budget, len(several))
    titles = [labelled(title, judge.name)[:MOST_TITLE] if title and several[1:] else title for judge in several]
    plans = [
        judging_plan(source, judge=judge, options=options, title=named)
        for judge, named in zip(several, titles, strict=True)
    ]
    return [replace(plan, budget=part, batch=plan.batch if batch is None else batch) for plan in plans]


def _judged_controls(original: Run) -> list[str]:
    """The controls under which the run has what a judge reads."""
    needed = set(needed_by_judge(suite_named(original.suite)))
    return [control.control for control in original.controls.order_by("pk") if needed <= set(control.steps)]
