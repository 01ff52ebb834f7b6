"""Sweeps: one launch that asks the same at several levels of a setting, a run each, as a paper chooses its prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.models import Run
from benchmark.services.asking import chosen_of, reads_prompts
from benchmark.services.plans import MOST_TITLE, Plan, RunRefused, part_of, title_of
from benchmark.services.run_actions import launched_with
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suite_named
from benchmark.suites.settings import Setting
from core.language import gettext_noop


def swept_settings(suite: Suite) -> dict[str, Setting]:
    """Return the settings of a suite of which a launch may take several choices, a run each, by the field that names
    the choices."""
    return {setting.swept: setting for setting in suite.settings if setting.swept}


def plans_of_sweep(plans: Sequence[Plan], chosen: Mapping[str, Sequence[Any]]) -> list[Plan]:
    """Return each of the plans at each of the `chosen` choices, by field, under names that tell them apart and with
    equal parts of its budget; the plans themselves where none is chosen. Raises RunRefused."""
    for field, values in chosen.items():
        if values:
            plans = [each for plan in plans for each in _at_each(plan, field, values)]
    return list(plans)


def _at_each(plan: Plan, field: str, values: Sequence[Any]) -> list[Plan]:
    setting = swept_settings(plan.definition).get(field)
    if setting is None:
        raise RunRefused(gettext_noop(f"{plan.definition.title} has nothing to sweep as {field}: leave it out."), field)
    offered = [value for value, _ in setting.choices]
    if unknown := [value for value in values if value not in offered]:
        raise RunRefused(
            gettext_noop(f"{setting.label} is {unknown[0]}; expected {' or '.join(map(str, offered))}."), field
        )
    several = [value for value in offered if value in values]
    part = part_of(plan.budget, len(several))
    return [
        replace(
            plan,
            options={**plan.options, setting.name: value},
            title=_titled(plan, setting, value) if several[1:] else plan.title,
            budget=part,
        )
        for value in several
    ]


def _titled(plan: Plan, setting: Setting, value: Any) -> str:
    ending = f": {setting.label.lower()} {value}"
    return f"{title_of(plan)[: MOST_TITLE - len(ending)]}{ending}"


def sweep_of(run: Run) -> list[Run]:
    """Return the runs of the launch of a run that make answers of their own at several choices of a swept setting, in
    the order of the launch; none where there is one choice."""
    suite = suite_named(run.suite)
    own = [other for other in launched_with(run) if other.source_id is None and other.suite == run.suite]
    swept = [setting.name for setting in swept_settings(suite).values() if setting not in suite.judging_settings]
    choices = {tuple(level_of(other, name) for name in swept) for other in own}
    return own if len(choices) > 1 else []


def level_of(run: Run, name: str) -> Any:
    """Return what a run has chosen of a setting."""
    return chosen_of(run).get(name)


def judging_level(run: Run) -> int | None:
    """Return the level of the prompt by which a run's judge was asked, None for one that reads no prompt."""
    suite = suite_named(run.suite)
    swept = [one.name for one in swept_settings(suite).values() if one in suite.judging_settings]
    return level_of(run, swept[0]) if swept and reads_prompts(run.judge) else None
