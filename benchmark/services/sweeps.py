"""Sweeps: one launch that asks the same at several levels of a setting, a run each, as a paper chooses its prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.domain.parameters import Options
from benchmark.models import Run
from benchmark.services.asking import chosen_of, reads_prompts
from benchmark.services.judge_versions import judge_name, judged_at
from benchmark.services.plans import MOST_TITLE, Plan, RunRefused, part_of, title_of
from benchmark.services.run_items import needed_by_judge
from benchmark.services.runs import launched_with
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suite_named
from benchmark.suites.settings import Setting
from core.messages import Sentence, gettext_noop
from workers.models import Endpoint


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


def plans_with_judges(plans: Sequence[Plan], judges: Sequence[Endpoint] = (), levels: Sequence[int] = ()) -> list[Plan]:
    """Return the plans of a launch, and after them one by each further judge, and at each further level of its prompt,
    that judges the same answers as the last of the plans: they are asked for once, and each judge waits for them. All
    have equal parts of the budget. A judge that reads no prompt has one level. Raises RunRefused."""
    plans, last = list(plans), plans[-1]
    if not judges and not levels:
        return plans
    judging = last.definition.judging
    if judging is None or last.judge is None or not last.judges:
        raise RunRefused(gettext_noop("Nothing of this launch is judged: name a judge and tick its step."), "judge")
    setting = _judging_setting(last, levels)
    first, *others = _judged_by(last, setting, judges, levels)
    total = None if last.budget is None else last.budget * len(plans)
    part = part_of(total, len(plans) + len(others))
    asked = [step for step in last.steps if step in (*needed_by_judge(last.definition), judging.key)]
    further = [
        replace(
            last,
            judge=judge,
            steps=asked,
            controls=(),
            options={**last.options, **options},
            title=_judged_title(last, judge, options),
            budget=part,
        )
        for judge, options in others
    ]
    return [*(replace(plan, budget=part, options={**plan.options, **first[1]}) for plan in plans), *further]


def _judging_setting(plan: Plan, levels: Sequence[int]) -> Setting | None:
    """Return the level of a judge's prompt as a setting; None where the suite has none. Raises RunRefused for a level
    that is not offered."""
    definition = plan.definition
    field = next(
        (name for name, setting in swept_settings(definition).items() if setting in definition.judging_settings), ""
    )
    return _offering(plan, field or "judge_levels", levels) if field or levels else None


def _judged_by(
    plan: Plan, setting: Setting | None, judges: Sequence[Endpoint], levels: Sequence[int]
) -> list[tuple[Endpoint, Options]]:
    """Return (judge, its own settings), the plan's judge first."""
    by_judge: list[tuple[Endpoint, Options]] = []
    for judge in dict.fromkeys([plan.judge, *judges]):
        swept = sorted(levels) if levels and reads_prompts(judge) else [None]
        by_judge += [
            (judge, {setting.name: level} if setting and level is not None else {}) for level in swept if judge
        ]
    return by_judge


def _judged_title(plan: Plan, judge: Endpoint, options: Options) -> str:
    level = "".join(f", L{value}" for value in options.values())
    ending = f": {judge.name}{level}"
    return f"{title_of(plan)[: MOST_TITLE - len(ending)]}{ending}"


def _at_each(plan: Plan, field: str, values: Sequence[Any]) -> list[Plan]:
    setting = _offering(plan, field, values)
    offered = [value for value, _ in setting.choices]
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


def _offering(plan: Plan, field: str, values: Sequence[Any]) -> Setting:
    """Return the setting that is swept in that field. Raises RunRefused where there is none, and for a value that it
    does not offer."""
    setting = swept_settings(plan.definition).get(field)
    if setting is None:
        raise RunRefused(
            Sentence(
                "{definition} has nothing to sweep as {field}: leave it out.",
                definition=plan.definition.title,
                field=field,
            ),
            field,
        )
    offered = [value for value, _ in setting.choices]
    if unknown := [value for value in values if value not in offered]:
        raise RunRefused(
            Sentence(
                "{setting} is {unknown}; expected {offered}.",
                setting=setting.label,
                unknown=unknown[0],
                offered=" or ".join(map(str, offered)),
            ),
            field,
        )
    return setting


def _titled(plan: Plan, setting: Setting, value: Any) -> str:
    ending = f": {setting.label.lower()} {value}"
    return f"{title_of(plan)[: MOST_TITLE - len(ending)]}{ending}"


def sweep_of(run: Run) -> list[Run]:
    """Return the runs of the launch of a run that make answers of their own at several choices of a swept setting, in
    the order of the launch, or the one whose answers several judges of the launch judge; none of other launches."""
    suite = suite_named(run.suite)
    own = [other for other in launched_with(run) if other.source_id is None and other.suite == run.suite]
    swept = [setting.name for setting in swept_settings(suite).values() if setting not in suite.judging_settings]
    first: dict[tuple[Any, ...], Run] = {}
    for other in own:
        first.setdefault(tuple(level_of(other, name) for name in swept), other)
    return list(first.values()) if swept and own[1:] else []


def level_of(run: Run, name: str) -> Any:
    """Return what a run has chosen of a setting."""
    return chosen_of(run).get(name)


NO_LEVEL = 0
"""The level of a judge that reads no prompt; those of prompts begin with 1."""


def level_name(level: int) -> str:
    """Return what a level is called in tables."""
    return f"L{level}" if level != NO_LEVEL else "–"


def judges_of_launch(run: Run) -> dict[str, list[int]]:
    """Return by name the levels of the prompts by which the judges of a run's launch were asked, `NO_LEVEL` of one that
    reads no prompt."""
    levels_by_judge: dict[str, set[int]] = {}
    for other in launched_with(run):
        if judged_at(other):
            levels_by_judge.setdefault(judge_name(other), set()).add(judging_level(other) or NO_LEVEL)
    return {name: sorted(levels) for name, levels in levels_by_judge.items()}


def judging_level(run: Run) -> int | None:
    """Return the level of the prompt by which a run's judge was asked, None for one that reads no prompt."""
    suite = suite_named(run.suite)
    swept = [setting.name for setting in swept_settings(suite).values() if setting in suite.judging_settings]
    return level_of(run, swept[0]) if swept and reads_prompts(run.judge) else None
