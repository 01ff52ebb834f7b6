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

from core.messages import Sentence, word
from core.statistics import spanning
from judge.domain.calibration.mean import CorrectedMean
from judge.domain.calibration.score import Corrected
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
        return Corrected(
            None, None, 0, 0, 0.0, None, reason=Sentence("no {singular} was judged", singular=word(over.singular))
        )
    chosen = 1.0 if others else tuning
    score = _with_bounds(
        stories,
        others,
        lambda part, rest: CorrectedMean(part, rest, metric, averaging, over).corrected(chosen),
    )
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
