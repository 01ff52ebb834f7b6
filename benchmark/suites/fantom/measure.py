"""What the answers of a model come to: sets that are right as a whole, questions, facts, and the metrics of the benchmark's own tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from benchmark.domain.estimating import StoryScore
from benchmark.suites.asked import Reading
from benchmark.suites.contract import Entered, Measured, MetricGroup, Outcome, Sample
from benchmark.suites.conversations.rows import ACCESSIBLE, DISTANCE, FACT, INACCESSIBLE
from benchmark.suites.conversations.units import Read
from benchmark.suites.fantom.analyses import analyses_of
from benchmark.suites.fantom.steps import ANSWER, EMBEDDER, STEPS
from benchmark.suites.measuring import SampleResult, counted_outcomes, measured_samples, undefined
from benchmark.suites.right_or_wrong import ACCURACY, scored_by
from benchmark.suites.set_measuring import measured_sets

ALL, F1 = "all", "f1"
_RESTS_ON = tuple(step.key for step in STEPS)
_RESAMPLED = "A conversation’s questions are resampled together."
_SET = "Figures are of sets, counted under their first question: a set is right where all its answers are. "


def _sets_group(key: str, title: str, score: str, note: str) -> MetricGroup:
    return MetricGroup(
        key=key,
        title=title,
        noun="answering",
        shares=(ALL,),
        headers={ALL: score},
        score=ALL,
        score_title=score,
        prompt=ANSWER,
        rests_on=_RESTS_ON,
        scored=ANSWER,
        notes=(_SET + note, _RESAMPLED),
    )


FALSE_BELIEF = _sets_group(
    "fantom",
    "Sets, false belief",
    "ALL",
    "The set’s questions on what a character missed, without the beliefs in free words.",
)
FALSE_BELIEF_FREE = _sets_group(
    "fantom-star",
    "Sets, false belief, with free answers",
    "ALL*",
    "As ALL, with the beliefs in free words, which the run’s embedder judges.",
)
CONTROL = _sets_group(
    "fantom-control",
    "Sets, control",
    "ALL, control",
    "The set’s questions on what everybody heard: in the repaired reading of sets without any other question, in the official one of whatever is "
    "accessible in any set, as the released code has it.",
)
QUESTIONS = MetricGroup(
    key="fantom-questions",
    title="Single questions",
    noun="answering",
    shares=(ACCURACY,),
    headers={ACCURACY: "Accuracy", "accuracy_category_mean": "Mean of types"},
    category_mean=ACCURACY,
    score=ACCURACY,
    score_title="Accuracy",
    prompt=ANSWER,
    rests_on=_RESTS_ON,
    scored=ANSWER,
    facets={"scenario": "Scenario", "order": "Order of belief"},
    notes=("By chance 50 % of choices and of yes or no questions are right.", _RESAMPLED),
)
FACTS = MetricGroup(
    key="fantom-facts",
    title="Facts",
    noun="answering",
    shares=(F1,),
    headers={F1: "Token F1"},
    score=F1,
    score_title="Token F1",
    prompt=ANSWER,
    rests_on=_RESTS_ON,
    scored=ANSWER,
    notes=(
        "Whether a model follows the conversation at all. The repaired reading leaves out punctuation and articles, as SQuAD does.",
        _RESAMPLED,
    ),
)
GROUPS = (FALSE_BELIEF, FALSE_BELIEF_FREE, CONTROL, QUESTIONS, FACTS)


def measure(entered: Entered) -> dict[str, Measured | None]:
    """Return the figures of each group; the metrics of the paper's tables are among the analyses of single questions, under `fantom`."""
    return {
        FALSE_BELIEF.key: measured_sets(entered, FALSE_BELIEF, _rights, counts=in_all, of_all=True),
        FALSE_BELIEF_FREE.key: measured_sets(entered, FALSE_BELIEF_FREE, _rights, counts=in_all_star, of_all=True),
        CONTROL.key: measured_sets(entered, CONTROL, _control, counts=in_control, of_all=True),
        QUESTIONS.key: _questions(entered),
        FACTS.key: measured_samples(entered, FACTS, _fact),
    }


def in_all(sample: Sample) -> bool:
    """Whether a question counts for ALL."""
    return sample.content["kind"] not in (FACT, DISTANCE) and sample.content["scenario"] == INACCESSIBLE


def in_all_star(sample: Sample) -> bool:
    """Whether a question counts for ALL*."""
    return not _is_fact(sample) and sample.content["scenario"] == INACCESSIBLE


def in_control(sample: Sample) -> bool:
    """Whether a question counts for ALL of the control."""
    return sample.content["kind"] not in (FACT, DISTANCE) and sample.content["scenario"] == ACCESSIBLE


def _is_fact(sample: Sample) -> bool:
    return bool(sample.content["kind"] == FACT)


def _verdict(sample: Sample, outcome: Outcome, reading: Reading) -> bool | None:
    return bool(((outcome.official if reading == "official" else outcome.repaired) or {}).get("right"))


_rights = scored_by(_verdict, ALL)
_accuracy = scored_by(_verdict, ACCURACY)


def _control(sample: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
    """Return the shares of right answers, without a repaired figure in a set of which only a part is accessible."""
    result = _rights(sample, outcomes)
    if sample.content["wholly_accessible"]:
        return result
    return replace(result, repaired=undefined(sample, (ALL,)).repaired)


def _question(sample: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
    return undefined(sample, (ACCURACY,)) if _is_fact(sample) else _accuracy(sample, outcomes)


def _fact(sample: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
    """The mean F1 of the repetitions; bounds take as 0 and as 1 what is missing or empty."""
    if not _is_fact(sample):
        return undefined(sample, (F1,))
    answered = [outcome for outcome in outcomes if not outcome.without]
    missing = len(outcomes) - len(answered)
    official = {F1: fmean([(outcome.official or {}).get(F1, 0.0) for outcome in answered])} if not missing else None
    read = [float((outcome.repaired or {})[F1]) for outcome in answered if not outcome.unusable]
    unknown = (len(outcomes) - len(read)) / len(outcomes)
    worst = {F1: sum(read) / len(outcomes)}
    best = {F1: worst[F1] + unknown}
    if not read:
        why = next(outcome.without or outcome.unusable for outcome in outcomes)
        score = StoryScore(sample.category, worst, best, None, why)
    else:
        score = StoryScore(sample.category, worst, best, {F1: fmean(read)})
    return SampleResult(
        official, score, f"{missing} of its {len(outcomes)} questions have no answer" if missing else ""
    )


def _questions(entered: Entered) -> Measured | None:
    measured = measured_samples(entered, QUESTIONS, _question)
    if measured is None:
        return None
    analyses, seed = measured[0]["analyses"], int(entered.settings.get("seed", 1))
    embedder = str(entered.settings[EMBEDDER])
    for reading in ("official", "repaired"):
        if analyses[reading] is not None:
            analyses[reading] |= {"fantom": analyses_of(_reads(entered, reading), reading, embedder, seed)}
    return measured


def _reads(entered: Entered, reading: str) -> list[Read]:
    reads = []
    for sample in entered.samples:
        for outcome in counted_outcomes(entered.outcomes.get(sample.key, ()), QUESTIONS):
            read = outcome.official if reading == "official" else outcome.repaired
            known = not outcome.without and not (reading == "repaired" and outcome.unusable)
            reads.append(Read(sample, outcome.repetition, read if known else None))
    return reads
