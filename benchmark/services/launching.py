"""Launches: the suite that a version is asked by, the plan of a launch, and plans of runs that start from another
run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from annotation.models import Project
from benchmark.models import Dataset, Run
from benchmark.services.launch_shapes import Launch
from benchmark.services.plans import MOST_TITLE, Plan, RunRefused, part_of
from benchmark.services.runs import BESIDE
from benchmark.services.stored_plans import plan_of
from benchmark.services.taken_over import judged_answers, needed_by_judge
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suite_named, suites_of
from core.language import gettext_noop
from workers.models import Endpoint

SAME = ("split", "category", "limit", "seed", "batch", "title", "temperature", "controls")
"""Fields of a launch that a plan has as they are."""


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
    settings: Mapping[str, Any] | None = None,
) -> Plan:
    """Return the plan of a launch but for its methods, with the rows that its names stand for.

    What it leaves out is as the suite has it. `settings` hold where the launch has no options of their names; `source`
    is the run whose answers the judge reads. Raises RunRefused.
    """
    given = launch.given
    return Plan(
        dataset=dataset, endpoints=endpoints, judge=judge, source=source, suite=suite.name,
        steps=given.get("steps") or [step.key for step in suite.launched],
        options={**(settings or {}), **given.get("options", {})},
        budget=Decimal(given["budget"]) if "budget" in given else None,
        repetitions=given.get("repetitions", suite.repetitions),
        max_tokens=given.get("max_tokens", suite.max_tokens),
        **{name: given[name] for name in SAME if name in given},
    )  # fmt: skip


def judging_plan(source: Run, *, judge: Endpoint, options: Mapping[str, Any], **other: Any) -> Plan:
    """Return what the judge reads of `source` judged anew: same dataset, models, answer format and prompts, every
    sample that has an answer, and so of its controls; `options` are the settings of judging. Raises RunRefused."""
    if source.control:
        raise RunRefused(BESIDE.format(of=source.original), "source")
    suite = suite_named(source.suite)
    answered = set(source.entrants.filter(items__step__in=needed_by_judge(suite)).values_list("endpoint", flat=True))
    if not answered or suite.judging is None:
        raise RunRefused(gettext_noop(f"{source.title} has no {judged_answers(suite)[0]} to be judged."), "source")
    plan = plan_of(source)
    chosen = other | {"title": other.get("title") or f"{source.title}, judged by {judge.name}"[:200]}
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
        **chosen,
    )


def judging_plans(
    source: Run, *, judges: Sequence[Endpoint], budget: Decimal | None = None, title: str = "", **other: Any
) -> list[Plan]:
    """Return the plans by which each of several judges reads the same answers anew, as `judging_plan` has them, with
    equal parts of the budget. Raises RunRefused."""
    several = list(dict.fromkeys(judges))
    part = part_of(budget, len(several))
    titles = [f"{title}: {judge.name}"[:MOST_TITLE] if title and several[1:] else title for judge in several]
    return [
        judging_plan(source, judge=judge, budget=part, title=named, **other)
        for judge, named in zip(several, titles, strict=True)
    ]


def _judged_controls(original: Run) -> list[str]:
    """The controls under which the run has what a judge reads."""
    needed = set(needed_by_judge(suite_named(original.suite)))
    return [control.control for control in original.controls.order_by("pk") if needed <= set(control.steps)]
