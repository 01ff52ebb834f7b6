"""The tables of the paper: the three tasks in both scenarios, and how they go together over models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from benchmark.suites.perceiving import tables as of_three
from benchmark.suites.percept_tomi.measure import INFERRING, PERCEIVING, QUESTIONS
from benchmark.suites.showing.entrants import analyses_of
from benchmark.suites.shown import EntrantResults, ParseResults, ShownPicture, ShownTable
from core.language import gettext_noop

SECTIONS = (of_three.SCENARIOS_SECTION, of_three.CORRELATIONS_SECTION)
TASKS = of_three.tasks_of(PERCEIVING.key, INFERRING.key, QUESTIONS.key)
PUBLISHED = of_three.published(TASKS, {})
_SCENARIOS = gettext_noop(
    "Perception: the share of sentences with the right perceivers (recall); perception to belief: the questions "
    "asked with the true perceivers; questions: asked as the method puts them. Brackets: 95 % intervals over stories."
)


def tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of a parse, none without figures."""
    entrants = _entrants(results)
    if not entrants:
        return {}
    make = partial(of_three.scenarios_table, entrants, TASKS, QUESTIONS.key, results.parse, _SCENARIOS)
    shown_tables: dict[str, ShownTable] = {"scenarios": ShownTable(make, (QUESTIONS.key,))}
    models = of_three.complete(entrants, TASKS)
    if len(models) > 1:
        correlations = partial(of_three.correlations_table, models, TASKS, results.parse)
        shown_tables["correlations"] = ShownTable(correlations, tuple(TASKS))
    return shown_tables


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    """Return the picture of the three tasks by scenario."""
    entrants = _entrants(results)
    if not entrants:
        return {}
    drawn = partial(of_three.drawn, entrants, TASKS, results.parse, "stories")
    parts = of_three.parts_of(TASKS)
    return {
        "scenarios": ShownPicture(
            gettext_noop("Three tasks by scenario"), of_three.plot, drawn, (QUESTIONS.key,), parts=parts
        )
    }


def _entrants(results: ParseResults) -> list[tuple[EntrantResults, of_three.Metrics]]:
    """Models of any of the tasks with what they have by scenario, in the order in which the tasks name them."""
    first: dict[str, EntrantResults] = {}
    metrics: dict[str, dict[str, Mapping[str, Any]]] = {}
    for task in (QUESTIONS.key, PERCEIVING.key, INFERRING.key):
        for entrant in results.analysed.get(task, ()):
            first.setdefault(entrant.key, entrant)
            facets = analyses_of(entrant, results.parse)["facets"]
            metrics.setdefault(entrant.key, {})[task] = facets["scenario"]
    return [(entrant, metrics[key]) for key, entrant in first.items()]
