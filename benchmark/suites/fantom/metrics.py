"""The metrics of the paper and its released code, of one parse, with intervals over conversations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, ClassVar

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.estimating import StoryScore
from benchmark.suites.fantom.embedding import EMBEDDER, EMBEDDERS
from benchmark.suites.fantom.judge import ANSWER, ANSWERING, CANNOT_TELL, JUDGE, NEITHER, RIGHT, WRONG, is_free
from benchmark.suites.fantom_questions.asking import by_chance, by_majority
from benchmark.suites.fantom_questions.data import (
    ACCESSIBLE,
    FACET_VALUES,
    FACT,
    INACCESSIBLE,
    SCENARIOS,
    SHORT_IN_PANELS,
    TYPES,
)
from benchmark.suites.fantom_questions.metrics import (
    WHOLES,
    Questions,
    Read,
    Wholes,
    f1_of,
    in_scenario,
    metrics_of,
    of_scenario,
    orders_of,
    reads_of,
    reasons_of,
    wholes_of,
)
from benchmark.suites.fantom_questions.pages import says
from benchmark.suites.groups import CATEGORY, MetricGroup, Parts
from benchmark.suites.measuring import (
    ACCURACY,
    accuracy_group,
    counted_outcomes,
    is_read_right,
    measured_samples,
    measured_sets,
    scored_by,
    sets_group,
    undefined,
    with_findings,
)
from benchmark.suites.questions import Entered, Outcome, Parse, Sample
from benchmark.suites.reasons import JUDGE_S, questions_unanswered
from benchmark.suites.reports import GroupMetrics
from core.messages import Sentence, gettext_noop, sentences
from core.plain import Json


@dataclass(frozen=True, slots=True)
class Analyses(Questions):
    """The figures of questions, of the facts, and the name of the embedder that they rest on."""

    kept_as: ClassVar[str] = "fantom"
    embedder: str
    fact: BoundedEstimate


def analyses_of(reads: Sequence[Read], wholes: Wholes, parse: str, embedder: str, seed: int) -> Analyses:
    """Return the figures of the answers of a parse.

    Repaired figures of the control are of the sets that are wholly accessible; official ones take what is accessible of
    any set, as the released code does.
    """
    parts = {scenario: of_scenario(reads, scenario, parse) for scenario in SCENARIOS}
    return Analyses(
        scenarios={scenario: metrics_of(part, in_scenario(wholes, scenario), seed) for scenario, part in parts.items()},
        orders={scenario: orders_of(part, seed) for scenario, part in parts.items()},
        reasons={scenario: reasons_of(part, parse) for scenario, part in parts.items()},
        embedder=embedder,
        fact=f1_of([read for read in reads if read.sample.content["kind"] == FACT], seed),
    )


NO_OFFICIAL = gettext_noop("The released code has no judge.")
UNREADABLE = "unreadable"
VERDICTS = (RIGHT, WRONG, NEITHER, CANNOT_TELL, UNREADABLE)
FREE_BELIEFS = MetricGroup(
    key="fantom-told",
    title=gettext_noop("Beliefs told freely, by a judge"),
    noun=gettext_noop("answering"),
    shares=(ACCURACY,),
    headers={ACCURACY: gettext_noop("Right, by the judge")},
    score=ACCURACY,
    score_title=gettext_noop("Beliefs told freely, by a judge"),
    prompt=ANSWER,
    rests_on=(*(step.key for step in ANSWERING), JUDGE),
    scored=JUDGE,
    judged=True,
    matched={"f1": ACCURACY},
    right_or_wrong=True,
    by_category=False,
    facets={"scenario": gettext_noop("Scenario"), "order": gettext_noop("Order of belief")},
    facet_values=FACET_VALUES,
    chance=by_chance,
    says=lambda sample, repaired: str(repaired.get("verdict")),
    notes=(
        gettext_noop(
            "The judge says whether an answer in free words states the right belief, the wrong one that the benchmark "
            "has beside it, or neither. Where it cannot tell, or gives no verdict, the answer is missing, with bounds. "
            "By chance 50 % are right, as one of both texts."
        ),
        gettext_noop("A conversation’s questions are resampled together."),
    ),
)


def _told(sample: Sample, outcomes: Sequence[Outcome]) -> StoryScore:
    if not is_free(sample):
        return undefined(sample, (ACCURACY,))
    of_judge = [replace(one, unreadable=JUDGE_S.get(one.unreadable, one.unreadable)) for one in outcomes]
    return replace(_scored(sample, of_judge), official=None, reason=NO_OFFICIAL)


def _matched(sample: Sample, outcome: Outcome, parse: Parse) -> bool | None:
    counts = (outcome.repaired or {}).get("pred") or [None]
    return None if counts[0] is None else counts[0] > 0


_scored = scored_by(_matched)


@dataclass(frozen=True, slots=True)
class FreeBeliefs:
    """The beliefs that answers state, by scenario: how many have each of VERDICTS (`verdicts`), and, of those that
    `both` the judge and the embedder call right or wrong, how many the embedder calls right (`near`) and of how many
    they say the same (`alike`)."""

    kept_as: ClassVar[str] = "told"
    by_scenario: Mapping[str, Mapping[str, Any]]

    def as_json(self) -> Json:
        """{scenario: {verdicts, both, near, alike}}."""
        return dict(self.by_scenario)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> FreeBeliefs:
        return cls(kept)


def _free_beliefs(entered: Entered) -> FreeBeliefs:
    by_scenario: dict[str, Json] = {}
    for scenario in SCENARIOS:
        verdicts: Counter[str] = Counter()
        pairs: list[tuple[bool, bool]] = []
        for sample in entered.samples:
            if not is_free(sample) or sample.content["scenario"] != scenario:
                continue
            outcomes = entered.outcomes.get(sample.key, ())
            near = {
                outcome.repetition: bool(outcome.repaired["right"])
                for outcome in outcomes
                if outcome.step == ANSWER
                and not outcome.unreadable
                and outcome.repaired
                and "right" in outcome.repaired
            }
            for outcome in counted_outcomes(outcomes, FREE_BELIEFS):
                verdict = (outcome.repaired or {}).get("verdict") or UNREADABLE
                verdicts[verdict] += 1
                if verdict not in (CANNOT_TELL, UNREADABLE) and outcome.repetition in near:
                    pairs.append((verdict == RIGHT, near[outcome.repetition]))
        by_scenario[scenario] = {
            "verdicts": {verdict: verdicts[verdict] for verdict in VERDICTS},
            "both": len(pairs),
            "near": sum(near for _, near in pairs),
            "alike": sum(judged == near for judged, near in pairs),
        }
    return FreeBeliefs(by_scenario)


ALL, F1 = "all", "f1"
_RESTS_ON = tuple(step.key for step in ANSWERING)
_RESAMPLED = gettext_noop("A conversation’s questions are resampled together.")
_SET = gettext_noop(
    "Figures are of sets, counted under their first question: a set is right where all its answers are."
)


def in_all_star(sample: Sample) -> bool:
    """Return whether a question counts for ALL*."""
    return not _is_fact(sample) and sample.content["scenario"] == INACCESSIBLE


def _is_fact(sample: Sample) -> bool:
    return bool(sample.content["kind"] == FACT)


def _sets_group(key: str, title: str, score: str, note: str, counts: Callable[[Sample], bool]) -> MetricGroup:
    notes = (sentences(_SET, note), _RESAMPLED)
    return sets_group(
        key,
        title,
        score,
        share=ALL,
        header=score,
        step=ANSWER,
        rests_on=_RESTS_ON,
        notes=notes,
        counts=counts,
        chance=by_chance,
        majority=by_majority,
        says=says,
    )


FALSE_BELIEF = _sets_group(
    "fantom",
    gettext_noop("Sets, false belief"),
    "ALL",
    gettext_noop("The set’s questions on what a character missed, without the beliefs in free words."),
    lambda sample: in_all_star(sample) and not is_free(sample),
)


FREE = {
    # the score has the name: figures by two embedders do not compare
    name: _sets_group(
        f"fantom-star-{re.sub('[^a-z0-9]+', '-', name.lower())}",
        Sentence("Sets, false belief, with free answers ({embedder})", embedder=name),
        f"ALL* ({name})",
        Sentence("As ALL, with the beliefs in free words, which the embedder {embedder} judges.", embedder=name),
        in_all_star,
    )
    for name in EMBEDDERS
}
"""ALL* by embedder: a run is in the one of its own."""
CONTROL = _sets_group(
    "fantom-control",
    "Sets, control",
    "ALL, control",
    gettext_noop(
        "The set’s questions on what everybody heard: in the repaired parse of sets without any other question, in the "
        "official one of whatever is accessible in any set, as the released code has it."
    ),
    lambda sample: not _is_fact(sample) and not is_free(sample) and sample.content["scenario"] == ACCESSIBLE,
)
QUESTIONS = accuracy_group(
    "fantom-questions",
    gettext_noop("Single questions"),
    step=ANSWER,
    rests_on=_RESTS_ON,
    facets={"scenario": gettext_noop("Scenario"), "order": gettext_noop("Order of belief")},
    facet_values=FACET_VALUES,
    chance=by_chance,
    majority=by_majority,
    says=says,
    notes=(gettext_noop("By chance 50 % of choices and of yes or no questions are right."), _RESAMPLED),
    parts=Parts(
        gettext_noop("Type of question"),
        facet=CATEGORY,
        values=tuple(name for (kind, _), name in TYPES.items() if kind != FACT),  # facts have no score here
        short=SHORT_IN_PANELS,
    ),
)
FACTS = MetricGroup(
    key="fantom-facts",
    title=gettext_noop("Facts"),
    noun=gettext_noop("answering"),
    shares=(F1,),
    headers={F1: gettext_noop("Token F1")},
    score=F1,
    score_title=gettext_noop("Token F1"),
    prompt=ANSWER,
    rests_on=_RESTS_ON,
    scored=ANSWER,
    notes=(
        (
            gettext_noop(
                "Whether a model follows the conversation at all. The repaired parse leaves out punctuation and "
                "articles, as SQuAD does."
            )
        ),
        _RESAMPLED,
    ),
    by_category=False,
    says=says,
)
GROUPS = (FALSE_BELIEF, *FREE.values(), CONTROL, QUESTIONS, FACTS, FREE_BELIEFS)


def measure(entered: Entered) -> dict[str, GroupMetrics | None]:
    """Return the figures of each group: of the answers that a run asked for, of the verdicts of its judge. The metrics
    of the paper's tables are found in the answers to single questions."""
    embedder, measured = entered.settings.options[EMBEDDER], dict[str, GroupMetrics | None]()

    def analyses(parse: Parse) -> Analyses:
        reads, wholes = reads_of(entered, QUESTIONS, parse), entered.resources.derived(WHOLES, wholes_of)
        return analyses_of(reads, wholes, parse, str(embedder), entered.settings.seed)

    def of_single(sample: Sample, outcomes: Sequence[Outcome]) -> StoryScore:
        return undefined(sample, (ACCURACY,)) if _is_fact(sample) else _accuracy(sample, outcomes)

    if ANSWER in entered.steps:
        measured[FALSE_BELIEF.key] = measured_sets(entered, FALSE_BELIEF, _rights)
        for name, group in FREE.items():
            measured[group.key] = measured_sets(entered, group, _rights) if name == embedder else None
        measured[CONTROL.key] = measured_sets(entered, CONTROL, _control)
        measured[QUESTIONS.key] = with_findings(measured_samples(entered, QUESTIONS, of_single), analyses)
        measured[FACTS.key] = measured_samples(entered, FACTS, _fact)
    if JUDGE in entered.steps:
        if (told := measured_samples(entered, FREE_BELIEFS, _told)) is not None:
            told = replace(told, reason=NO_OFFICIAL)
        measured[FREE_BELIEFS.key] = with_findings(told, lambda parse: _free_beliefs(entered))
    return measured


