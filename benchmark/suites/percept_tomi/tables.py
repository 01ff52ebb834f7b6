"""The tables of the paper: the three tasks in both scenarios, and how they go together over models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.perceiving import tables as of_three
from benchmark.suites.perceiving.shares import ACCURACY
from benchmark.suites.percept_tomi.measure import INFERRING, PERCEIVING, QUESTIONS, ByAccuracy
from benchmark.suites.reports import Facet
from benchmark.suites.results import EntrantResults, ParseResults, ShownPicture, ShownTable
from benchmark.suites.showing.entrants import facet_of, finding_of
from core.messages import gettext_noop

SECTIONS = (of_three.SCENARIOS_SECTION, of_three.CORRELATIONS_SECTION)
TASKS = of_three.tasks_of(PERCEIVING.key, INFERRING.key, QUESTIONS.key)
PUBLISHED = of_three.published(TASKS, {})
_PERCEPTION = {
    "official": gettext_noop(
        "Perception accuracy, as the paper has it: of the sentences that a model wrote, the share with the right "
        "perceivers."
    ),
    "repaired": gettext_noop(
        "Perception recall: of the sentences of a story, the share with the right perceivers. The paper has the "
        "accuracy, in which leaving a sentence out costs nothing: it stands in the official table."
    ),
}
_SCENARIOS = gettext_noop(
    "Perception to belief: the questions asked with the true perceivers; questions: asked as the method puts them. "
    "Brackets: 95 % intervals over stories."
)


def tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of a parse, none without figures."""
    entrants, parse = _entrants(results), results.parse
    if not entrants:
        return {}
    notes = (_PERCEPTION[parse], _SCENARIOS)
    make = partial(
        of_three.scenarios_table, entrants, TASKS, QUESTIONS.key, parse, *notes, lead=[*_without_metrics(results)]
    )
    shown_tables: dict[str, ShownTable] = {"scenarios": ShownTable(make, (QUESTIONS.key,))}
    models = of_three.complete(entrants, TASKS)
    if len(models) > 1:
        kin = of_three.families(entrants, TASKS)
        correlations = partial(of_three.correlations_table, models, TASKS, parse, families=kin)
        shown_tables["correlations"] = ShownTable(correlations, tuple(TASKS))
    return shown_tables


def _without_metrics(results: ParseResults) -> Iterator[str]:
    """Models that were asked at one of the first two steps and have no metric of this parse, and why; the table itself
    names those without a row."""
    for task in (PERCEIVING, INFERRING):
        for entrant in results.entrants.get(task.key, ()):
            reason = entrant.parses.reason
            if reason and not entrant.parses.of(results.parse):
                yield of_three.without_metric(entrant.model, task.noun, reason)


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    """Return the picture of the three tasks by scenario."""
    entrants = _entrants(results)
    if not entrants:
        return {}
    plot = partial(of_three.plot, entrants, TASKS, results.parse, "stories")
    parts = of_three.parts_of(TASKS, results.parse)
    return {"scenarios": ShownPicture(gettext_noop("Three tasks by scenario"), plot, (QUESTIONS.key,), parts=parts)}


def _entrants(results: ParseResults) -> list[tuple[EntrantResults, of_three.Metrics]]:
    """Models of any of the tasks with what they have by scenario, in the order in which the tasks name them."""
    first: dict[str, EntrantResults] = {}
    metrics: dict[str, dict[str, Mapping[str, BoundedEstimate]]] = {}
    for task in (QUESTIONS.key, PERCEIVING.key, INFERRING.key):
        for entrant in results.analysed.get(task, ()):
            first.setdefault(entrant.key, entrant)
            facet = _by_scenario(entrant, task, results.parse)
            metrics.setdefault(entrant.key, {}).update({task: facet} if facet is not None else {})
    return [(entrant, metrics[key]) for key, entrant in first.items()]


def _by_scenario(entrant: EntrantResults, task: str, parse: str) -> Facet | None:
    """Return what a model came to in a task by scenario, None where its report does not say it."""
    if task != PERCEIVING.key or of_three.perceived_by(parse) != ACCURACY:
        return facet_of(entrant, parse, "scenario")
    by_accuracy = finding_of(entrant, parse, ByAccuracy)
    return by_accuracy.facets.get("scenario") if by_accuracy else None
