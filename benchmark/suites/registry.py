"""The registry of suites. A new one is its folder and its line in `FOLDERS`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from benchmark.suites.contract import MetricGroup, Suite
from benchmark.suites.guarding import guarded
from benchmark.suites.item_filters import OF_EVERY_SUITE
from benchmark.suites.released import Parser
from benchmark.suites.settings import OF_EVERY_RUN, OF_THE_LAUNCH
from workers.providers.baseline.registered import register_baseline

FOLDERS = ("omnitom", "tombench", "opentom", "fantom", "percept_tomi", "percept_fantom")
"""Folders beside this file, each with a `suite.py` that holds `SUITE`."""

_suites: dict[str, Suite] = {}
_groups: dict[str, MetricGroup] = {}


def register(suite: Suite) -> None:
    """Register a suite. Raises ValueError where its name, the key of one of its metric groups or a kind of answer that it parses is another's, where two
    of its metric groups have one score title, or where the name of one of its settings is one of every run, that of a filter one of every suite."""
    if suite.name in _suites and _suites[suite.name].groups != suite.groups:
        raise ValueError(f"There is a suite {suite.name!r} already; expected a name of its own.")
    for group in suite.groups:
        if _groups.get(group.key, group) is not group:
            raise ValueError(f"Two metric groups have the key {group.key!r}; expected one of its own for each.")
    titles = [group.score_title for group in suite.groups]
    if twice := next((title for title in titles if titles.count(title) > 1), ""):
        raise ValueError(
            f"Two metric groups of {suite.name} have the score title {twice!r}; expected one of its own for each, as tables and pictures are told apart by it."
        )
    if taken := sorted({setting.name for setting in suite.settings} & (OF_EVERY_RUN | OF_THE_LAUNCH)):
        raise ValueError(
            f"Every run has a parameter {taken[0]!r}; expected another name for the setting of {suite.name}."
        )
    if taken := sorted({item_filter.name for item_filter in suite.rows.filters} & OF_EVERY_SUITE if suite.rows else ()):
        raise ValueError(
            f"The page of items has a parameter {taken[0]!r} of its own; expected another name for the filter of {suite.name}."
        )
    for kind in suite.parsers:
        if any(kind in other.parsers for name, other in _suites.items() if name != suite.name):
            raise ValueError(f"Two suites parse answers of the kind {kind!r}; expected one of its own for each.")
    for baseline in suite.baselines:
        register_baseline(baseline)
    _suites[suite.name] = guarded(suite)
    _groups.update({group.key: group for group in suite.groups})


@cache
def _load() -> None:
    for folder in FOLDERS:
        register(import_module(f"benchmark.suites.{folder}.suite").SUITE)


def suites() -> dict[str, Suite]:
    """All suites by name, in the order of their registration; what they do raises SuiteFailed for what they did not foresee."""
    _load()
    return dict(_suites)


def suite_named(name: str) -> Suite:
    """Return the suite of that name. Raises KeyError where there is none."""
    _load()
    return _suites[name]


def parsers() -> dict[str, Parser]:
    """Return what official parsing there is, of all suites, by kind of answer."""
    return {kind: parser for suite in suites().values() for kind, parser in suite.parsers.items()}


def suites_of_gold() -> dict[str, Suite]:
    """The suites that work on a project's frozen gold, by name."""
    return {name: suite for name, suite in suites().items() if suite.load is None}


def suite_of_gold() -> Suite:
    """The first suite that works on a project's frozen gold."""
    return next(iter(suites_of_gold().values()))


def suites_of(dataset_suite: str) -> list[Suite]:
    """Return the suites that can ask about a dataset: the one that it was imported for, none where that is gone; with an empty name those of gold."""
    if not dataset_suite:
        return list(suites_of_gold().values())
    return [suites()[dataset_suite]] if dataset_suite in suites() else []


def nouns_of_group(key: str) -> tuple[str, str]:
    """Return what the figures of a metric group count is called, one and many: the samples of its suite, or sets of them."""
    return group_named(key).unit or suite_named(group_suite(key)).noun


def units_of_group(key: str) -> str:
    """Return what intervals and tests of a metric group resample whole, in the plural."""
    return suite_named(group_suite(key)).cluster[1]


def nouns_of_samples(suite: str) -> tuple[str, str]:
    """Return what the samples of a dataset are called, one and many; `suite` is empty for frozen gold."""
    registered = suites().get(suite)
    return registered.noun if registered else suite_of_gold().noun


def keys_of(name: str) -> list[str]:
    """The keys of a suite's metric groups."""
    return [group.key for group in suite_named(name).groups]


def ordered_keys(keys: Iterable[str]) -> list[str]:
    """Keys of metric groups in the order of their suite: a database keeps no order of keys."""
    _load()
    requested = set(keys)
    return [key for key in _groups if key in requested]


def group_suite(key: str) -> str:
    """The name of the suite that a metric group belongs to. Raises KeyError where there is none."""
    group_named(key)
    return next(name for name, suite in suites().items() if any(group.key == key for group in suite.groups))


def group_named(key: str) -> MetricGroup:
    """The metric group of that key, of whatever suite. Raises KeyError where there is none."""
    _load()
    return _groups[key]
