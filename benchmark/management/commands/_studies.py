"""Tables of structure against answers, kinds of gold and doubtful gold for the command `results`."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from annotation.models import Project
from benchmark.domain.tables import Table
from benchmark.services.doubtful_gold import doubtful_gold, doubtful_table
from benchmark.services.gold_kind_tables import tables_of as gold_tables
from benchmark.services.gold_kinds import OVERALL, Labelling, gold_metrics_of, labelled_versions, labelling_of
from benchmark.services.plot_data import Picture
from benchmark.services.structure import association_of
from benchmark.services.structure_sides import NAMES, choice_of, lacking, sides_of
from benchmark.services.structure_tables import PICTURE, picture_of
from benchmark.services.structure_tables import tables_of as structure_tables

Tables = Mapping[str, Callable[[], Table]]
Plots = Mapping[str, Picture]
FILTERS = {"structure": (*NAMES, "model"), "gold": ("version", "dimension"), "doubtful-gold": ("version",)}
"""Filters by page, under their names in addresses."""


def study_of(table: str | None) -> str | None:
    """Return the page that a table is of, such as `structure` of `structure-two-by-two`."""
    return next((name for name in FILTERS if table and (table == name or table.startswith(f"{name}-"))), None)


def study_contents(project: Project, study: str, given: Sequence[str]) -> tuple[Tables, Plots]:
    """Return the tables and plots of a page under filters `NAME=VALUE`. Raises ValueError."""
    filters = [(name, value) for name, _, value in (text.partition("=") for text in given)]
    if unknown := next((name for name, _ in filters if name not in FILTERS[study]), None):
        raise ValueError(f"--filter {unknown}: expected one of {', '.join(FILTERS[study])}.")
    if study == "structure":
        return _structure(project, filters)
    chosen = dict(filters)
    labelling = _labelling(project, chosen.get("version"))
    if study == "doubtful-gold":
        gold = doubtful_gold(labelling)
        return {study: partial(doubtful_table, gold, labelling.dataset.schema)}, {}
    metrics, dimension = gold_metrics_of(labelling), chosen.get("dimension")
    _check("dimension", dimension, metrics.keys)
    tables = gold_tables(metrics, metrics.keys.index(dimension) if dimension else OVERALL)
    return {f"gold-{name}": make for name, make in tables.items()}, {}


def _structure(project: Project, filters: Sequence[tuple[str, str]]) -> tuple[Tables, Plots]:
    sides = sides_of(project)
    if need := lacking(sides):
        raise ValueError(need)
    models = [value for name, value in filters if name == "model"]
    chosen = {name: value for name, value in filters if name != "model"}
    choice, problem = choice_of(sides, chosen, models)
    _check("measure", chosen.get("measure"), [measure.key for measure in sides.measures])
    for model in models:
        _check("model", model, sides.models(choice.measure, choice.answers.key))
    _check("structure", chosen.get("structure"), sides.structure_runs(choice.measure))
    _check("run", chosen.get("run"), sides.runs(choice.answers.key))
    if problem:
        raise ValueError(problem.replace("; the median is taken", ""))
    association = association_of(sides, choice)
    if not association.tables:
        raise ValueError("No chosen model has figures of both for a common story.")
    tables = {f"structure-{name}": make for name, make in structure_tables(association).items()}
    return tables, {f"structure-{PICTURE}": picture_of(association)}


def _labelling(project: Project, version: str | None) -> Labelling:
    datasets = labelled_versions(project)
    dataset = next((candidate for candidate in datasets if version in (None, str(candidate.version))), None)
    labelling = labelling_of(dataset) if dataset else None
    if labelling is None or not labelling.entrants:
        there = ", ".join(str(candidate.version) for candidate in datasets) or "none"
        raise ValueError(f"No finished run labelled that version of the gold; versions that models labelled: {there}.")
    return labelling


def _check(name: str, value: str | None, among: Sequence[str] | Mapping[str, str]) -> None:
    if value and value not in among:
        raise ValueError(f"--filter {name}={value}: there is none of that name; there are: {', '.join(among)}.")