_rights = scored_by(is_read_right, ALL)
_accuracy = scored_by(is_read_right)


def _control(sample: Sample, outcomes: Sequence[Outcome]) -> StoryScore:
    """Return the shares of right answers, without a repaired figure in a set of which only a part is accessible."""
    result = _rights(sample, outcomes)
    if sample.content["wholly_accessible"]:
        return result
    return replace(undefined(sample, (ALL,)), official=result.official, reason=result.reason)


def _fact(sample: Sample, outcomes: Sequence[Outcome]) -> StoryScore:
    """The mean F1 of the repetitions; bounds take as 0 and as 1 what is missing or empty."""
    if not _is_fact(sample):
        return undefined(sample, (F1,))
    answered = [outcome for outcome in outcomes if not outcome.without]
    missing = len(outcomes) - len(answered)
    official = {F1: fmean([(outcome.official or {}).get(F1, 0.0) for outcome in answered])} if not missing else None
    read = [float((outcome.repaired or {})[F1]) for outcome in answered if not outcome.unreadable]
    worst = sum(read) / len(outcomes)
    best = worst + (len(outcomes) - len(read)) / len(outcomes)
    why = "" if read else next(outcome.without or outcome.unreadable for outcome in outcomes)
    reason, estimate = questions_unanswered(missing, len(outcomes)), {F1: fmean(read)} if read else None
    return StoryScore(sample.category, {F1: worst}, {F1: best}, estimate, why, official=official, reason=reason)
