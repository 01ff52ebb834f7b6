"""The registry of suites. A new one is its folder and its line in `FOLDERS`."""

import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module

from annotation.domain.schema import Schema
from annotation.domain.tasks import register_writer
from benchmark.suites.answers import Parser
from benchmark.suites.contract import Suite
from benchmark.suites.groups import MetricGroup
from benchmark.suites.guards import SuiteFailed, guarded
from benchmark.suites.items import OF_EVERY_SUITE
from benchmark.suites.settings import OF_EVERY_RUN, OF_THE_LAUNCH
from core.messages import Sentence
from workers.providers.baseline.baseline import Baseline
from workers.providers.baseline.registered import register_baseline, registered_baseline

_JOINT = "__"


def named_by(name: str, schema: Schema) -> str:
    """Return the name of a suite, or of a metric group, for gold of a schema that has its own: letters, digits, hyphens
    and low lines."""
    return _JOINT.join((name, schema.name, schema.version.replace(".", "_")))


def schema_in(name: str) -> tuple[str, str, str] | None:
    """Return (name, schema name, schema version) of what `named_by` made; None for another name."""
    parts = name.split(_JOINT, 2)
    return (parts[0], parts[1], parts[2].replace("_", ".")) if len(parts) == 3 else None


FOLDERS = ("omnitom", "tombench", "opentom", "fantom", "percept_tomi", "percept_fantom")
"""Folders beside this file, each with a `suite.py` that holds `SUITE`."""

_suites: dict[str, Suite] = {}
_groups: dict[str, MetricGroup] = {}
_of_schemas: dict[str, tuple[Schema, Suite]] = {}
"""Suites for gold of other schemas than they measure without being asked, by name, as they were needed. No list of
suites has them."""
_find_schema: Callable[[str, str], Schema] | None = None


class SuiteRefused(Exception):
    """A folder of `FOLDERS` without a suite that can be registered, as one sentence that names its file."""


def register(suite: Suite) -> None:
    """Register a suite. Raises ValueError with the first of its problems."""
    if problem := next(_problems(suite), ""):
        raise ValueError(problem)
    for writer in suite.gold.answer_writers:
        register_writer(writer)
    for baseline in suite.asking.baselines:
        register_baseline(baseline)
    _suites[suite.name] = guarded(suite)
    _groups.update({group.key: group for group in suite.groups})


def _problems(suite: Suite) -> Iterator[str]:
    """Yield the names that are taken by another suite or by every suite, and those of steps, metrics or groups that it
    lacks."""
    if suite.name in _suites and _suites[suite.name].groups != suite.groups:
        yield f"There is a suite {suite.name!r} already; expected a name of its own."
    yield from filter(None, [_unknown(suite)])
    others = [other for name, other in _suites.items() if name != suite.name]
    theirs = {group.key for other in others for group in other.groups}
    for group in suite.groups:
        if _groups.get(group.key, group) is not group or group.key in theirs:
            yield f"Two metric groups have the key {group.key!r}; expected one of its own for each."
    titles = [group.score_title for group in suite.groups]
    if twice := next((title for title in titles if titles.count(title) > 1), ""):
        yield (
            f"Two metric groups of {suite.name} have the score title {twice!r}; expected one of its own for "
            f"each, as tables and pictures are told apart by it."
        )
    if taken := sorted({setting.name for setting in suite.settings} & (OF_EVERY_RUN | OF_THE_LAUNCH)):
        yield f"Every run has a parameter {taken[0]!r}; expected another name for the setting of {suite.name}."
    filters = suite.items.rows.filters if suite.items.rows else ()
    if taken := sorted({item_filter.name for item_filter in filters} & OF_EVERY_SUITE):
        yield (
            f"The page of items has a parameter {taken[0]!r} of its own; expected another name for the "
            f"filter of {suite.name}."
        )
    for kind in suite.released.parsers:
        if any(kind in other.released.parsers for other in others):
            yield f"Two suites parse answers of the kind {kind!r}; expected one of its own for each."
    if baseline := _replacing(suite):
        yield (
            f"There is a baseline {baseline.name!r} for tasks {baseline.task!r} already, which answers otherwise than "
            f"that of {suite.name}; expected a kind of task of the suite's own."
        )


