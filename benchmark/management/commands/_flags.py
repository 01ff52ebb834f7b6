"""Flags of the suites' settings."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmark.domain.parameters import Options
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suites
from benchmark.suites.settings import Setting
from workers.models import Endpoint


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


def check_uses(suite: Suite, options: Mapping[str, Any], asked: Sequence[str], judge: Endpoint | None) -> None:
    """Raise ValueError for a flag that the suite, or no chosen step, or this judge, has a use for."""
    foreign = [name_of(setting) for setting in settings_with_flags() if setting not in suite.settings]
    if idle := given(options, foreign):
        raise ValueError(f"{flag(idle[0])} is of no use for {suite.title}: leave it out.")
    typed = [setting for setting in suite.settings if setting.flag and given(options, [name_of(setting)])]
    judged = [step.key for step in suite.launched if step.judged]
    steps_by_flag = [("judge", judged)] if options["judge"] and judged else []
    for name, steps in steps_by_flag + [(setting.flag, list(setting.steps)) for setting in typed]:
        if steps and not set(steps) & set(asked):
            raise ValueError(_of_no_step(suite, name, steps, asked))
    check_judge(typed, judge)


def _of_no_step(suite: Suite, name: str, steps: Sequence[str], asked: Sequence[str]) -> str:
    labels = " and ".join(suite.step(step).label.lower() for step in steps)
    way = f", or add --step {steps[0]}" if suite.step(steps[0]).judged else ""
    return f"{flag(name)} is for {labels}, and the steps are {', '.join(asked)}: leave it out{way}."


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
