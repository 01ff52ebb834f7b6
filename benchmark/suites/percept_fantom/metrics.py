"""Figures of questions and perceptions in both scenarios, of one parse, with intervals over conversations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.estimating import StoryScore
from benchmark.suites.fantom_questions.asking import by_chance, by_majority
from benchmark.suites.fantom_questions.data import ACCESSIBLE, FACET_VALUES, INACCESSIBLE, SCENARIOS
from benchmark.suites.fantom_questions.metrics import (
    WHOLES,
    Questions,
    Read,
    Wholes,
    all_right,
    estimate_of,
    in_scenario,
    metrics_of,
    of_scenario,
    orders_of,
    reads_of,
    reasons_of,
    wholes_of,
)
from benchmark.suites.fantom_questions.pages import says
from benchmark.suites.figures import Unit, without_value
from benchmark.suites.groups import MetricGroup
from benchmark.suites.measuring import (
    accuracy_group,
    is_read_right,
    measured_samples,
    measured_sets,
    scored_by,
    scored_shares,
    sets_group,
    undefined,
    with_findings,
)
from benchmark.suites.perceiving import perceptions as perceived
from benchmark.suites.perceiving.asking import ANSWER, BELIEF, PERCEPTIONS, perceiving_group, perceptions_stated
from benchmark.suites.perceiving.tables import perceived_by, tasks_of
from benchmark.suites.percept_fantom.data import SCENARIO_NAMES
from benchmark.suites.percept_fantom.steps import LEVELS, STEPS
from benchmark.suites.questions import Entered, Outcome, Parse, Sample
from benchmark.suites.reports import GroupMetrics
from core.messages import gettext_noop, sentences

_OF_FREE_ANSWERS = ("all_star", "distance", "distance_f1")


def questions_of(reads: Sequence[Read], wholes: Wholes, parse: str, seed: int) -> Questions:
    """Return the figures of the answers of a parse; `wholes` are the questions of all sets. A set counts for true
    belief where all its questions do, in both parses; officially the other metrics take what is of any set."""
    parts = {scenario: of_scenario(reads, scenario, parse) for scenario in SCENARIOS}
    scenarios = {}
    for scenario, part in parts.items():
        metrics = metrics_of(part, in_scenario(wholes, scenario), seed)
        if scenario == ACCESSIBLE and parse == "official":
            metrics["all"] = all_right(of_scenario(part, scenario, "repaired"), in_scenario(wholes, scenario), seed)
        scenarios[scenario] = {name: metric for name, metric in metrics.items() if name not in _OF_FREE_ANSWERS}
    return Questions(
        scenarios=scenarios,
        orders={scenario: orders_of(part, seed) for scenario, part in parts.items()},
        reasons={scenario: reasons_of(part, parse) for scenario, part in parts.items()},
    )


ALL = "all"
_BY_METHOD = tuple(step.key for step in STEPS if step.key not in (PERCEPTIONS, BELIEF))
_RESAMPLED = gettext_noop("A conversation’s questions are resampled together.")
_SET = gettext_noop(
    "Figures are of sets, counted under their first question: a set is right where all its choices, lists and "
    "yes or no questions are."
)
_FALSE = gettext_noop("The set’s questions on what a character missed.")
_TRUE = gettext_noop("Sets all of whose questions are on what everybody heard.")
_GIVEN = gettext_noop("They are asked with the true perceivers of every utterance.")


def in_false(sample: Sample) -> bool:
    """Return whether a question counts for set:ALL of false belief."""
    return bool(sample.content["scenario"] == INACCESSIBLE)


def in_true(sample: Sample) -> bool:
    """Return whether a question counts for set:ALL of true belief."""
    return bool(sample.content["scenario"] == ACCESSIBLE and sample.content["wholly_accessible"])


def _sets_group(
    key: str, title: str, score: str, step: str, note: str, counts: Callable[[Sample], bool]
) -> MetricGroup:
    return sets_group(
        key,
        title,
        score,
        share=ALL,
        header="set:ALL",
        step=step,
        rests_on=_BY_METHOD if step == ANSWER else (step,),
        counts=counts,
        chance=by_chance,
        majority=by_majority,
        says=says,
        noun=gettext_noop("answering") if step == ANSWER else gettext_noop("perception-to-belief inference"),
        notes=(sentences(_SET, note), _RESAMPLED),
    )


FALSE_BELIEF = _sets_group(
    "percept-fantom",
    gettext_noop("Sets, false belief"),
    gettext_noop("set:ALL, false belief"),
    ANSWER,
    _FALSE,
    in_false,
)
TRUE_BELIEF = _sets_group(
    "percept-fantom-true",
    gettext_noop("Sets, true belief"),
    gettext_noop("set:ALL, true belief"),
    ANSWER,
    _TRUE,
    in_true,
)
QUESTIONS = accuracy_group(
    "percept-fantom-questions",
    gettext_noop("Single questions"),
    step=ANSWER,
    rests_on=_BY_METHOD,
    facets={"belief": gettext_noop("Scenario"), "order": gettext_noop("Order of belief")},
    facet_values=FACET_VALUES,
    chance=by_chance,
    majority=by_majority,
    says=says,
    notes=(gettext_noop("By chance 50 % of choices and of yes or no questions are right."), _RESAMPLED),
)
PERCEIVING = perceiving_group(
    "percept-fantom-perception",
    whole=gettext_noop("Whole conversations"),
    levels=LEVELS,
    says=lambda sample, repaired: perceptions_stated(repaired["scenes"], sample.content["names"]),
    notes=(
        gettext_noop(
            "Recall: the share of a conversation’s utterances that have exactly the right perceivers, "
            "the speaker aside. "
            "Accuracy, the benchmark’s own, is of the utterances that the model wrote: leaving one out costs nothing "
            "there. Whole conversations: nothing wrong in what the model wrote (official), or in all "
            "of the conversation "
            "(repaired)."
        ),
        sentences(
            gettext_noop(
                "A conversation counts once for each of its sets, under the set’s first question, as in the released "
                "code."
            ),
            _RESAMPLED,
        ),
    ),
)
GIVEN_FALSE = _sets_group(
    "percept-fantom-belief",
    gettext_noop("Perception to belief, false belief"),
    gettext_noop("set:ALL from perceptions, false belief"),
    BELIEF,
    sentences(_FALSE, _GIVEN),
    in_false,
)
GIVEN_TRUE = _sets_group(
    "percept-fantom-belief-true",
    gettext_noop("Perception to belief, true belief"),
    gettext_noop("set:ALL from perceptions, true belief"),
    BELIEF,
    sentences(_TRUE, _GIVEN),
    in_true,
)
GROUPS = (FALSE_BELIEF, TRUE_BELIEF, QUESTIONS, PERCEIVING, GIVEN_FALSE, GIVEN_TRUE)
TASKS = tasks_of(PERCEPTIONS, BELIEF, ANSWER)
"""The three tasks of the paper, by step."""
NOUNS = {PERCEPTIONS: PERCEIVING.noun, BELIEF: GIVEN_FALSE.noun}
"""Names of the first two of them."""


def measure(entered: Entered) -> dict[str, GroupMetrics | None]:
    """Return the figures of each group, None of one whose step was not asked; the figures of the paper's tables are
    found in the answers to single questions."""
    measured = {
        group.key: measured_sets(entered, group, _rights)
        for group in (FALSE_BELIEF, TRUE_BELIEF, GIVEN_FALSE, GIVEN_TRUE)
    }
    firsts: dict[str, str] = {}  # the first sample of each set whose perceptions were asked
    for sample in entered.samples:
        if any(outcome.step == PERCEPTIONS for outcome in entered.outcomes.get(sample.key, ())):
            firsts.setdefault(sample.group, sample.key)
    shares = scored_shares(perceived.SHARES)

    def of_first(sample: Sample, outcomes: Sequence[Outcome]) -> StoryScore:
        """Return the figures of perceptions, which a set has under that sample alone."""
        if firsts[sample.group] != sample.key:
            return undefined(sample, perceived.SHARES)
        return shares(sample, outcomes)

    measured[PERCEIVING.key] = measured_samples(entered, PERCEIVING, of_first)
    measured[QUESTIONS.key] = with_findings(
        measured_samples(entered, QUESTIONS, scored_by(is_read_right)),
        lambda parse: _analyses(entered, parse, {*firsts.values()}, _withheld(measured) if parse == "official" else {}),
    )
    return {group.key: measured[group.key] for group in GROUPS}


def _withheld(measured: Mapping[str, GroupMetrics | None]) -> dict[str, str]:
    """Return why the ranking of a task has no official figure, by task; those that have one are not among them."""
    groups = {PERCEPTIONS: (PERCEIVING,), BELIEF: (GIVEN_FALSE, GIVEN_TRUE)}
    reasons = {
        task: [figures.reason for group in of_task if (figures := measured[group.key]) and figures.reason]
        for task, of_task in groups.items()
    }
    return {task: of_task[0] for task, of_task in reasons.items() if of_task}


_rights = scored_by(is_read_right, ALL)


@dataclass(frozen=True, slots=True)
class Analyses(Questions):
    """The figures of questions, and by task and scenario the estimates of the paper's first table, without tasks that
    were not asked; `withheld` says by task why its estimates have bounds alone."""

    kept_as: ClassVar[str] = "percept-fantom"
    tasks: Mapping[str, Mapping[str, BoundedEstimate]]
    withheld: Mapping[str, str]


def _analyses(entered: Entered, parse: Parse, firsts: set[str], withheld: dict[str, str]) -> Analyses:
    seed = entered.settings.seed
    reads = reads_of(entered, QUESTIONS, parse)
    wholes = entered.resources.derived(WHOLES, wholes_of)
    tasks = {ANSWER: _sets(reads, wholes, seed)}
    if given := reads_of(entered, GIVEN_FALSE, parse):
        tasks[BELIEF] = _sets(given, wholes, seed)
    if firsts:
        share = perceived_by(parse)
        perceptions = [
            (read.sample.content["scenarios"], Unit(read.sample.cluster, (read.parse or {}).get(share)))
            for read in reads_of(entered, PERCEIVING, parse)
            if read.sample.key in firsts
        ]  # a set with beliefs of both scenarios is in both
        tasks[PERCEPTIONS] = {
            name: estimate_of([unit for scenarios, unit in perceptions if scenario in scenarios], seed)
            for scenario, name in SCENARIO_NAMES.items()
        }
    for task, reason in withheld.items():
        tasks[task] = {name: without_value(estimate, reason) for name, estimate in tasks[task].items()}
    questions = questions_of(reads, wholes, parse, seed)
    return Analyses(questions.scenarios, questions.orders, questions.reasons, tasks, withheld)


def _sets(reads: Sequence[Read], wholes: Wholes, seed: int) -> dict[str, BoundedEstimate]:
    """set:ALL by scenario, true belief over sets all of whose questions are of it."""
    return {
        name: all_right(of_scenario(reads, scenario, "repaired"), in_scenario(wholes, scenario), seed)
        for scenario, name in SCENARIO_NAMES.items()
    }
