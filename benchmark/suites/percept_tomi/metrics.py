"""Figures of a model's answers: accuracy of questions and of beliefs from the true perceptions, and how well it
infers perceptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from benchmark.domain.bounded_estimates import BoundedEstimate, kept_estimates
from benchmark.suites.groups import Parts
from benchmark.suites.measuring import (
    accuracy_group,
    facets_of,
    measured_samples,
    scored_by,
    scored_shares,
    with_findings,
)
from benchmark.suites.perceiving import tables as of_three
from benchmark.suites.perceiving.asking import ANSWER, BELIEF, PERCEPTIONS, perceiving_group, perceptions_stated
from benchmark.suites.perceiving.perceptions import ACCURACY, SHARES
from benchmark.suites.perceiving.tables import SCENARIOS
from benchmark.suites.percept_tomi.steps import LEVELS, STEPS, USUAL, usual_container
from benchmark.suites.questions import Entered, Outcome, Parse, Resources, Sample
from benchmark.suites.reports import Facet, GroupMetrics
from benchmark.suites.results import EntrantResults, ParseResults, ShownPicture, ShownTable
from benchmark.suites.showing.entrants import facet_of, finding_of
from core.messages import gettext_noop, sentences
from core.plain import Json, plain

_FACETS = {"scenario": gettext_noop("Scenario"), "order": gettext_noop("Order")}
_RESAMPLED = gettext_noop("The questions about one story are resampled together.")


def by_chance(sample: Sample) -> float:
    """Return how likely one of the containers, drawn with each as likely, is the right one."""
    containers: list[str] = sample.content["containers"]
    return containers.count(sample.gold["answer"]) / len(containers)


def by_majority(sample: Sample, resources: Resources) -> float:
    """Return whether the container that is right most often, by its place in the story, is right."""
    usual = resources.derived(USUAL, usual_container)
    return float(sample.content["containers"][usual] == sample.gold["answer"])


def place_stated(sample: Sample, repaired: Mapping[str, Any]) -> str:
    """Return where the answer puts the thing: the container by its place in the story, which is the same under other
    names; another word as it is."""
    places = [*sample.content["containers"], *sample.gold["candidates"]]
    return str(places.index(repaired["place"])) if repaired["place"] in places else str(repaired["place"])


QUESTIONS = accuracy_group(
    "percept-tomi",
    "Questions",
    step=ANSWER,
    rests_on=[step.key for step in STEPS if step.key not in (PERCEPTIONS, BELIEF)],
    facets=_FACETS,
    chance=by_chance,
    majority=by_majority,
    says=place_stated,
    notes=(_RESAMPLED,),
    parts=Parts(gettext_noop("Scenario"), facet="scenario", values=SCENARIOS),
)
PERCEIVING = perceiving_group(
    "percept-tomi-perception",
    whole=gettext_noop("Whole stories"),
    of_types=True,
    facets=_FACETS,
    levels=LEVELS,
    says=lambda sample, repaired: perceptions_stated(
        repaired["scenes"], list(dict.fromkeys(name for names in sample.gold["perceivers"] for name in names if name))
    ),
    notes=(
        gettext_noop(
            "Recall: the share of a story’s sentences on where a thing is that have exactly the right perceivers. "
            "Accuracy, the benchmark’s own, is of the sentences that the model wrote: leaving one out costs nothing "
            "there. Whole stories: nothing wrong in what the model wrote (official), or in all of the story (repaired)."
        ),
        sentences(gettext_noop("A story counts once for each question about it, as in the released code."), _RESAMPLED),
    ),
)
INFERRING = accuracy_group(
    "percept-tomi-belief",
    gettext_noop("Perception-to-belief inference"),
    noun=gettext_noop("perception-to-belief inference"),
    score_title=gettext_noop("Belief accuracy"),
    step=BELIEF,
    rests_on=(BELIEF,),
    facets=_FACETS,
    chance=by_chance,
    majority=by_majority,
    says=place_stated,
    notes=(sentences(gettext_noop("The question is asked with the true perceivers of every sentence."), _RESAMPLED),),
)
GROUPS = (QUESTIONS, PERCEIVING, INFERRING)


@dataclass(frozen=True, slots=True)
class ByAccuracy:
    """The accuracy of perceptions by facet and value."""

    kept_as: ClassVar[str] = ACCURACY
    facets: Mapping[str, Facet]

    def as_json(self) -> Json:
        """{facet: {value: estimate}}."""
        return {name: plain(facet) for name, facet in self.facets.items()}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> ByAccuracy:
        return cls({name: kept_estimates(facet) for name, facet in kept.items()})


def measure(entered: Entered) -> dict[str, GroupMetrics | None]:
    """Return the figures of the three groups, None of one whose step was not asked; with those of perceptions
    stand the accuracies by facet."""
    right, perceived = scored_by(_right), scored_shares(SHARES)
    return {
        QUESTIONS.key: measured_samples(entered, QUESTIONS, right),
        PERCEIVING.key: with_findings(
            measured_samples(entered, PERCEIVING, perceived),
            lambda parse: ByAccuracy(facets_of(entered, PERCEIVING, perceived, ACCURACY, parse)),
        ),
        INFERRING.key: measured_samples(entered, INFERRING, right),
    }


def _right(sample: Sample, outcome: Outcome, parse: Parse) -> bool | None:
    if parse == "repaired":
        return bool((outcome.repaired or {}).get("place") == sample.gold["answer"])
    right: bool | None = (outcome.official or {}).get("right")
    return right


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
    # a model that was asked at one of the first two steps and has no metric; the table names those without a row
    lead = [
        of_three.without_metric(entrant.model, task.noun, entrant.metrics.reason)
        for task in (PERCEIVING, INFERRING)
        for entrant in results.entrants.get(task.key, ())
        if entrant.metrics.reason and not entrant.parses.of(parse)
    ]
    notes = (_PERCEPTION[parse], _SCENARIOS)
    make = partial(of_three.scenarios_table, entrants, TASKS, QUESTIONS.key, parse, *notes, lead=lead)
    shown_tables: dict[str, ShownTable] = {"scenarios": ShownTable(make, (QUESTIONS.key,))}
    if len(of_three.complete(entrants, TASKS)) > 1:
        correlations = partial(of_three.correlations_table, entrants, TASKS, parse)
        shown_tables["correlations"] = ShownTable(correlations, tuple(TASKS))
    return shown_tables


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    """Return the picture of the three tasks by scenario."""
    return of_three.pictures(_entrants(results), TASKS, results.parse, "stories", QUESTIONS.key)


def _entrants(results: ParseResults) -> list[tuple[EntrantResults, of_three.Metrics]]:
    """Models of any of the tasks with what they have by scenario, in the order in which the tasks name them."""
    first: dict[str, EntrantResults] = {}
    metrics: dict[str, dict[str, Mapping[str, BoundedEstimate]]] = {}
    for task in (QUESTIONS.key, PERCEIVING.key, INFERRING.key):
        for entrant in results.analysed.get(task, ()):
            first.setdefault(entrant.key, entrant)
            facet = facet_of(entrant, results.parse, "scenario")
            if task == PERCEIVING.key and of_three.perceived_by(results.parse) == ACCURACY:
                found = finding_of(entrant, results.parse, ByAccuracy)
                facet = found.facets.get("scenario") if found else None
            metrics.setdefault(entrant.key, {}).update({task: facet} if facet is not None else {})
    return [(entrant, metrics[key]) for key, entrant in first.items()]
