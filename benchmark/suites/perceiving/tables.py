"""The tables of the paper: three tasks in both scenarios, and how they go together over models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.drawn import ModelRow, Plot
from benchmark.domain.plots import scores_by_part
from benchmark.domain.tables import Column, Table
from benchmark.domain.tables.estimates import estimate, estimated
from benchmark.domain.tables.table import Cells
from benchmark.suites.perceiving.perceptions import ACCURACY, RECALL
from benchmark.suites.reports import Published
from benchmark.suites.results import EntrantResults, Section
from benchmark.suites.showing.entrants import row_of
from benchmark.suites.showing.missing import missing_sentences
from core.messages import Sentence, gettext_noop, word
from core.statistics.correlation import FEWEST_POINTS, pearson, too_few_points
from workers.domain.families import FAMILIES

SCENARIOS = (gettext_noop("true belief"), gettext_noop("false belief"))
SCENARIOS_SECTION = Section(gettext_noop("True and false belief"), ("scenarios",), ("scenarios",), paper=True)
CORRELATIONS_SECTION = Section(
    gettext_noop("Do models that perceive better answer better?"), (), ("correlations",), paper=True
)
NAMES = (gettext_noop("Perception accuracy"), gettext_noop("Perception to belief"), gettext_noop("Questions"))
"""The names of the tasks by what the paper prints of each."""
_RECALL = gettext_noop("Perception recall")
_SHORT_NAMES = ("Perc.", gettext_noop("P to B"), "Quest.")
_CORRELATIONS = gettext_noop(
    "Pearson’s r over the models with figures of all three tasks, baselines left out; brackets: 95 % interval by "
    "Fisher’s z over model families, p two-sided. Few families leave it wide open. The paper has no significant one "
    "over its eight models."
)
Tasks = Mapping[str, str]
"""The name of each task, one of NAMES, by its key: those of perception, of perception to belief and of questions, in
this order."""
Metrics = Mapping[str, Mapping[str, BoundedEstimate]]
"""Figures of one model, by task and then by scenario."""
Entrants = Sequence[tuple[EntrantResults, Metrics]]


def tasks_of(perception: str, belief: str, questions: str) -> Tasks:
    """Return the three tasks with these keys."""
    return dict(zip((perception, belief, questions), NAMES, strict=True))


def published(tasks: Tasks, rankings: Mapping[tuple[str, str], tuple[str, str]]) -> tuple[Published, ...]:
    """Return the figures of the paper's table 5, by task and scenario; `rankings` says which of them are a metric of a
    metric group, (group, metric)."""
    return tuple(
        Published(
            f"{task}.{scenario}",
            title,
            Sentence("{scenario} (tables 1 and 5)", scenario=scenario.capitalize()),
            {
                "scenarios": f"{task} {scenario}",
                **dict([rankings[place]] if (place := (task, scenario)) in rankings else []),
            },
        )
        for scenario in SCENARIOS
        for task, title in tasks.items()
    )


def perceived_by(parse: str) -> str:
    """Return the share that a parse tells perception by: officially the paper's accuracy, of what a model wrote, else
    the recall, as leaving something out costs nothing in the accuracy."""
    return ACCURACY if parse == "official" else RECALL


def _titled(tasks: Tasks, parse: str) -> Tasks:
    """The names of the tasks, that of perception by the share that the parse tells it by."""
    perception, *_ = tasks
    return tasks if perceived_by(parse) == ACCURACY else {**tasks, perception: _RECALL}


def _column(tasks: Tasks, task: str, scenario: str, parse: str) -> str:
    """The key of a column: no figure of the paper has a place in that of the recall."""
    recall = _titled(tasks, parse)[task] == _RECALL
    return f"{task} recall {scenario}" if recall else f"{task} {scenario}"


def complete(entrants: Entrants, tasks: Tasks) -> list[Metrics]:
    """Return what the models come to that have all tasks; baselines are not models."""
    return [metrics for _, metrics in _complete(entrants, tasks)]


def families(entrants: Entrants, tasks: Tasks) -> list[str]:
    """Return the family of each of the models that have all tasks."""
    return [entrant.family or entrant.model for entrant, _ in _complete(entrants, tasks)]


def _complete(entrants: Entrants, tasks: Tasks) -> list[tuple[EntrantResults, Metrics]]:
    return [
        (entrant, metrics)
        for entrant, metrics in entrants
        if entrant.kind == "model" and metrics.keys() == tasks.keys()
    ]


def scenarios_table(
    entrants: Entrants, tasks: Tasks, group: str, parse: str, *notes: str, lead: Sequence[str] = ()
) -> Table:
    """Return the table of tasks by scenario; `group` is the metric group whose places models have in it, `lead` what is
    to be read first."""
    columns = [Column(key="model", header=gettext_noop("Model"))]
    for scenario in SCENARIOS:
        columns += [
            estimated(_column(tasks, task, scenario, parse), header, group=scenario.capitalize(), digits=1)
            for task, header in _titled(tasks, parse).items()
        ]
    rows = [row_of(entrant, group, _cells(metrics, tasks, parse)) for entrant, metrics in entrants]
    missing = missing_sentences(columns, [entrant for entrant, _ in entrants], group)
    title = Sentence(
        "Perception, belief from perception and questions by scenario, {parse} parse (%)", parse=word(parse)
    )
    return Table(title=title, columns=columns, rows=rows, lead=[*missing, *lead], notes=[*notes])


def _cells(metrics: Metrics, tasks: Tasks, parse: str) -> Cells:
    return {
        key: value
        for task, scenarios in metrics.items()
        for scenario in SCENARIOS
        if scenario in scenarios
        for key, value in estimate(_column(tasks, task, scenario, parse), scenarios[scenario]).items()
    }


def without_metric(model: str, name: str, reason: str) -> str:
    """Return that a model has no metric of the task of this name, for a `reason` in a sentence."""
    return Sentence("{model} has no figure here of {name}. {reason}", model=model, name=name, reason=reason)


def correlations_table(models: Sequence[Metrics], tasks: Tasks, parse: str, *, families: Sequence[str] = ()) -> Table:
    """Return the table of the correlations of each two tasks, by scenario. `families` are those of the models, if not
    every model is its own: intervals are over families."""
    columns = [
        Column(key="scenario", header=gettext_noop("Scenario")),
        Column(key="pair", header=gettext_noop("Pair")),
        Column(key="r", header="r", kind="number", interval="interval", n="n"),
        Column(key="families", header=gettext_noop("Families"), kind="count"),
        Column(key="p", header="p", kind="number", digits=3),
    ]
    perception, belief, questions = tasks
    names = _titled(tasks, parse)
    rows: list[Cells] = [
        {
            "scenario": scenario.capitalize(),
            "pair": Sentence("{first} and {second}", first=names[first], second=names[second].lower()),
        }
        | _correlation(models, families, scenario, first, second)
        for scenario in SCENARIOS
        for first, second in ((perception, questions), (belief, questions), (perception, belief))
    ]
    title = Sentence("Correlations of the three tasks over models, {parse} parse", parse=word(parse))
    few = {row["n"] for row in rows if row["n"] < FEWEST_POINTS}
    lead = (
        [
            Sentence(
                "No correlation over {few} models: {too_few_points}.",
                few=min(few),
                too_few_points=too_few_points("models"),
            )
        ]
        if few
        else []
    )
    alike = {str(row["interval_reason"]) for row in rows if row["r"] is None and row["n"] >= FEWEST_POINTS}
    lead += [Sentence("No correlation where {reason}.", reason=reason) for reason in sorted(alike)]
    return Table(title=title, columns=columns, rows=rows, lead=lead, notes=[_CORRELATIONS])


def _correlation(models: Sequence[Metrics], families: Sequence[str], scenario: str, first: str, second: str) -> Cells:
    estimates = [tuple(metrics[task].get(scenario) for task in (first, second)) for metrics in models]
    values = [[None if estimate is None else estimate.value for estimate in both] for both in estimates]
    kin = families or [str(at) for at in range(len(models))]
    points = [
        (first, other, family)
        for (first, other), family in zip(values, kin, strict=True)
        if first is not None and other is not None
    ]
    result = pearson(
        [first for first, _, _ in points],
        [other for _, other, _ in points],
        unit="models",
        clusters=[family for _, _, family in points],
        cluster_unit=FAMILIES,
    )
    cells = {"r": result.r, "interval": result.interval and list(result.interval), "n": result.n, "p": result.p}
    cells |= {"families": result.clusters}
    return cells | ({"interval_reason": result.reason} if result.reason else {})


def plot(entrants: Entrants, tasks: Tasks, parse: str, over: str) -> Plot:
    """Return the plot of tasks by scenario, with intervals `over` what is resampled, in the plural."""
    rows = [ModelRow(entrant.model, _parts(metrics, _titled(tasks, parse))) for entrant, metrics in entrants]
    score, part = gettext_noop("Share"), gettext_noop("task and scenario")
    return scores_by_part(rows, parse=parse, score=score, part=part, short=_SHORT).about(over=over)


def parts_of(tasks: Tasks, parse: str) -> dict[tuple[str, str], str]:
    """Return the parts of the picture of tasks by scenario that have the figures of the table's columns."""
    return {
        ("scenarios", _column(tasks, task, scenario, parse)): f"{name}, {scenario}"
        for scenario in SCENARIOS
        for task, name in _titled(tasks, parse).items()
    }


_SHORT = {
    f"{name}, {scenario}": f"{short} {scenario.split()[0]}"
    for scenario in SCENARIOS
    for name, short in zip((*NAMES, _RECALL), (*_SHORT_NAMES, _SHORT_NAMES[0]), strict=True)
}


def _parts(metrics: Metrics, tasks: Tasks) -> Cells:
    return {
        f"{name}, {scenario}": metrics[task][scenario]
        for scenario in SCENARIOS
        for task, name in tasks.items()
        if scenario in metrics.get(task, {})
    }
