"""Figures of a model's tries: the majority of its votes on each question, right or wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchmark.domain.estimating import StoryScore
from benchmark.suites.groups import ANSWERS, GUESSED, MetricGroup, Parts
from benchmark.suites.measuring import SampleResult, measured_samples
from benchmark.suites.questions import PARSES, Entered, Measured, Outcome, Parse, Resources, Sample
from benchmark.suites.reasons import tries_unanswered
from benchmark.suites.tombench.data import NO_OPTION, item_of
from benchmark.suites.tombench.metrics import VotedItem as Voted
from benchmark.suites.tombench.metrics import is_correct, is_correct_officially, majority_vote
from benchmark.suites.tombench.steps import ANSWER, LETTERS, STEPS, commonest, count_letters
from core.messages import gettext_noop

ACCURACY = "accuracy"


def by_chance(sample: Sample) -> float:
    """Return how likely the majority of tries, each a draw among the options, is right: all options are as likely to
    win it."""
    return 1 / len(sample.content["options"])


def by_majority(sample: Sample, resources: Resources) -> float:
    """Return whether the option is right whose letter is right most often in all questions."""
    item = item_of(sample)
    letters = "ABCD"[: len(item.options)]
    return float(commonest(letters, resources.derived(LETTERS, count_letters)) == item.gold)


ABILITIES = ("Emotion", "Desire", "Intention", "Knowledge", "Belief", "Non-literal communication")
"""The six abilities of the paper, in its order; those of the data are kinds of them."""


def ability_of(kind: str) -> str:
    """Return which of ABILITIES a kind is one of, such as "Belief: Location false beliefs"."""
    return kind.partition(":")[0].strip().capitalize()


GROUP = MetricGroup(
    key="tombench",
    title=gettext_noop("Multiple choice"),
    noun=gettext_noop("multiple choice"),
    shares=(ACCURACY,),
    headers={ACCURACY: gettext_noop("Accuracy")},
    score=ACCURACY,
    score_title=gettext_noop("Accuracy"),
    prompt=ANSWER,
    rests_on=tuple(step.key for step in STEPS),
    scored=ANSWER,
    facets={"ability": gettext_noop("Ability"), "language": gettext_noop("Language")},
    notes=(
        (
            gettext_noop(
                "A question counts as right where the majority of its tries choose the right option; a tie goes to "
                "the option chosen first."
            )
        ),
    ),
    tells=ANSWERS,
    unreadable_as=GUESSED,
    right_or_wrong=True,
    chance=by_chance,
    majority=by_majority,
    says=lambda sample, repaired: str(repaired.get("choice")),
    parts=Parts(
        gettext_noop("Ability"),
        facet="ability",
        values=ABILITIES,
        short={"Non-literal communication": "Non-literal"},
        part_of=ability_of,
    ),
)


def measure(entered: Entered) -> dict[str, Measured | None]:
    """The accuracy of one model."""
    return {GROUP.key: measured_samples(entered, GROUP, scored)}


def scored(sample: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
    """Right or wrong by the majority of the tries; bounds take missing tries as votes against and for the right
    option."""
    answered = sorted((outcome for outcome in outcomes if not outcome.without), key=lambda outcome: outcome.repetition)
    missing = len(outcomes) - len(answered)
    votes = {parse: tuple(_choice(outcome, parse) for outcome in answered) for parse in PARSES}
    official = None if missing else {ACCURACY: float(is_correct_officially(_voted(sample, votes["official"])))}
    reason = tries_unanswered(missing, len(outcomes))
    return SampleResult(official, _score(sample, outcomes, votes["repaired"], missing), reason)


def _choice(outcome: Outcome, parse: Parse) -> str | None:
    return None if parse == "repaired" and outcome.unreadable else (outcome.read(parse) or {}).get("choice")


def _voted(sample: Sample, votes: tuple[str | None, ...]) -> Voted:
    return Voted(sample.category, sample.gold["ability"], sample.gold["cell"], votes)


def _score(sample: Sample, outcomes: Sequence[Outcome], votes: tuple[str | None, ...], missing: int) -> StoryScore:
    right, counts = sample.gold["answer"], Counter(vote for vote in votes if vote is not None)
    others = max((count for letter, count in counts.items() if letter != right), default=0)
    if majority_vote(votes) is None:
        why = next((outcome.without for outcome in outcomes if outcome.without), "") or next(
            (outcome.unreadable for outcome in outcomes if outcome.unreadable), NO_OPTION
        )
        return StoryScore(sample.category, {ACCURACY: 0.0}, {ACCURACY: 1.0}, None, why)
    estimate = float(is_correct(_voted(sample, votes)))
    if not missing:
        values = {ACCURACY: estimate}
        return StoryScore(sample.category, values, values, values)
    worst, best = float(counts[right] > others + missing), float(counts[right] + missing >= others)
    return StoryScore(sample.category, {ACCURACY: worst}, {ACCURACY: best}, {ACCURACY: estimate})