def _unknown(suite: Suite) -> str:
    """Say which step, metric or group the suite names without having it; nothing where there is none."""
    steps, groups = {step.key for step in suite.steps}, {group.key for group in suite.groups}
    named = [(f"The step {step.key!r}", {*step.needs, *step.after}, "step", steps) for step in suite.steps]
    for group in suite.groups:
        whose = f"The metric group {group.key!r}"
        named.append((whose, {group.prompt, group.scored, *group.rests_on}, "step", steps))
        named.append((whose, {group.score}, "share", {*group.shares}))
    named.append(("Its field `main`", {*suite.results.main}, "metric group", groups))
    for whose, names, what, names_known in named:
        if missing := sorted(names - names_known):
            offered = ", ".join(sorted(names_known)) or "none"
            return f"{whose} of {suite.name} names a {what} {missing[0]!r}; expected one of: {offered}."
    return ""


def _replacing(suite: Suite) -> Baseline | None:
    """Return a baseline of the suite that would take the place of another's: what others ask would be answered by
    it."""
    before = _suites[suite.name].asking.baselines if suite.name in _suites else ()
    own = {(baseline.name, baseline.task) for baseline in before}
    for baseline in suite.asking.baselines:
        other = registered_baseline(baseline.name, baseline.task)
        if other not in (None, baseline) and (baseline.name, baseline.task) not in own:
            return baseline
    return None


@cache
def _load() -> None:
    """Register the `SUITE` of each folder. Raises SuiteRefused, which says where in the code it failed."""
    folders: dict[str, str] = {}
    for folder in FOLDERS:
        file = f"benchmark/suites/{folder}/suite.py"
        try:
            suite = import_module(f"benchmark.suites.{folder}.suite").SUITE
        except Exception as error:  # whatever its author did not foresee
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if f"/{folder}/" in frame.filename]
            line = f", line {frames[-1].lineno} of {frames[-1].filename.rpartition('/')[2]}" if frames else ""
            why = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
            raise SuiteRefused(f"{file} cannot be loaded{line}: {why}.") from error
        if not isinstance(suite, Suite):
            raise SuiteRefused(f"{file}: SUITE is a {type(suite).__name__}; expected a Suite.")
        if other := folders.get(suite.name):
            raise SuiteRefused(f"{file}: {other} has a suite {suite.name!r} already; expected another name.")
        try:
            register(suite)
        except ValueError as error:
            raise SuiteRefused(f"{file}: {error}") from error
        folders[suite.name] = file


def suites() -> dict[str, Suite]:
    """All suites by name, in the order of their registration; what they do raises SuiteFailed for what they did not
    foresee."""
    _load()
    return dict(_suites)


