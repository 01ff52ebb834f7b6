"""Plans and settings of suites on the command line."""

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.management.json_command import dollars
from annotation.models import Project
from benchmark.domain.parameters import Options
from benchmark.models import Dataset, Run
from benchmark.services.asking import chosen_of
from benchmark.services.datasets import publish_version
from benchmark.services.launches import Launch, planned
from benchmark.services.plans import Plan, plans_of_launch
from benchmark.services.run_items import judged_answers, needed_by_judge
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suites
from benchmark.suites.settings import COLUMN, Setting
from core.incoming.misfit import Misfit
from workers.management.console import endpoint_named
from workers.models import Endpoint

_TRUTH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def options_given(offered: Sequence[Setting], arguments: Sequence[str]) -> Options:
    """Return the values of `NAME=VALUE`s, of the types of the settings. Raises ValueError with one sentence."""
    settings = {setting.name: setting for setting in offered}
    values: dict[str, Any] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals or name not in settings:
            texts = {True: "yes", False: "no"}
            defaults = [
                f"{setting.name}={texts[setting.default] if isinstance(setting.default, bool) else setting.default}"
                for setting in offered
            ]
            there = ", ".join(defaults) or "none"
            raise ValueError(f"--option {argument} is not an option of this suite; expected some of: {there}.")
        setting = settings[name]
        typed: Any = value
        if isinstance(setting.default, bool) and not setting.choices:
            if value.lower() not in _TRUTH:
                raise ValueError(f"{setting.label} is {value!r}; expected yes or no.")
            typed = _TRUTH[value.lower()]
        elif not setting.choices and not isinstance(setting.default, str):
            if not value.lstrip("-").isdecimal() or len(value) > 12:
                raise ValueError(f"{setting.label} is {value!r}; expected a whole number.")
            typed = int(value)
        values[name] = setting.checked(typed)
    return values


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def name_of(setting: Setting) -> str:
    """Return what the parser calls the flag of a setting."""
    return setting.flag.replace("-", "_")


