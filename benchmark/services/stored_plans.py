"""Plans as the row of their run keeps them, and as they are read back."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.controls.chosen import LISTS_VERSION
from benchmark.domain.parameters import LONGEST_ANSWER, Options, Parameters
from benchmark.models import DatasetSample, Run
from benchmark.services.asking import chosen_of
from benchmark.services.in_context import calibration_of
from benchmark.services.plans import Plan
from benchmark.suites.settings import COLUMN, OPTION, PARAMETER, Setting

NO_LEVEL = 3
"""The column's value of a run whose prompts have no levels; nobody reads it."""


def draft_of(plan: Plan, stories: Sequence[DatasetSample]) -> Run:
    """The run that the plan would make on these stories, for asking what it would ask; it is not saved."""
    return Run(
        project=plan.dataset.project, dataset=plan.dataset, suite=plan.suite, judge=plan.judge, control=plan.control,
        original=plan.original, params=_parameters(plan, stories).as_json(),
        steps=list(plan.steps), **_columns(plan),
    )  # fmt: skip


def _columns(plan: Plan) -> Options:
    """Return what the run has columns for, by its fields."""
    by_field = {setting.name: plan.options[setting.name] for setting in _settings(plan, COLUMN)}
    return {"answer_format": plan.answer_format, "level": NO_LEVEL, "prompt_set": plan.prompt_set} | by_field


def _stored(plan: Plan, where: str) -> Options:
    return {setting.name: plan.options[setting.name] for setting in _settings(plan, where)}


def _settings(plan: Plan, where: str) -> list[Setting]:
    """The settings of the plan that runs keep there."""
    return [setting for setting in plan.definition.settings_in(plan.steps) if setting.stored == where]


def _parameters(plan: Plan, stories: Sequence[DatasetSample]) -> Parameters:
    return Parameters(
        own=_stored(plan, PARAMETER),
        split=plan.split,
        category=plan.category,
        limit=plan.limit,
        max_tokens=plan.max_tokens,
        seed=plan.seed,
        batch=plan.batch,
        repetitions=plan.repetitions,
        temperature=plan.temperature,
        options=_stored(plan, OPTION),
        example_stories=tuple(calibration_of(plan, stories)) if plan.definition.prompting else None,
        control_lists=LISTS_VERSION if plan.control else None,
        anew=plan.anew,
        stories=len(stories),
        budget=plan.budget,
    )


def plan_of(run: Run) -> Plan:
    """Return what the run was launched with, and its controls: to extend it, and to run it again."""
    parameters, controls = run.parameters, list(run.controls.order_by("pk").values_list("control", flat=True))
    return Plan(
        dataset=run.dataset,
        endpoints=[entrant.endpoint for entrant in run.entrants.select_related("endpoint")],
        steps=run.steps,
        suite=run.suite,
        judge=run.judge,
        options=chosen_of(run),
        source=run.source,
        title=run.title,
        budget=None if parameters.budget is None else parameters.budget * (1 + len(controls)),
        controls=controls,
        control=run.control,
        original=run.original,
        anew=parameters.anew,
        split=parameters.split,
        category=parameters.category,
        limit=parameters.limit,
        max_tokens=parameters.max_tokens or LONGEST_ANSWER,
        seed=parameters.seed,
        batch=parameters.batch,
        repetitions=parameters.repetitions,
        temperature=parameters.temperature,
    )
