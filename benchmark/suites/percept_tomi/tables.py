"""The tables of the paper: the three tasks in both scenarios, and how they go together over models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from benchmark.domain.tables import Column, Table
from benchmark.domain.tables.estimates import estimate, estimated
from benchmark.suites.percept_tomi.measure import INFERRING, PERCEIVING, QUESTIONS
from benchmark.suites.percept_tomi.samples import SCENARIOS
from benchmark.suites.showing.entrants import analyses_of, row_of
from benchmark.suites.showing.missing import unlike_missing
from benchmark.suites.shown import EntrantResults, Plot, ReadingResults, Section, ShownPicture, ShownTable
from core.statistics.correlation import pearson

SECTIONS = (
    Section("True and false belief", ("scenarios",), ("scenarios",)),
    Section("Do models that perceive better answer better?", (), ("correlations",)),
)
TASKS = {PERCEIVING.key: "Perception", INFERRING.key: "Perception to belief", QUESTIONS.key: "Questions"}
_SCENARIOS = (
    "Perception: the share of sentences with the right perceivers (recall); perception to belief: the questions asked with the true perceivers; "
    "questions: asked as the method puts them. Brackets: 95 % intervals over stories."
)
_CORRELATIONS = (
    "Pearson’s r over the models with figures of all three tasks, baselines left out; brackets: 95 % interval by Fisher’s z, p two-sided. Few models "
    "leave it wide open. The paper has no significant one over its eight models."
)
Figures = Mapping[str, Mapping[str, Any]]
"""By task, then by scenario, an estimate."""


def tables(results: ReadingResults) -> dict[str, ShownTable]:
    """Return the tables of a reading, none without figures."""
    entrants = _entrants(results)
    if not entrants:
        return {}
    groups = tuple(TASKS)
    found: dict[str, ShownTable] = {
        "scenarios": ShownTable(partial(_scenarios, entrants, results.reading), (QUESTIONS.key,))
    }
    complete = [
        figures for entrant, figures in entrants if entrant["kind"] == "model" and figures.keys() == TASKS.keys()
    ]
    if len(complete) > 1:
        found["correlations"] = ShownTable(partial(_correlations, complete, results.reading), groups)
    return found


def pictures(results: ReadingResults) -> dict[str, ShownPicture]:
    """Return the picture of the three tasks by scenario."""
    entrants = _entrants(results)
    if not entrants:
        return {}
    drawn = partial(_drawn, entrants, results.reading)
    return {"scenarios": ShownPicture("Three tasks by scenario", _plot, drawn, (QUESTIONS.key,))}


def _entrants(results: ReadingResults) -> list[tuple[EntrantResults, Figures]]:
    """Models of any of the tasks with what they have by scenario, in the order in which the tasks name them."""
    first: dict[str, EntrantResults] = {}
    figures: dict[str, dict[str, Mapping[str, Any]]] = {}
    for task in (QUESTIONS.key, PERCEIVING.key, INFERRING.key):
        for entrant in results.analysed.get(task, ()):
            first.setdefault(entrant["key"], entrant)
            facets = analyses_of(entrant, results.reading)["facets"]
            figures.setdefault(entrant["key"], {})[task] = facets["scenario"]
    return [(entrant, figures[key]) for key, entrant in first.items()]


def _scenarios(entrants: Sequence[tuple[EntrantResults, Figures]], reading: str) -> Table:
    columns = [Column(key="model", header="Model")]
    for scenario in SCENARIOS:
        columns += [
            estimated(f"{task} {scenario}", header, group=scenario.capitalize(), digits=1)
            for task, header in TASKS.items()
        ]
    rows = [row_of(entrant, QUESTIONS.key, _cells(figures)) for entrant, figures in entrants]
    lead = unlike_missing({QUESTIONS.key: [entrant for entrant, _ in entrants]})
    title = f"Perception, belief from perception and questions by scenario, {reading} reading (%)"
    return Table(title=title, columns=columns, rows=rows, lead=lead, notes=[_SCENARIOS])


def _cells(figures: Figures) -> dict[str, Any]:
    return {
        key: value
        for task, scenarios in figures.items()
        for scenario in SCENARIOS
        if scenario in scenarios
        for key, value in estimate(f"{task} {scenario}", scenarios[scenario]).items()
    }


def _correlations(models: Sequence[Figures], reading: str) -> Table:
    columns = [
        Column(key="scenario", header="Scenario"),
        Column(key="pair", header="Pair"),
        Column(key="r", header="r", kind="number", interval="interval", n="n"),
        Column(key="p", header="p", kind="number", digits=3),
    ]
    rows = [
        {"scenario": scenario.capitalize(), "pair": f"{TASKS[first]} and {TASKS[second].lower()}"}
        | _correlation(models, scenario, first, second)
        for scenario in SCENARIOS
        for first, second in _PAIRS
    ]
    title = f"Correlations of the three tasks over models, {reading} reading"
    return Table(title=title, columns=columns, rows=rows, notes=[_CORRELATIONS])


_PAIRS = ((PERCEIVING.key, QUESTIONS.key), (INFERRING.key, QUESTIONS.key), (PERCEIVING.key, INFERRING.key))


def _correlation(models: Sequence[Figures], scenario: str, first: str, second: str) -> dict[str, Any]:
    values = [tuple(figures[task].get(scenario, {}).get("value") for task in (first, second)) for figures in models]
    pairs = [(one, other) for one, other in values if one is not None and other is not None]
    result = pearson([one for one, _ in pairs], [other for _, other in pairs], unit="models")
    cells = {"r": result.r, "interval": result.interval and list(result.interval), "n": result.n, "p": result.p}
    return cells | ({"interval_reason": result.reason} if result.reason else {})


def _plot() -> Plot:
    from benchmark.domain.plots import scores_by_part

    return scores_by_part


def _drawn(entrants: Sequence[tuple[EntrantResults, Figures]], reading: str) -> dict[str, Any]:
    rows = [{"model": entrant["model"], "values": _parts(figures)} for entrant, figures in entrants]
    return {"positional": [rows], "reading": reading, "score": "Share", "part": "task and scenario", "short": _SHORT}


_SHORT = {
    f"{name}, {scenario}": f"{short} {scenario.split()[0]}"
    for scenario in SCENARIOS
    for name, short in zip(TASKS.values(), ("Perc.", "P to B", "Quest."), strict=True)
}


def _parts(figures: Figures) -> dict[str, Any]:
    return {
        f"{name}, {scenario}": figures[task][scenario]
        for scenario in SCENARIOS
        for task, name in TASKS.items()
        if scenario in figures.get(task, {})
    }
