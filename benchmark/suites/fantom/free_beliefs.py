"""Beliefs told in free words, by a judge: how many are right, and what the others state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from benchmark.suites.fantom.answering import ANSWER, ANSWERING
from benchmark.suites.fantom.judging import JUDGE
from benchmark.suites.fantom.verdicts import CANNOT_TELL, NEITHER, RIGHT, WRONG, is_free
from benchmark.suites.fantom_questions.by_chance import by_chance
from benchmark.suites.fantom_questions.question_types import FACET_VALUES, SCENARIOS
from benchmark.suites.groups import MetricGroup
from benchmark.suites.measuring import (
    ACCURACY,
    SampleResult,
    counted_outcomes,
    measured_samples,
    scored_by,
    undefined,
    with_findings,
)
from benchmark.suites.questions import Entered, Measured, Outcome, Parse, Sample
from benchmark.suites.reasons import JUDGE_S
from core.messages import gettext_noop
from core.plain import Json, plain, read_as

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


def measure_free_beliefs(entered: Entered) -> Measured | None:
    """Return the figures of the judge's verdicts, with what answers state."""
    measured = measured_samples(entered, FREE_BELIEFS, _sample_result)
    if measured is None:
        return None
    measured = replace(measured, metrics=replace(measured.metrics, reason=NO_OFFICIAL))
    return with_findings(measured, lambda parse: FreeBeliefs(free_beliefs_of(entered)))


def _sample_result(sample: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
    if not is_free(sample):
        return undefined(sample, (ACCURACY,))
    result = _scored(sample, [_of_judge(outcome) for outcome in outcomes])
    return replace(result, official=None, reason=NO_OFFICIAL)


def _of_judge(outcome: Outcome) -> Outcome:
    return replace(outcome, unreadable=JUDGE_S.get(outcome.unreadable, outcome.unreadable))


def _matched(sample: Sample, outcome: Outcome, parse: Parse) -> bool | None:
    counts = (outcome.repaired or {}).get("pred") or [None]
    return None if counts[0] is None else counts[0] > 0


_scored = scored_by(_matched)


@dataclass(frozen=True, slots=True)
class StatedBeliefs:
    """Beliefs that the answers of a scenario state: how many have each of VERDICTS, and, of those that both the judge
    and the embedder call right or wrong, how many the embedder calls right and of how many they say the same."""

    verdicts: Mapping[str, int]
    both: int
    near: int
    alike: int


@dataclass(frozen=True, slots=True)
class FreeBeliefs:
    """What answers state, by scenario."""

    kept_as: ClassVar[str] = "told"
    by_scenario: Mapping[str, StatedBeliefs]

    def as_json(self) -> Json:
        """{scenario: {verdicts, both, near, alike}}."""
        return {scenario: plain(beliefs) for scenario, beliefs in self.by_scenario.items()}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> FreeBeliefs:
        return cls({scenario: read_as(StatedBeliefs, beliefs) for scenario, beliefs in kept.items()})


def free_beliefs_of(entered: Entered) -> dict[str, StatedBeliefs]:
    """Return what answers state, by scenario."""
    return {scenario: _in_scenario(entered, scenario) for scenario in SCENARIOS}


def _in_scenario(entered: Entered, scenario: str) -> StatedBeliefs:
    verdicts: Counter[str] = Counter()
    pairs: list[tuple[bool, bool]] = []
    for sample in entered.samples:
        if not is_free(sample) or sample.content["scenario"] != scenario:
            continue
        outcomes = entered.outcomes.get(sample.key, ())
        near = {
            judgement.repetition: bool((judgement.repaired or {})["right"])
            for judgement in outcomes
            if _is_nearness(judgement)
        }
        for outcome in counted_outcomes(outcomes, FREE_BELIEFS):
            verdict = (outcome.repaired or {}).get("verdict") or UNREADABLE
            verdicts[verdict] += 1
            if verdict not in (CANNOT_TELL, UNREADABLE) and outcome.repetition in near:
                pairs.append((verdict == RIGHT, near[outcome.repetition]))
    return StatedBeliefs(
        {verdict: verdicts[verdict] for verdict in VERDICTS},
        len(pairs),
        sum(near for _, near in pairs),
        sum(judged == near for judged, near in pairs),
    )


def _is_nearness(outcome: Outcome) -> bool:
    return outcome.step == ANSWER and not outcome.unreadable and "right" in (outcome.repaired or {})
