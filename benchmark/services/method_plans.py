"""One launch by several methods: a plan for each, which differ in nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmark.services.plans import MOST_TITLE, Plan, RunRefused, part_of, title_of
from benchmark.suites.contract import Suite
from core.messages import Sentence, listed

FIELD = "method"
"""The field of refusals for the choice of methods, whatever the setting's own name."""


def methods_of(suite: Suite) -> dict[str, str]:
    """Return the methods by which a suite asks, name → title, the one that others are held against first; none where it
    asks in one way."""
    setting = suite.method
    if setting is None:
        return {}
    return {
        str(name): title for name, title in sorted(setting.choices, key=lambda choice: choice[0] != setting.default)
    }


def method_of(plan: Plan) -> str:
    """Return the name of the plan's method; empty for a suite that asks in one way."""
    setting = plan.definition.method
    return str(plan.options[setting.name]) if setting else ""


def plans_by_method(plan: Plan, methods: Sequence[str]) -> list[Plan]:
    """Return a plan for each of the methods, in the order in which the suite has them, under names that tell them apart
    and with equal parts of the budget; the plan itself where none is named. Raises RunRefused."""
    if not methods:
        return [plan]
    setting, offered = plan.definition.method, methods_of(plan.definition)
    if setting is None:
        raise RunRefused(
            Sentence("{definition} asks in one way: leave the methods out.", definition=plan.definition.title), FIELD
        )
    if unknown := [name for name in methods if name not in offered]:
        raise RunRefused(
            Sentence(
                "There is no method {unknown}; {definition} has: {offered}.",
                unknown=repr(unknown[0]),
                definition=plan.definition.title,
                offered=listed(offered),
            ),
            FIELD,
        )
    chosen = [name for name in offered if name in methods]
    return [
        replace(
            plan,
            options={**plan.options, setting.name: name},
            title=_titled(plan, offered[name]) if chosen[1:] else plan.title,
            budget=part_of(plan.budget, len(chosen)),
        )
        for name in chosen
    ]


def _titled(plan: Plan, method: str) -> str:
    ending = f": {method}"
    return f"{title_of(plan)[: MOST_TITLE - len(ending)]}{ending}"
