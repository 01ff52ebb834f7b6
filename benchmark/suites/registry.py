"""The suites that there are. A new one is its folder and its line in `FOLDERS`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from benchmark.suites.contract import MetricGroup, Suite
from benchmark.suites.settings import OF_EVERY_RUN, OF_THE_LAUNCH
from workers.providers.baseline.registered import register_baseline

FOLDERS = ("omnitom", "tombench")
"""Folders beside this file, each with a `suite.py` that holds `SUITE`."""

_suites: dict[str, Suite] = {}
_groups: dict[str, MetricGroup] = {}


def register(suite: Suite) -> None:
    """Adds a suite. Raises ValueError where its name, or the key of one of its metric groups, is another's, or that of a setting is one of every run."""
    if _suites.get(suite.name, suite) is not suite:
        raise ValueError(f"There is a suite {suite.name!r} already; expected a name of its own.")
    for group in suite.groups:
        if _groups.get(group.key, group) is not group:
            raise ValueError(f"Two metric groups have the key {group.key!r}; expected one of its own for each.")
    if taken := sorted({one.name for one in suite.settings} & (OF_EVERY_RUN | OF_THE_LAUNCH)):
        raise ValueError(
            f"Every run has a parameter {taken[0]!r}; expected another name for the setting of {suite.name}."
        )
    for baseline in suite.baselines:
        register_baseline(baseline)
    _suites[suite.name] = suite
    _groups.update({group.key: group for group in suite.groups})


@cache
def _load() -> None:
    for folder in FOLDERS:
        register(import_module(f"benchmark.suites.{folder}.suite").SUITE)


def suites() -> dict[str, Suite]:
    """All suites by name, in the order of their registration."""
    _load()
    return dict(_suites)


def suite_named(name: str) -> Suite:
    """Raises KeyError where there is none."""
    _load()
    return _suites[name]


def suite_of_gold() -> Suite:
    """The first suite that works on a project's frozen gold."""
    return next(one for one in suites().values() if one.load is None)


def nouns_of_group(key: str) -> tuple[str, str]:
    """What the samples of a metric group's suite are called, one and many."""
    return suite_named(group_suite(key)).noun


def nouns_of_samples(suite: str) -> tuple[str, str]:
    """What the samples of a dataset are called, one and many; `suite` is empty for frozen gold."""
    held = suites().get(suite)
    return held.noun if held else suite_of_gold().noun


def keys_of(name: str) -> list[str]:
    """The keys of a suite's metric groups."""
    return [group.key for group in suite_named(name).groups]


def ordered_keys(keys: Iterable[str]) -> list[str]:
    """Keys of metric groups in the order of their suite: a database keeps no order of keys."""
    _load()
    wanted = set(keys)
    return [key for key in _groups if key in wanted]


def group_suite(key: str) -> str:
    """The name of the suite that a metric group belongs to. Raises KeyError where there is none."""
    group = group_named(key)
    return next(name for name, suite in suites().items() if group in suite.groups)


def group_named(key: str) -> MetricGroup:
    """The metric group of that key, of whatever suite. Raises KeyError where there is none."""
    _load()
    return _groups[key]
