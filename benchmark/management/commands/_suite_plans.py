"""The plan of a run from the flags of `run_benchmark`, whatever its suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.management.commands._money import dollars
from annotation.models import Project
from benchmark.domain.parameters import Options
from benchmark.management.commands._flags import check_only, check_uses, chosen_by_flag, flag
from benchmark.management.commands._options import options_given
from benchmark.models import Dataset, Run
from benchmark.services.asking import chosen_of
from benchmark.services.datasets import publish_version
from benchmark.services.launch_shapes import Launch
from benchmark.services.launching import planned
from benchmark.services.method_plans import plans_by_method
from benchmark.services.plans import Plan
from benchmark.services.sweeps import plans_of_sweep, plans_with_judges
from benchmark.services.taken_over import judged_answers, needed_by_judge
from benchmark.suites.contract import Suite
from benchmark.suites.settings import COLUMN
from core.incoming.misfit import Misfit
from workers.management.named import endpoint_named
from workers.models import Endpoint

ALL = "all"
FLAGS = {"endpoints": "endpoint", "steps": "step", "methods": "method", "controls": "control"}
"""Fields of a launch whose flags have other names."""


def suite_plans(project: Project, suite: Suite, options: Mapping[str, Any]) -> list[Plan]:
    """Return the plans that the flags describe, one by each method that they name. Raises ValueError with one
    sentence."""
    method = suite.method
    if options["method"] and method and any(given.startswith(f"{method.name}=") for given in options["option"]):
        raise ValueError(f"--method and --option {method.name}= say the same: leave one of them out.")
    typed = chosen_by_flag(suite.settings, options)
    launch = launch_of(suite, options, typed)
    plans = plans_by_method(_suite_plan(project, suite, options, launch, typed), launch.methods or ())
    judges = [endpoint_named(name) for name in launch.judges or ()]
    return plans_with_judges(plans_of_sweep(plans, {"levels": launch.levels or ()}), judges, launch.judge_levels or ())


def launch_of(suite: Suite, options: Mapping[str, Any], typed: Options) -> Launch:
    """Return the launch that the flags describe, `typed` the settings among them. Raises ValueError with one
    sentence."""
    budget = dollars(options["budget"])
    values = {field: options[FLAGS.get(field, field)] for field in Launch.model_fields if field != "options"} | {
        "endpoints": list(dict.fromkeys(options["endpoint"])),
        "steps": _steps(suite, options),
        "budget": None if budget is None else f"{abs(budget):f}",
        "options": {**_own_options(suite, options["option"]), **typed},
    }
    try:
        return Launch.of({name: value for name, value in values.items() if value not in (None, "", [])})
    except Misfit as error:
        wrong = error.wrong[0]
        name = wrong.field.partition("[")[0]
        raise ValueError(f"{flag(FLAGS.get(name, name))}: {wrong.actual}; expected {wrong.expected}.") from error


def _suite_plan(project: Project, suite: Suite, options: Mapping[str, Any], launch: Launch, typed: Options) -> Plan:
    """Return the plan of a launch but for methods. Raises ValueError with one sentence."""
    steps = launch.steps
    endpoints = [endpoint_named(name) for name in launch.endpoints]
    judge = endpoint_named(launch.judge) if launch.judge else None
    check_uses(suite, options, steps, judge)
    dataset, source = _dataset(project, suite, steps, endpoints, launch.dataset, typed)
    chosen = chosen_of(source) if source else {}
    columns = {setting.name for setting in suite.settings if setting.stored == COLUMN}
    taken = {name: value for name, value in chosen.items() if name in columns}
    plan = planned(launch, suite, dataset=dataset, endpoints=endpoints, judge=judge, source=source, settings=taken)
    check_only(suite.settings, typed, plan.options)
    return plan


def _steps(suite: Suite, options: Mapping[str, Any]) -> list[str]:
    """List the steps that are named, in the order of the suite, all of one whose steps are not chosen but for judging;
    a judge that is named judges what is asked for."""
    keys = [step.key for step in suite.launched]
    requested = options["step"] or ([] if suite.chooses_steps and suite.judging else _unjudged(suite))
    expected = f"expected some of {', '.join(keys)}, or {ALL}"
    if not requested:
        raise ValueError(f"--step is missing; {expected}.")
    if wrong := [key for key in requested if key not in (*keys, ALL)]:
        raise ValueError(f"--step is {wrong[0]!r}; {expected}.")
    steps = [key for key in keys if ALL in requested or key in requested]
    judging = suite.judging
    if judging and options["judge"] and judging.key not in steps and set(judging.needs) <= set(steps):
        steps.append(judging.key)  # a judge without something to judge would be a mistake
    return steps


def _unjudged(suite: Suite) -> list[str]:
    return [step.key for step in suite.launched if not step.judged]


def _own_options(suite: Suite, arguments: Sequence[str]) -> Options:
    """Return what `--option` says of the settings that have no flag."""
    without = [setting for setting in suite.settings if not setting.flag]
    if arguments and suite.settings and not without:
        raise ValueError(f"--option is for suites with settings of their own; {suite.title}'s are flags.")
    return options_given(without, arguments)


def _dataset(
    project: Project,
    suite: Suite,
    steps: Sequence[str],
    endpoints: Sequence[Endpoint],
    version: int | None,
    typed: Options,
) -> tuple[Dataset, Run | None]:
    """Return (the version that is named, or the present gold, or the newest copy; the run whose answers the judge alone
    reads)."""
    judging = suite.judging
    dataset = version_of(project, version) if version is not None else None
    reads_others = judging is not None and judging.key in steps and not set(judging.needs) & set(steps)
    if dataset is None and not (reads_others and len(steps) == 1):
        dataset = _newest(project, suite) if suite.load else publish_version(by=None, project=project)[0]
    if not reads_others:
        return dataset, None
    source = _judgeable(project, suite, endpoints, dataset, typed)
    return source.dataset, source


def _newest(project: Project, suite: Suite) -> Dataset:
    newest = project.datasets.filter(suite=suite.name).order_by("-version").first()
    if newest is None:
        raise ValueError(
            f"{project.slug} has no copy of {suite.title} yet: manage.py import_suite {suite.name} PATH "
            f"--project {project.slug}"
        )
    return newest


def _judgeable(
    project: Project, suite: Suite, endpoints: Sequence[Endpoint], dataset: Dataset | None, typed: Options
) -> Run:
    """Return the newest run with what the judge reads of all of these models that fits what is given."""
    chosen = [setting for setting in suite.settings if setting.stored == COLUMN and setting.name in typed]
    columns = {setting.name: typed[setting.name] for setting in chosen}
    runs = Run.objects.listed().filter(project=project, suite=suite.name, source=None, **columns).order_by("-id")
    if dataset is not None:
        runs = runs.filter(dataset=dataset)
    needed = needed_by_judge(suite)
    for run in runs:
        endpoint_ids = set(run.entrants.values_list("endpoint_id", flat=True))
        if set(needed) <= set(run.steps) and endpoint_ids >= {endpoint.pk for endpoint in endpoints}:
            return run
    names = ", ".join(endpoint.name for endpoint in endpoints)
    asked_for = [f"version {dataset.version} of the dataset"] if dataset is not None else []
    asked_for += [f"{setting.name.replace('_', ' ')} {typed[setting.name]}" for setting in chosen]
    conditions = f" with {', '.join(asked_for)}" if asked_for else ""
    raise ValueError(
        f"No run of {project.slug} has {judged_answers(suite)[1]} of {names}{conditions}; add --step {needed[-1]}."
    )


def version_of(project: Project, number: int) -> Dataset:
    dataset = project.datasets.filter(version=number).first()
    if dataset is None:
        versions = ", ".join(map(str, project.datasets.order_by("version").values_list("version", flat=True))) or "none"
        raise ValueError(f"{project.slug} has no dataset version {number}; it has: {versions}.")
    return dataset
