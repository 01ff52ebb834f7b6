"""The tables of the paper: three tasks in both scenarios, and how they go together over models."""

from collections.abc import Mapping, Sequence
from functools import partial

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.drawn import ModelRow, Plot
from benchmark.domain.plots import scores_by_part
from benchmark.domain.tables import Cell, Cells, Column, Table
from benchmark.suites.perceiving.perceptions import ACCURACY, RECALL
from benchmark.suites.reports import Published
from benchmark.suites.results import EntrantResults, Section, ShownPicture
from benchmark.suites.tables import figure, table_of
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


def complete(entrants: Entrants, tasks: Tasks) -> Entrants:
    """Return the models that have all tasks, with their figures; baselines are not models."""
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

    def of_task(task: str, scenario: str, metrics: Metrics) -> BoundedEstimate | None:
        return metrics.get(task, {}).get(scenario)

    figures = [
        figure(
            _column(tasks, task, scenario, parse), header, partial(of_task, task, scenario), group=scenario.capitalize()
        )
        for scenario in SCENARIOS
        for task, header in _titled(tasks, parse).items()
    ]
    title = Sentence(
        "Perception, belief from perception and questions by scenario, {parse} parse (%)", parse=word(parse)
    )
    return table_of(entrants, group, title, figures, *notes, lead=lead)


def without_metric(model: str, name: str, reason: str) -> str:
    """Return that a model has no metric of the task of this name, for a `reason` in a sentence."""
    return Sentence("{model} has no figure here of {name}. {reason}", model=model, name=name, reason=reason)


def correlations_table(entrants: Entrants, tasks: Tasks, parse: str) -> Table:
    """Return the table of the correlations of each two tasks over the models that have all, by scenario. Intervals are
    over families of models."""
    models = complete(entrants, tasks)
    columns = [
        Column(key="scenario", header=gettext_noop("Scenario")),
        Column(key="pair", header=gettext_noop("Pair")),
        Column(key="r", header="r", kind="number"),
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
        | _correlation(models, scenario, first, second)
        for scenario in SCENARIOS
        for first, second in ((perception, questions), (belief, questions), (perception, belief))
    ]
    title = Sentence("Correlations of the three tasks over models, {parse} parse", parse=word(parse))
    correlations = [row["r"] for row in rows]
    few = {r.n for r in correlations if r.n < FEWEST_POINTS}
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
    alike = {str(r.reason) for r in correlations if r.value is None and r.n >= FEWEST_POINTS}
    lead += [Sentence("No correlation where {reason}.", reason=reason) for reason in sorted(alike)]
    return Table(title=title, columns=columns, rows=rows, lead=lead, notes=[_CORRELATIONS])


def _correlation(models: Entrants, scenario: str, first: str, second: str) -> Cells:
    points = []
    for entrant, metrics in models:
        one, other = (metrics[task].get(scenario) for task in (first, second))
        if one and other and one.value is not None and other.value is not None:
            points.append((one.value, other.value, entrant.family or entrant.model))
    result = pearson(
        [first for first, _, _ in points],
        [other for _, other, _ in points],
        unit="models",
        clusters=[family for _, _, family in points],
        cluster_unit=FAMILIES,
    )
    interval = result.interval and list(result.interval)
    return {"r": Cell(result.r, interval, result.n, result.reason), "families": result.clusters, "p": result.p}


def pictures(entrants: Entrants, tasks: Tasks, parse: str, over: str, group: str) -> dict[str, ShownPicture]:
    """Return the picture of tasks by scenario, with intervals `over` what is resampled, in the plural."""
    if not entrants:
        return {}

    def plot() -> Plot:
        rows = [
            ModelRow(
                entrant.model,
                {
                    f"{name}, {scenario}": metrics[task][scenario]
                    for scenario in SCENARIOS
                    for task, name in _titled(tasks, parse).items()
                    if scenario in metrics.get(task, {})
                },
            )
            for entrant, metrics in entrants
        ]
        score, part = gettext_noop("Share"), gettext_noop("task and scenario")
        return scores_by_part(rows, parse=parse, score=score, part=part, short=_SHORT).about(over=over)

    title = gettext_noop("Three tasks by scenario")
    return {"scenarios": ShownPicture(title, plot, (group,), parts=parts_of(tasks, parse))}


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
