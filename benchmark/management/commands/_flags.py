"""Flags of the suites' settings."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmark.suites.contract import Suite
from benchmark.suites.registry import suites
from benchmark.suites.settings import Setting
from workers.models import Endpoint


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def name_of(setting: Setting) -> str:
    """What the parser calls the flag of a setting."""
    return setting.flag.replace("-", "_")


def given(options: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Those of the options that somebody typed; their defaults are None or False."""
    return [name for name in names if options[name] is not None and options[name] is not False]


def settings_with_flags(*, judging: bool = False) -> list[Setting]:
    """Of all suites, each flag once; those of judging alone where they are asked for."""
    held = [one for suite in suites().values() for one in (suite.judging_settings if judging else suite.settings)]
    return list({one.flag: one for one in reversed(held) if one.flag}.values())[::-1]


def add_flags(parser: ArgumentParser, settings: Iterable[Setting], told: str = "") -> None:
    """`told` stands before what each is for."""
    for one in settings:
        parser.add_argument(flag(one.flag), help=told + one.flag_help, **_kind(one))


def _kind(setting: Setting) -> dict[str, Any]:
    if isinstance(setting.default, bool):
        return {"action": "store_true"}
    if setting.choices:
        return {"type": type(setting.default), "choices": [value for value, _ in setting.choices]}
    return {"type": int, "metavar": "N"} if isinstance(setting.default, int) else {"metavar": "NAME"}


def chosen_by_flag(settings: Sequence[Setting], options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings whose flag somebody typed."""
    held = {one.name: one for one in settings if one.flag and given(options, [name_of(one)])}
    return {
        name: not one.default if isinstance(one.default, bool) else options[name_of(one)] for name, one in held.items()
    }


def check_uses(suite: Suite, options: Mapping[str, Any], stages: Sequence[str], judge: Endpoint | None) -> None:
    """Raises ValueError for a flag that the suite, or no chosen stage, or this judge, has a use for."""
    foreign = [name_of(one) for one in settings_with_flags() if one not in suite.settings]
    if idle := given(options, foreign):
        raise ValueError(f"{flag(idle[0])} is of no use for {suite.title}: leave it out.")
    typed = [one for one in suite.settings if one.flag and given(options, [name_of(one)])]
    judged = [one.key for one in suite.launched if one.judged]
    wanted = [("judge", judged)] if options["judge"] and judged else []
    for name, steps in wanted + [(one.flag, list(one.steps)) for one in typed]:
        if steps and not set(steps) & set(stages):
            raise ValueError(_of_no_stage(suite, name, steps, stages))
    check_judge(typed, judge)


def _of_no_stage(suite: Suite, name: str, steps: Sequence[str], stages: Sequence[str]) -> str:
    labels = " and ".join(suite.step(one).label.lower() for one in steps)
    way = f", or add --stage {steps[0]}" if suite.step(steps[0]).judged else ""
    return f"{flag(name)} is for {labels}, and the stages are {', '.join(stages)}: leave it out{way}."


def check_judge(typed: Iterable[Setting], judge: Endpoint | None) -> None:
    """Raises ValueError for a setting that a judge without a prompt has no use for."""
    if judge is None or judge.about.reads_prompts:
        return
    if idle := [one for one in typed if one.unread]:
        raise ValueError(f"{flag(idle[0].flag)} is of no use: {judge.name} {idle[0].unread}.")


def check_only(settings: Sequence[Setting], chosen: Mapping[str, Any], held: Mapping[str, Any]) -> None:
    """Raises ValueError for something `chosen` that is of no use with what another setting is `held` to be."""
    for one in settings:
        if one.only and chosen.get(one.name) and held[one.only.name] != one.only.value:
            told = one.only.told.format(value=held[one.only.name])
            raise ValueError(f"{flag(one.flag)} {told}: leave one of them out.")
