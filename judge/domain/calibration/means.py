"""Weighted means over aligned stories, and how far each story moves them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.messages import Sentence, gettext_noop, word
from core.plain import Json, plain
from core.statistics import ALPHA, DIFFERENCE, FEWEST, SHARE, Floats, Scale, linear_interval, linear_p
from judge.domain.alignment import STORIES, ClusterName
from judge.domain.calibration.agreement import SpannedEstimate, Strata
from judge.domain.calibration.tables import JudgedStory, Metric, score_of


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, and how far each story moves it."""

    estimate: SpannedEstimate
    moves: Mapping[str, float]


def weighted_mean(
    values: Sequence[float],
    weights: Sequence[float],
    stories: Sequence[str],
    *,
    scale: Scale = DIFFERENCE,
    unit: str = STORIES.aligned,
    strata: Sequence[str] = (),
) -> Mean:
    """Return the weighted mean of values with its interval over the stories that they are of. `strata` are those of the
    values, if stories were drawn within any."""
    if not values:
        return Mean(SpannedEstimate(None, 0, reason=Sentence("there are no {unit}", unit=word(unit))), {})
    shares = np.array(weights) / sum(weights)
    mean = float(shares @ np.array(values))
    by_story: dict[str, float] = defaultdict(float)
    drawn_in = dict(zip(stories, strata or [""] * len(values), strict=True))
    parts = Strata(drawn_in)
    numbers = parts.numbers(drawn_in[story] for story in stories)
    middles = np.bincount(numbers, shares * np.array(values)) / np.maximum(np.bincount(numbers, shares), 1e-12)
    for story, share, value, number in zip(stories, shares.tolist(), values, numbers.tolist(), strict=True):
        by_story[story] += share * (value - float(middles[number]))
    n, sizes = len(by_story), np.bincount(parts.numbers(drawn_in.values()))
    factors = np.sqrt(sizes / np.maximum(sizes - 1, 1))
    moves = {story: move * float(factors[parts.of(drawn_in[story])]) for story, move in by_story.items()}
    most = max(n - parts.count, 1)
    ends, why = linear_interval(mean, _array(moves), count=n, most=most, scale=scale, unit=unit)
    return Mean(SpannedEstimate(mean, n, (ends[0], ends[1]) if ends else None, reason=why), moves)


def contrast(first: Mean, second: Mean, *, unit: str = STORIES.aligned) -> tuple[SpannedEstimate, float | None]:
    """Return the first mean less the second, paired by story, with its two-sided p value."""
    n = min(first.estimate.n, second.estimate.n)
    if first.estimate.value is None or second.estimate.value is None:
        return SpannedEstimate(None, n, reason=first.estimate.reason or second.estimate.reason), None
    stories = sorted({*first.moves, *second.moves})
    moves = np.array([first.moves.get(story, 0.0) - second.moves.get(story, 0.0) for story in stories])
    value, most = first.estimate.value - second.estimate.value, max(n - 1, 1)
    ends, why = linear_interval(value, moves, count=n, most=most, scale=DIFFERENCE, unit=unit)
    if not ends:
        return SpannedEstimate(value, n, reason=why), None
    return SpannedEstimate(value, n, (ends[0], ends[1])), linear_p(value, moves, count=n, most=most, scale=DIFFERENCE)


def mean_judged(stories: Sequence[JudgedStory], metric: Metric, *, over: ClusterName = STORIES) -> Mean:
    """Return the mean of what the judge alone gives, over the stories on which it has verdicts. Its interval knows
    nothing of the judge's error."""
    judged_stories = [story for story in stories if story.certain or story.judged.has_value(metric)]
    if all(story.certain for story in judged_stories) and len(judged_stories) < len(stories):
        return Mean(
            SpannedEstimate(
                None, 0, reason=Sentence("the judge has no verdict on any {singular}", singular=word(over.singular))
            ),
            {},
        )
    return weighted_mean(
        [0.0 if story.certain else score_of(story.judged, metric) for story in judged_stories],
        [1.0] * len(judged_stories),
        [story.story for story in judged_stories],
        scale=SHARE,
        unit=over.plural,
    )


def mean_error(stories: Sequence[JudgedStory], metric: Metric, *, over: ClusterName = STORIES) -> Mean:
    """Return how far the judge's scores are above those of people, over the stories of which both tell something."""
    aligned = [
        (story, story.human)
        for story in stories
        if story.human and story.human.has_value(metric) and story.judged.has_value(metric)
    ]
    return weighted_mean(
        [score_of(story.judged, metric) - score_of(human, metric) for story, human in aligned],
        [1 / (story.probability or 1.0) for story, _ in aligned],
        [story.story for story, _ in aligned],
        unit=over.aligned,
        strata=[story.stratum for story, _ in aligned],
    )


def _array(moves: Mapping[str, float]) -> Floats:
    return np.array(list(moves.values()))


ONE_MODEL = gettext_noop("there is one model")


@dataclass(frozen=True, slots=True)
class Differing:
    """Distance of the judge's score above that of people for each model, and a test of whether it is as far for all:
    `p` is that of Hotelling's test over stories. `warns` says that calibration must not be pooled."""

    by_model: dict[str, SpannedEstimate]
    p: float | None
    reason: str = ""

    def as_json(self) -> Json:
        return {"by_model": plain(self.by_model), "p": self.p, "reason": self.reason, "warns": self.warns}

    @property
    def warns(self) -> bool:
        return self.p is not None and self.p < ALPHA


def differing(
    models: Mapping[str, Sequence[JudgedStory]], metric: Metric = Metric.F1, *, over: ClusterName = STORIES
) -> Differing:
    """Return whether the judge's error on scores by `metric` differs by model."""
    aligned = {
        name: [
            story
            for story in stories
            if story.human and story.human.has_value(metric) and story.judged.has_value(metric)
        ]
        for name, stories in sorted(models.items())
    }
    errors = {name: mean_error(stories, metric, over=over) for name, stories in aligned.items()}
    by_model = {name: error.estimate for name, error in errors.items()}
    stories = sorted({judged.story for part in aligned.values() for judged in part})
    if len(models) < 2:
        return Differing(by_model, None, ONE_MODEL)
    least = min(error.estimate.n for error in errors.values())
    if least < FEWEST or len(stories) <= len(models) or least <= len(models):
        return Differing(by_model, None, _too_few(over))
    moves = np.array([[error.moves.get(story, 0.0) for story in stories] for error in errors.values()])
    means = np.array([error.estimate.value or 0.0 for error in errors.values()])
    return Differing(by_model, _hotelling(means, moves, least))


def _too_few(over: ClusterName) -> str:
    return Sentence(
        "each model needs at least {fewest} {aligned}, and all together more {plural} than models",
        fewest=FEWEST,
        aligned=over.aligned,
        plural=word(over.plural),
    )


def _hotelling(means: Floats, moves: Floats, n: int) -> float:
    """The p value of equal means, shape (k,), that stories move so far, shape (k, stories), n of them for the model
    that has least (Hotelling 1931, "The generalization of Student's ratio")."""
    from scipy.special import fdtrc

    gaps, spread = means[1:] - means[0], moves[1:] - moves[0]
    covariance = spread @ spread.T
    if np.abs(gaps).max() < 1e-12:
        return 1.0
    square = float(gaps @ np.linalg.pinv(covariance) @ gaps)
    k = int(np.linalg.matrix_rank(covariance))
    return float(fdtrc(k, n - k, square * (n - k) / ((n - 1) * k))) if k else 0.0
