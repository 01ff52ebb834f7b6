"""Questions that are answered rightly or wrongly: the share of right answers over repetitions, with bounds for what is
missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from benchmark.domain.estimating import StoryScore
from benchmark.suites.asked import Outcome, Parse, Resources, Sample
from benchmark.suites.by_part import Parts
from benchmark.suites.contract import WRONG, MetricGroup, UnreadableAs
from benchmark.suites.measuring import SampleResult
from benchmark.suites.metric_groups import Says
from benchmark.suites.reasons import questions_unanswered
from core.messages import Sentence, gettext_noop

ACCURACY = "accuracy"
Verdict = Callable[[Sample, Outcome, Parse], bool | None]
"""A verdict: whether the answer is right; None where the parse leaves it out of the denominator."""


def accuracy_group(
    key: str,
    title: str,
    *,
    step: str,
    rests_on: Sequence[str],
    facets: Mapping[str, str],
    facet_values: Mapping[str, str] | None = None,
    notes: tuple[str, ...],
    noun: str = gettext_noop("answering"),
    score_title: str = gettext_noop("Accuracy"),
    mean_of: str = "types",
    unreadable_as: UnreadableAs = WRONG,
    chance: Callable[[Sample], float | None] | None = None,
    majority: Callable[[Sample, Resources], float | None] | None = None,
    parts: Parts | None = None,
    says: Says | None = None,
) -> MetricGroup:
    """Return the metric group of the questions of a step by accuracy, with the mean over categories, which `mean_of`
    names in the plural; `unreadable_as`, `facet_values`, `chance`, `majority`, `parts` and `says` as
    `MetricGroup` has them."""
    return MetricGroup(
        key=key,
        title=title,
        noun=noun,
        shares=(ACCURACY,),
        headers={
            ACCURACY: gettext_noop("Accuracy"),
            f"{ACCURACY}_category_mean": Sentence("Mean of {mean_of}", mean_of=mean_of),
        },
        category_mean=ACCURACY,
        score=ACCURACY,
        score_title=score_title,
        prompt=step,
        rests_on=tuple(rests_on),
        scored=step,
        facets=facets,
        facet_values=facet_values or {},
        notes=notes,
        unreadable_as=unreadable_as,
        chance=chance,
        majority=majority,
        parts=parts,
        says=says,
        right_or_wrong=True,
    )


def is_read_right(sample: Sample, outcome: Outcome, parse: Parse) -> bool:
    """Return whether a parse itself says that the answer is right, as `Verdict` has it; one without a parse is
    wrong."""
    return bool((outcome.read(parse) or {}).get("right"))


def scored_by(verdict: Verdict, share: str = ACCURACY) -> Callable[[Sample, Sequence[Outcome]], SampleResult]:
    """Return the scoring of samples by the share of right answers, as `measured_samples` takes it.

    Officially an answer that is left out has no score, and without an answer to one of its repetitions a sample has
    none. Repaired, bounds take what is missing or cannot be read as wrong and as right; the estimate is of the answers
    that were read.
    """

    def scored(sample: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
        answered = [outcome for outcome in outcomes if not outcome.without]
        missing = len(outcomes) - len(answered)
        official = [right for outcome in answered if (right := verdict(sample, outcome, "official")) is not None]
        reason = questions_unanswered(missing, len(outcomes))
        of_official = None if missing else {share: fmean(official) if official else None}
        read = [outcome for outcome in answered if not outcome.unreadable]
        repaired = [right for outcome in read if (right := verdict(sample, outcome, "repaired")) is not None]
        return SampleResult(of_official, _score(sample, share, repaired, outcomes), reason)

    return scored


def _score(sample: Sample, share: str, rights: Sequence[bool], outcomes: Sequence[Outcome]) -> StoryScore:
    total, right = len(outcomes), sum(rights)
    worst, best = {share: right / total}, {share: (right + total - len(rights)) / total}
    if not rights:
        why = next(
            why
            for outcome in outcomes
            if (why := outcome.without or outcome.unreadable or gettext_noop("it is left out"))
        )
        return StoryScore(sample.category, worst, best, None, why)
    return StoryScore(sample.category, worst, best, {share: right / len(rights)})
