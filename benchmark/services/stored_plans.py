"""Plans as the row of their run keeps them, and as they are read back."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from benchmark.controls.chosen import LISTS, LISTS_VERSION
from benchmark.models import DatasetSample, Run
from benchmark.services.asking import ANEW, chosen_of
from benchmark.services.in_context import calibration_of
from benchmark.services.plans import Plan
from benchmark.suites.settings import COLUMN, OPTION, PARAMETER, Setting
from core.plain import Json

KEPT = ("split", "category", "limit", "max_tokens", "seed", "batch", "repetitions", "temperature")
"""Fields of a plan that every run has among its parameters."""
NO_LEVEL = 3
"""The column's value of a run whose prompts have no levels; nobody reads it."""


def draft_of(plan: Plan, stories: Sequence[DatasetSample]) -> Run:
    """The run that the plan would make on these stories, for asking what it would ask; it is not saved."""
    return Run(
        project=plan.dataset.project, dataset=plan.dataset, suite=plan.suite, judge=plan.judge, control=plan.control,
        original=plan.original, params=_params(plan, stories),
        steps=list(plan.steps), **_columns(plan),
    )  # fmt: skip


def _columns(plan: Plan) -> Json:
    """Return what the run has columns for, by its fields."""
    by_field = {setting.run_field: plan.options[setting.name] for setting in _settings(plan, COLUMN)}
    return {"answer_format": plan.answer_format, "level": NO_LEVEL, "prompt_set": plan.prompt_set} | by_field


def _stored(plan: Plan, where: str) -> Json:
    return {setting.name: plan.options[setting.name] for setting in _settings(plan, where)}


def _settings(plan: Plan, where: str) -> list[Setting]:
    """The settings of the plan that runs keep there."""
    return [setting for setting in plan.definition.settings_in(plan.steps) if setting.stored == where]


def _params(plan: Plan, stories: Sequence[DatasetSample]) -> Json:
    params = (
        _stored(plan, PARAMETER) | {name: getattr(plan, name) for name in KEPT} | {"options": _stored(plan, OPTION)}
    )
    params |= {"example_stories": calibration_of(plan, stories)} if plan.definition.prompting else {}
    params |= {LISTS: LISTS_VERSION} if plan.control else {}
    params |= {ANEW: plan.anew} if plan.anew else {}
    return params | {"stories": len(stories), "budget": str(plan.budget) if plan.budget is not None else None}


def plan_of(run: Run) -> Plan:
    """Return what the run was launched with, and its controls: to extend it, and to run it again."""
    params = {name: run.params[name] for name in KEPT if name in run.params}
    budget, controls = run.params.get("budget"), list(run.controls.order_by("pk").values_list("control", flat=True))
    return Plan(
        dataset=run.dataset, endpoints=[entrant.endpoint for entrant in run.entrants.select_related("endpoint")],
        steps=run.steps,
        suite=run.suite, judge=run.judge, options=chosen_of(run), source=run.source, title=run.title,
        budget=Decimal(budget) * (1 + len(controls)) if budget else None, controls=controls, control=run.control,
        original=run.original, anew=run.params.get(ANEW, 0), **params,
    )  # fmt: skip
