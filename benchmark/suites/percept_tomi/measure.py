"""What the answers of a model come to: accuracy of questions and of beliefs from the true perceptions, and how well it infers perceptions."""

from __future__ import annotations

from benchmark.suites.asked import Reading
from benchmark.suites.contract import Entered, Measured, MetricGroup, Outcome, Sample
from benchmark.suites.measuring import measured_samples
from benchmark.suites.perceiving import shares as perceived
from benchmark.suites.perceiving.asking import ANSWER, BELIEF, PERCEPTIONS
from benchmark.suites.percept_tomi.steps import STEPS
from benchmark.suites.right_or_wrong import ACCURACY, scored_by
from benchmark.suites.shares_of_answers import Shares, scored_shares

_FACETS = {"scenario": "Scenario", "order": "Order"}
_RESAMPLED = "The questions about one story are resampled together."
QUESTIONS = MetricGroup(
    key="percept-tomi",
    title="Questions",
    noun="answering",
    shares=(ACCURACY,),
    headers={ACCURACY: "Accuracy", "accuracy_category_mean": "Mean of types"},
    category_mean=ACCURACY,
    score=ACCURACY,
    score_title="Accuracy",
    prompt=ANSWER,
    rests_on=tuple(step.key for step in STEPS if step.key not in (PERCEPTIONS, BELIEF)),
    scored=ANSWER,
    facets=_FACETS,
    notes=(_RESAMPLED,),
)
PERCEIVING = MetricGroup(
    key="percept-tomi-perception",
    title="Perception inference",
    noun="perception inference",
    shares=perceived.SHARES,
    headers={
        perceived.RECALL: "Recall",
        perceived.ACCURACY: "Accuracy",
        perceived.WHOLE: "Whole stories",
        f"{perceived.RECALL}_category_mean": "Mean of types",
    },
    category_mean=perceived.RECALL,
    score=perceived.RECALL,
    score_title="Perception recall",
    prompt=PERCEPTIONS,
    rests_on=(PERCEPTIONS,),
    scored=PERCEPTIONS,
    facets=_FACETS,
    notes=(
        "Recall: the share of a story’s sentences on where a thing is that have exactly the right perceivers. Accuracy, the benchmark’s own, is of the "
        "sentences that the model wrote: leaving one out costs nothing there. Whole stories: nothing wrong in what the model wrote (official), "
        "or in all of the story (repaired).",
        "A story counts once for each question about it, as in the released code. " + _RESAMPLED,
    ),
)
INFERRING = MetricGroup(
    key="percept-tomi-belief",
    title="Perception-to-belief inference",
    noun="perception-to-belief inference",
    shares=(ACCURACY,),
    headers={ACCURACY: "Accuracy", "accuracy_category_mean": "Mean of types"},
    category_mean=ACCURACY,
    score=ACCURACY,
    score_title="Belief accuracy",
    prompt=BELIEF,
    rests_on=(BELIEF,),
    scored=BELIEF,
    facets=_FACETS,
    notes=("The question is asked with the true perceivers of every sentence. " + _RESAMPLED,),
)
GROUPS = (QUESTIONS, PERCEIVING, INFERRING)


def measure(entered: Entered) -> dict[str, Measured | None]:
    """Return the figures of the three groups, None of one whose step was not asked."""
    right = scored_by(_right)
    return {
        QUESTIONS.key: measured_samples(entered, QUESTIONS, right),
        PERCEIVING.key: measured_samples(entered, PERCEIVING, scored_shares(perceived.SHARES, _shares)),
        INFERRING.key: measured_samples(entered, INFERRING, right),
    }


def _right(sample: Sample, outcome: Outcome, reading: Reading) -> bool | None:
    if reading == "repaired":
        return bool((outcome.repaired or {}).get("place") == sample.gold["answer"])
    right: bool | None = (outcome.official or {}).get("right")
    return right


def _shares(outcome: Outcome, reading: Reading) -> Shares | None:
    return outcome.official if reading == "official" else outcome.repaired