class SuiteUnknown(SuiteFailed, KeyError):
    """A suite that this process does not have, as one sentence: it may have started before the suite was added."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError quotes what it is given


def suite_named(name: str) -> Suite:
    """Return the suite of that name, also for gold of a schema that has its own. Raises SuiteUnknown, a KeyError, where
    there is none."""
    _load()
    if name in _suites:
        return _suites[name]
    try:
        return _of_schema(name)
    except KeyError as error:
        raise SuiteUnknown(
            Sentence(
                "There is no suite {name} in this process; where it was added since, start server and workers anew.",
                name=repr(name),
            )
        ) from error


def is_suite(name: str) -> bool:
    """Return whether there is a suite of that name."""
    try:
        suite_named(name)
    except KeyError:
        return False
    return True


def ordered_suites(names: Iterable[str]) -> list[str]:
    """Return those of the names that suites have, in the order of their registration."""
    offered = {name: suite_named(name) for name in set(names) if is_suite(name)}
    order = list(suites())
    return sorted(offered, key=lambda name: (order.index(offered[name].asked_for_as), name))


def suite_for(name: str, schema: Schema) -> Suite:
    """Return the suite that a launch asks for by this name, for gold of a schema; one that fails to make it is itself,
    and finds that gold unfit. Raises KeyError where there is none."""
    suite = suite_named(name)
    suite = _suites[suite.gold.family] if suite.gold.family else suite
    if suite.gold.labelled_by is None:
        return suite
    try:
        suite_of_schema = suite.gold.labelled_by(schema)
    except SuiteFailed:  # the log has it
        return suite
    if suite_of_schema.name == suite.name:
        return suite
    registered = _of_schemas.get(suite_of_schema.name)
    if registered is None or registered[0] != schema:
        registered = _of_schemas[suite_of_schema.name] = schema, guarded(suite_of_schema)
    return registered[1]


def schemas_from(find: Callable[[str, str], Schema]) -> None:
    """Say where label schemas are found: `find` returns one by its name and version, and raises LookupError or
    ValueError."""
    global _find_schema
    _find_schema = find


def _of_schema(name: str) -> Suite:
    """Return the suite of a name that `named_by` made. Raises KeyError."""
    family, *reference = schema_in(name) or (name, "", "")
    if family not in _suites or not reference[0] or _find_schema is None:
        raise KeyError(name)
    try:
        suite = suite_for(family, _find_schema(reference[0], reference[1]))
    except ValueError as error:
        raise KeyError(name) from error
    if suite.name != name:
        raise KeyError(name)
    return suite


def parsers() -> dict[str, Parser]:
    """Return what official parsing there is, of all suites, by kind of answer."""
    return {kind: parser for suite in suites().values() for kind, parser in suite.released.parsers.items()}


def suites_of_gold() -> dict[str, Suite]:
    """The suites that work on a project's published gold, by name."""
    return {name: suite for name, suite in suites().items() if suite.copied.load is None}


def suite_of_gold(schema: Schema | None = None) -> Suite:
    """The first suite that works on a project's published gold, where a schema is given the one for gold of it."""
    suite = next(iter(suites_of_gold().values()))
    return suite_for(suite.name, schema) if schema else suite


def suites_of(dataset_suite: str, schema: Schema) -> list[Suite]:
    """Return the suites that can ask about a dataset: the one that it was imported for, none where that is gone; with
    an empty name those of gold that is labelled by the schema."""
    if not dataset_suite:
        return [suite_for(name, schema) for name in suites_of_gold()]
    return [suites()[dataset_suite]] if dataset_suite in suites() else []


def nouns_of_group(key: str) -> tuple[str, str]:
    """Return what the figures of a metric group count is called, one and many: the samples of its suite, or sets of
    them."""
    return group_named(key).unit or suite_named(group_suite(key)).noun


def units_of_group(key: str) -> str:
    """Return what intervals and tests of a metric group resample whole, in the plural."""
    return suite_named(group_suite(key)).cluster[1]


def nouns_of_samples(suite: str) -> tuple[str, str]:
    """Return what the samples of a dataset are called, one and many; `suite` is empty for published gold."""
    registered = suites().get(suite)
    return registered.noun if registered else suite_of_gold().noun


def keys_of(name: str) -> list[str]:
    """The keys of a suite's metric groups."""
    return [group.key for group in suite_named(name).groups]


def ordered_keys(keys: Iterable[str]) -> list[str]:
    """Keys of metric groups in the order of their suite: a database keeps no order of keys."""
    _load()
    order = list(_groups)
    places = {key: order.index(family) for key in set(keys) if (family := _family_key(key)) in _groups}
    return sorted(places, key=lambda key: (places[key], key))


def group_suite(key: str) -> str:
    """The name of the suite that a metric group belongs to. Raises KeyError where there is none."""
    return _suite_of_group(key).name


def group_named(key: str) -> MetricGroup:
    """The metric group of that key, of whatever suite. Raises KeyError where there is none."""
    _load()
    if key in _groups:
        return _groups[key]
    return next(group for group in _suite_of_group(key).groups if group.key == key)


def _suite_of_group(key: str) -> Suite:
    _load()
    family = _family_key(key)
    suite = next((suite for suite in _suites.values() if any(group.key == family for group in suite.groups)), None)
    if suite is None:
        raise KeyError(key)
    return suite if key == family else _of_schema(suite.name + key.removeprefix(family))


def _family_key(key: str) -> str:
    """Return the key of the metric group that one for gold of another schema is made of; else the same."""
    parts = schema_in(key)
    return parts[0] if parts else key
