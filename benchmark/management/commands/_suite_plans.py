"""The plan of a run of a suite with samples and prompts of its own, from the flags of `run_benchmark`."""

from __future__ import annotations

from typing import Any

from annotation.management.commands._money import dollars
from annotation.models import Project
from benchmark.management.commands._options import options_given
from benchmark.management.commands._runs import endpoint_named, flag, given
from benchmark.models import Dataset
from benchmark.services.plans import Plan
from benchmark.suites.contract import Suite

OF_THE_PROTOCOL = (
    "level", "form", "prompt_set", "examples", "examples_from", "judge_level", "shots", "no_self_test", "without_story",
)  # fmt: skip
"""Flags that only a suite with OmniToM's protocol has a use for."""


def suite_plan(project: Project, suite: Suite, options: dict[str, Any]) -> Plan:
    """Raises ValueError with one sentence."""
    if idle := given(options, OF_THE_PROTOCOL):
        raise ValueError(f"{flag(idle[0])} is of no use for {suite.title}: leave it out.")
    steps = [one.key for one in suite.steps if one.chosen]
    asked = options["stage"] or steps
    same = {name: options[name] for name in ("split", "category", "limit", "seed", "batch", "title", "temperature")}
    return Plan(
        suite=suite.name,
        dataset=_dataset(project, suite, options["dataset"]),
        endpoints=[endpoint_named(name) for name in dict.fromkeys(options["endpoint"])],
        stages=steps if "all" in asked else asked,
        judge=endpoint_named(options["judge"]) if options["judge"] else None,
        options={one.name: one.default for one in suite.settings} | options_given(suite.settings, options["option"]),
        repetitions=options["repetitions"] if options["repetitions"] is not None else suite.repetitions,
        max_tokens=options["max_tokens"] if options["max_tokens"] is not None else suite.max_tokens,
        prompt_set=suite.prompts_version or suite.name,
        budget=dollars(options["budget"]),
        **same,
    )


def _dataset(project: Project, suite: Suite, version: int | None) -> Dataset:
    """The version that is named, else the newest of the suite."""
    if version is not None:
        return version_of(project, version)
    newest = project.datasets.filter(suite=suite.name if suite.load else "").order_by("-version").first()
    if newest is None:
        raise ValueError(
            f"{project.slug} has no copy of {suite.title} yet: manage.py import_benchmark --project {project.slug} --suite {suite.name} --path FOLDER"
        )
    return newest


def version_of(project: Project, number: int) -> Dataset:
    held = project.datasets.filter(version=number).first()
    if held is None:
        known = ", ".join(map(str, project.datasets.order_by("version").values_list("version", flat=True))) or "none"
        raise ValueError(f"{project.slug} has no dataset version {number}; it has: {known}.")
    return held
