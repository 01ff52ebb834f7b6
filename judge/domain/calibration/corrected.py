"""Scores without the judge's error: prediction-powered inference with the tuned λ, PPI++.

Angelopoulos, Duchi and Zrnic 2023, "PPI++: Efficient prediction-powered inference" (arXiv 2311.01453); where what
people aligned is a part of what was judged, it is the difference estimator of survey sampling (Särndal, Swensson and
Wretman 1992, "Model Assisted Survey Sampling", chapter 6):

    corrected = mean over all stories of λ · judged + weighted mean over aligned stories of (human − λ · judged)

Each aligned story has the weight of its share in the mean over the probability with which it was drawn. The corrected
score is right on average whatever the judge's error is, as long as the aligned stories are a random sample; λ, between
0 (people alone) and 1, is what makes the spread smallest, so that a better judge makes it narrower and a bad one does
no harm. A story of which the judge said nothing stands for the mean of those that it judged, whether it is aligned or
not.

The standard error comes from how far each story moves the score, that of aligned stories with n − 2 degrees of
freedom as λ is estimated from them: with these the interval covers from five aligned stories on, where the normal
interval of the paper does not (docs/statistics.md). It knows errors of a kind that the aligned stories show. Of those
that they do not, such as a judge that seldom finds nothing in a whole story, the rule of three says how many stories
may have them: the interval reaches as far as the score would go were so many, those that the judge puts furthest from
its mean, really like the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from core.language import gettext_noop
from core.statistics import harmonic, spanning
from judge.domain.calibration.mean import CorrectedMean
from judge.domain.calibration.score import Corrected, interval_of, with_interval
from judge.domain.calibration.stories import Averaging, JudgedStory, Metric
from judge.domain.cluster_names import STORIES, ClusterName


def corrected(
    stories: Sequence[JudgedStory],
    metric: Metric,
    averaging: Averaging = Averaging.STORIES,
    *,
    tuning: float | None = None,
    others: Sequence[JudgedStory] = (),
    over: ClusterName = STORIES,
) -> Corrected:
    """Return the corrected score of one model over all its judged stories.

    `tuning` is λ, tuned where none is given. With `others`, tables of other models, calibration is pooled: the judge's
    error is taken from these too, which is right only where it does not differ by model (`differing`). λ is then 1,
    since it is the judge's error that models share and not their scores; people alone have no score.
    """
    if not stories:
        return Corrected(None, None, 0, 0, 0.0, None, reason=gettext_noop(f"no {over.singular} was judged"))
    chosen = 1.0 if others else tuning
    if averaging == Averaging.POOLED and metric == Metric.F1:
        score = _pooled_f1(stories, chosen, others, over)
    else:
        score = _with_bounds(stories, others, lambda part, rest: _scored(part, metric, averaging, chosen, rest, over))
    return replace(score, human=None, human_interval=None, effective=None) if others else score


def _with_bounds(
    stories: Sequence[JudgedStory],
    others: Sequence[JudgedStory],
    score: Callable[[Sequence[JudgedStory], Sequence[JudgedStory]], Corrected],
) -> Corrected:
    """Score the stories, and where people left rows open also with all of these unmatched, and matched."""
    middle = score(stories, others)
    if not any(story.human and (story.human.open_predicted or story.human.open_gold) for story in [*stories, *others]):
        return middle
    low, high = (
        score(_settled(stories, matched=matched), _settled(others, matched=matched)) for matched in (False, True)
    )
    if low.value is None or high.value is None:
        return middle
    ends, _ = spanning(_listed(low.interval), _listed(high.interval))
    values = [low.value, high.value, *([] if middle.value is None else [middle.value])]
    return replace(middle, bounds=(min(values), max(values)), spanned=(ends[0], ends[1]) if ends else None)


def _listed(interval: tuple[float, float] | None) -> tuple[list[float] | None, str]:
    return (list(interval) if interval else None), ""


def _settled(stories: Sequence[JudgedStory], *, matched: bool) -> list[JudgedStory]:
    return [replace(story, human=story.human.settled(matched=matched)) if story.human else story for story in stories]


def _scored(
    stories: Sequence[JudgedStory],
    metric: Metric,
    averaging: Averaging,
    tuning: float | None,
    others: Sequence[JudgedStory],
    over: ClusterName,
) -> Corrected:
    return CorrectedMean(stories, others, metric, averaging, over).corrected(tuning)


def _pooled_f1(
    stories: Sequence[JudgedStory], tuning: float | None, others: Sequence[JudgedStory], over: ClusterName
) -> Corrected:
    """The harmonic mean of pooled precision and recall, both corrected; what moves it follows by its derivatives."""

    def at(part: Sequence[JudgedStory], rest: Sequence[JudgedStory], tuned: float | None) -> Corrected:
        precision, recall = (
            _scored(part, metric, Averaging.POOLED, tuned, rest, over) for metric in (Metric.PRECISION, Metric.RECALL)
        )
        return _harmonic_of(precision, recall, over)

    def score(part: Sequence[JudgedStory], rest: Sequence[JudgedStory]) -> Corrected:
        both, alone = at(part, rest, tuning), at(part, rest, 0.0)
        if both.value is None:
            return replace(both, human=alone.value, human_interval=alone.interval)
        kept = replace(both, human=alone.value, human_interval=alone.interval)
        return with_interval(kept, (both.interval, both.reason), alone.error or 0.0)

    return _with_bounds(stories, others, score)


def _harmonic_of(precision: Corrected, recall: Corrected, over: ClusterName) -> Corrected:
    sides, stories = (precision.judged, recall.judged), precision.stories
    judged = None if None in sides else harmonic(precision.judged or 0.0, recall.judged or 0.0)
    unjudged = max(precision.unjudged, recall.unjudged)
    if precision.value is None or recall.value is None:
        why = precision.reason or recall.reason
        return Corrected(None, None, stories, 0, 0.0, judged, unseen=1.0, reason=why, unjudged=unjudged)
    p, r = precision.value, recall.value
    value, total = harmonic(p, r), max(p + r, 1e-12)
    by_p, by_r = 2 * (r / total) ** 2, 2 * (p / total) ** 2
    moves = {
        story: (by_p * move[0] + by_r * recall.moves[story][0], by_p * move[1] + by_r * recall.moves[story][1])
        for story, move in precision.moves.items()
    }
    interval, why = interval_of(value, moves, precision.aligned, over)
    tuning, unseen = (precision.tuning + recall.tuning) / 2, max(precision.unseen, recall.unseen)
    return Corrected(
        value, interval, stories, precision.aligned, tuning, judged, unseen=unseen, reason=why, unjudged=unjudged,
        moves=moves, certain=precision.certain,
    )  # fmt: skip