def given(options: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Return those of the options that somebody typed; their defaults are None or False."""
    return [name for name in names if options[name] is not None and options[name] is not False]


def settings_with_flags(*, judging: bool = False) -> list[Setting]:
    """List the settings of all suites, each flag once; those of judging alone where they are asked for."""
    settings = [
        setting for suite in suites().values() for setting in (suite.judging_settings if judging else suite.settings)
    ]
    return list({setting.flag: setting for setting in reversed(settings) if setting.flag}.values())[::-1]


def add_flags(parser: ArgumentParser, settings: Iterable[Setting], prefix: str = "") -> None:
    """Add the flags of settings; `prefix` stands before what each is for."""
    for setting in settings:
        name, help_text, kind = flag(setting.flag), prefix + setting.flag_help, type(setting.default)
        if kind is bool:
            parser.add_argument(name, help=help_text, action="store_true")
        elif setting.choices:
            parser.add_argument(name, help=help_text, type=kind, choices=[value for value, _ in setting.choices])
        else:
            parser.add_argument(name, help=help_text, type=kind, metavar="N" if kind is int else "NAME")


def chosen_by_flag(settings: Sequence[Setting], options: Mapping[str, Any]) -> Options:
    """Return the values of settings whose flag somebody typed."""
    typed = {setting.name: setting for setting in settings if setting.flag and given(options, [name_of(setting)])}
    return {
        name: not setting.default if isinstance(setting.default, bool) else options[name_of(setting)]
        for name, setting in typed.items()
    }


def check_judge(typed: Iterable[Setting], judge: Endpoint | None) -> None:
    """Raise ValueError for a setting that a judge without a prompt has no use for."""
    if judge is None or judge.about.reads_prompts:
        return
    if idle := [setting for setting in typed if setting.unread]:
        raise ValueError(f"{flag(idle[0].flag)} is of no use: {judge.name} {idle[0].unread}.")


def check_only(settings: Sequence[Setting], chosen: Options, values: Options) -> None:
    """Raise ValueError for something `chosen` that is of no use with the `values` of the other settings."""
    for setting in settings:
        if setting.only and chosen.get(setting.name) and values[setting.only.name] != setting.only.value:
            clash = setting.only.message.format(value=values[setting.only.name])
            raise ValueError(f"{flag(setting.flag)} {clash}: leave one of them out.")


ALL = "all"
FLAGS = {"endpoints": "endpoint", "steps": "step", "methods": "method", "controls": "control"}
"""Fields of a launch whose flags have other names."""


def suite_plans(project: Project, suite: Suite, options: Mapping[str, Any]) -> list[Plan]:
    """Return the plans of all runs that the flags describe. Raises ValueError with one sentence."""
    method = suite.method
    if options["method"] and method and any(given.startswith(f"{method.name}=") for given in options["option"]):
        raise ValueError(f"--method and --option {method.name}= say the same: leave one of them out.")
    typed = chosen_by_flag(suite.settings, options)
    budget, arguments = dollars(options["budget"]), options["option"]
    without = [setting for setting in suite.settings if not setting.flag]
    if arguments and suite.settings and not without:
        raise ValueError(f"--option is for suites with settings of their own; {suite.title}'s are flags.")
    values = {field: options[FLAGS.get(field, field)] for field in Launch.model_fields if field != "options"} | {
        "endpoints": list(dict.fromkeys(options["endpoint"])),
        "steps": _steps(suite, options),
        "budget": None if budget is None else f"{abs(budget):f}",
        "options": {**options_given(without, arguments), **typed},
    }
    try:
        launch = Launch.of({name: value for name, value in values.items() if value not in (None, "", [])})
    except Misfit as error:
        wrong = error.wrong[0]
        name = wrong.field.partition("[")[0]
        raise ValueError(f"{flag(FLAGS.get(name, name))}: {wrong.actual}; expected {wrong.expected}.") from error
    return plans_of_launch(
        _suite_plan(project, suite, options, launch, typed),
        methods=launch.methods or (),
        swept={"levels": launch.levels or ()},
        judges=[endpoint_named(name) for name in launch.judges or ()],
        judge_levels=launch.judge_levels or (),
    )


def _suite_plan(project: Project, suite: Suite, options: Mapping[str, Any], launch: Launch, typed: Options) -> Plan:
    """Return the plan of a launch but for methods. Raises ValueError with one sentence, also for a flag that the suite,
    or no chosen step, or the judge, has a use for."""
    steps = launch.steps
    endpoints = [endpoint_named(name) for name in launch.endpoints]
    judge = endpoint_named(launch.judge) if launch.judge else None
    foreign = [name_of(setting) for setting in settings_with_flags() if setting not in suite.settings]
    if idle := given(options, foreign):
        raise ValueError(f"{flag(idle[0])} is of no use for {suite.title}: leave it out.")
    used = [setting for setting in suite.settings if setting.flag and given(options, [name_of(setting)])]
    judged = [step.key for step in suite.launched if step.judged] if options["judge"] else []
    for name, needed in [("judge", judged), *((setting.flag, list(setting.steps)) for setting in used)]:
        if needed and not set(needed) & set(steps):
            labels = " and ".join(suite.step(step).label.lower() for step in needed)
            way = f", or add --step {needed[0]}" if suite.step(needed[0]).judged else ""
            asked = ", ".join(steps)
            raise ValueError(f"{flag(name)} is for {labels}, and the steps are {asked}: leave it out{way}.")
    check_judge(used, judge)
    dataset, source = _dataset(project, suite, steps, endpoints, launch.dataset, typed)
    chosen = chosen_of(source) if source else {}
    columns = {setting.name for setting in suite.settings if setting.stored == COLUMN}
    taken = {name: value for name, value in chosen.items() if name in columns}
    rows = {"dataset": dataset, "endpoints": endpoints, "judge": judge, "source": source}
    plan = planned(suite, launch.given, **rows, options={**taken, **(launch.options or {})})
    check_only(suite.settings, typed, plan.options)
    return plan


def _steps(suite: Suite, options: Mapping[str, Any]) -> list[str]:
    """List the named steps in the order of the suite; a judge that is named judges what is asked for."""
    keys = [step.key for step in suite.launched]
    requested = options["step"] or []
    if not requested and not (suite.chooses_steps and suite.judging):
        requested = [step.key for step in suite.launched if not step.judged]
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


def _dataset(
    project: Project,
    suite: Suite,
    steps: Sequence[str],
    endpoints: Sequence[Endpoint],
    version: int | None,
    typed: Options,
) -> tuple[Dataset, Run | None]:
    """Return (the named version, the present gold or the newest copy; the run whose answers only the judge reads)."""
    judging = suite.judging
    dataset = version_of(project, version) if version is not None else None
    reads_others = judging is not None and judging.key in steps and not set(judging.needs) & set(steps)
    if dataset is None and not (reads_others and len(steps) == 1):
        if suite.copied.load:
            dataset = project.datasets.filter(suite=suite.name).order_by("-version").first()
        else:
            dataset = publish_version(by=None, project=project)[0]
        if dataset is None:
            raise ValueError(
                f"{project.slug} has no copy of {suite.title} yet: manage.py import_suite {suite.name} PATH "
                f"--project {project.slug}"
            )
    if dataset and not reads_others:
        return dataset, None
    source = _judgeable(project, suite, endpoints, dataset, typed)
    return source.dataset, source


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
