"""Options of suites on the command line: NAME=VALUE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmark.domain.parameters import Options
from benchmark.suites.contract import Setting

_TRUTH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def options_given(offered: Sequence[Setting], arguments: Sequence[str]) -> Options:
    """Return the values of `NAME=VALUE`s, of the types of the settings. Raises ValueError with one sentence."""
    settings = {setting.name: setting for setting in offered}
    values: dict[str, Any] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals or name not in settings:
            there = ", ".join(f"{setting.name}={_default_text(setting.default)}" for setting in offered) or "none"
            raise ValueError(f"--option {argument} is not an option of this suite; expected some of: {there}.")
        values[name] = settings[name].checked(_typed(settings[name], value))
    return values


def _default_text(default: str | int | bool) -> str | int:
    return ("no", "yes")[default] if isinstance(default, bool) else default


def _typed(setting: Setting, value: str) -> Any:
    if setting.choices or isinstance(setting.default, str):
        return value
    if isinstance(setting.default, bool):
        if value.lower() not in _TRUTH:
            raise ValueError(f"{setting.label} is {value!r}; expected yes or no.")
        return _TRUTH[value.lower()]
    if not value.lstrip("-").isdecimal() or len(value) > 12:
        raise ValueError(f"{setting.label} is {value!r}; expected a whole number.")
    return int(value)
