"""Plans as tests write them: settings of the suite beside the fields of the plan."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmark.models import Dataset
from benchmark.services.plans import Plan
from benchmark.suites.registry import suite_named
from workers.models import Endpoint


def planned(
    dataset: Dataset, endpoints: Sequence[Endpoint], steps: Sequence[str], *, suite: str = "omnitom", **fields: Any
) -> Plan:
    """The plan with settings among its `fields`; a judge is tested only where `self_test` says so."""
    own, options = _parted(suite, {"self_test": False} | fields if suite == "omnitom" else fields)
    return Plan(dataset, list(endpoints), list(steps), suite, options=options, **own)


def changed(plan: Plan, **fields: Any) -> Plan:
    """The plan with other fields or settings."""
    own, options = _parted(plan.suite, fields)
    return replace(plan, options={**plan.options, **options}, **own)


def _parted(suite: str, fields: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    names = {one.name for one in suite_named(suite).settings}
    chosen = {name: value for name, value in fields.items() if name in names} | fields.get("options", {})
    return {name: value for name, value in fields.items() if name not in names | {"options"}}, chosen
