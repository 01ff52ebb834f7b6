"""Estimates of calibration: weighted means over aligned stories, and whether a judge's error differs by model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.messages import Sentence, gettext_noop, word
from core.plain import Json, plain
from core.statistics import (
    ALPHA,
    DIFFERENCE,
    FEWEST,
    SHARE,
    Clusters,
    Floats,
    Scale,
    linear_interval,
    linear_p,
    spanning,
)
from judge.domain.alignment import STORIES, ClusterName
from judge.domain.calibration.tables import JudgedStory, Metric

FEWEST_OF_ONE = 2
"""Aligned stories of a stratum: one shows no spread."""


class Strata:
    """The strata of a sample. Those with fewer than two aligned stories make one together; if that has fewer than two
    as well, they belong to the smallest other one."""

    def __init__(self, strata: Mapping[str, str]) -> None:
        """Take the stratum of each aligned story, by story."""
        counts = Counter(strata.values())
        own = [name for name in sorted(counts) if counts[name] >= FEWEST_OF_ONE]
        left = sum(count for count in counts.values() if count < FEWEST_OF_ONE)
        self._numbers = {name: at for at, name in enumerate(own)}
        joins_another = own and left < FEWEST_OF_ONE
        self._rest = own.index(min(own, key=lambda name: (counts[name], name))) if joins_another else len(own)
        self.count = max(1, len(own) + (left >= FEWEST_OF_ONE))

    def numbers(self, strata: Iterable[str]) -> Clusters:
        """Return the number of each stratum, from 0 on."""
        return np.array([self._numbers.get(stratum, self._rest) for stratum in strata], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class SpannedEstimate:
    """An estimate over `n` rows (or tables) with its 95 % interval over stories. `bounds` are where it can lie whatever
    is missing, `spanned` is the interval over both ends. None with a `reason`."""

    value: float | None
    n: int
    interval: Sequence[float] | None = None
    bounds: tuple[float, float] | None = None
    spanned: Sequence[float] | None = None
    reason: str = ""

    def between(self, low: SpannedEstimate, high: SpannedEstimate) -> SpannedEstimate:
        """Return the estimate with bounds, from the same with everything that is missing at its worst, and at its
        best."""
        if low.value is None or high.value is None:
            return self
        ends, _ = spanning(_ends(low), _ends(high))
        return replace(self, bounds=(low.value, high.value), spanned=ends)


def _ends(estimate: SpannedEstimate) -> tuple[list[float] | None, str]:
    return list(estimate.interval) if estimate.interval else None, estimate.reason


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, and the distance by which each story moves it."""

    estimate: SpannedEstimate
    moves: Mapping[str, float]


def no_mean(reason: str) -> Mean:
    return Mean(SpannedEstimate(None, 0, reason=reason), {})


def weighted_mean(
    values: Sequence[float],
    weights: Sequence[float],
    stories: Sequence[str],
    *,
    scale: Scale = DIFFERENCE,
    unit: str = STORIES.aligned,
    strata: Sequence[str] = (),
) -> Mean:
    """Return the weighted mean of values with its interval over their stories; `strata` are those of the values, if
    stories were drawn within any."""
    if not values:
        return no_mean(Sentence("there are no {unit}", unit=word(unit)))
    drawn_in = dict(zip(stories, strata or [""] * len(values), strict=True))
    parts, place = Strata(drawn_in), {story: at for at, story in enumerate(drawn_in)}
    shares, array = np.array(weights) / sum(weights), np.array(values)
    numbers = parts.numbers(drawn_in[story] for story in stories)
    middles = np.bincount(numbers, shares * array) / np.maximum(np.bincount(numbers, shares), 1e-12)
    moves = np.zeros(len(drawn_in))
    np.add.at(moves, [place[story] for story in stories], shares * (array - middles[numbers]))
    own = parts.numbers(drawn_in.values())
    sizes = np.bincount(own)
    moves *= np.sqrt(sizes / np.maximum(sizes - 1, 1))[own]
    n, mean = len(moves), float(shares @ array)
    ends, why = linear_interval(mean, moves, count=n, most=max(n - parts.count, 1), scale=scale, unit=unit)
    return Mean(SpannedEstimate(mean, n, ends, reason=why), dict(zip(drawn_in, moves.tolist(), strict=True)))


def contrast(first: Mean, second: Mean, *, unit: str = STORIES.aligned) -> tuple[SpannedEstimate, float | None]:
    """Return the first mean less the second, paired by story, with its two-sided p value."""
    one, other = first.estimate, second.estimate
    n = min(one.n, other.n)
    if one.value is None or other.value is None:
        return SpannedEstimate(None, n, reason=one.reason or other.reason), None
    stories = sorted({*first.moves, *second.moves})
    moves = np.array([first.moves.get(story, 0.0) - second.moves.get(story, 0.0) for story in stories])
    value, most = one.value - other.value, max(n - 1, 1)
    ends, why = linear_interval(value, moves, count=n, most=most, scale=DIFFERENCE, unit=unit)
    p = linear_p(value, moves, count=n, most=most, scale=DIFFERENCE) if ends else None
    return SpannedEstimate(value, n, ends, reason=why), p


def mean_judged(stories: Sequence[JudgedStory], *, over: ClusterName = STORIES) -> Mean:
    """Return the mean F1 by the judge, over the stories on which it has verdicts. Its interval knows nothing of the
    judge's error."""
    judged = [story for story in stories if story.certain or story.judged.has_value(Metric.F1)]
    if all(story.certain for story in judged) and len(judged) < len(stories):
        return no_mean(Sentence("the judge has no verdict on any {singular}", singular=word(over.singular)))
    scores = [0.0 if story.certain else story.judged.f1 for story in judged]
    names = [story.story for story in judged]
    return weighted_mean(scores, [1.0] * len(judged), names, scale=SHARE, unit=over.plural)


def mean_error(stories: Sequence[JudgedStory], *, over: ClusterName = STORIES) -> Mean:
    """Return F1 by the judge less that by people, over the stories on which both have verdicts."""
    aligned = [
        (story, story.judged.f1 - story.human.f1)
        for story in stories
        if story.human and story.human.has_value(Metric.F1) and story.judged.has_value(Metric.F1)
    ]
    return weighted_mean(
        [error for _, error in aligned],
        [1 / (story.probability or 1.0) for story, _ in aligned],
        [story.story for story, _ in aligned],
        unit=over.aligned,
        strata=[story.stratum for story, _ in aligned],
    )


ONE_MODEL = gettext_noop("there is one model")


@dataclass(frozen=True, slots=True)
class Differing:
    """The judge's score less that of people for each model. `p` is that of Hotelling's test over stories that it is the
    same for all; if it `warns`, calibration must not be pooled."""

    by_model: Mapping[Any, SpannedEstimate]
    p: float | None
    reason: str = ""

    def as_json(self) -> Json:
        return {"by_model": plain(self.by_model), "p": self.p, "reason": self.reason, "warns": self.warns}

    @property
    def warns(self) -> bool:
        return self.p is not None and self.p < ALPHA


def differing(models: Mapping[Any, Sequence[JudgedStory]], *, over: ClusterName = STORIES) -> Differing:
    """Return the test of whether the judge's error on F1 differs by model."""
    errors = {name: mean_error(stories, over=over) for name, stories in sorted(models.items())}
    by_model = {name: error.estimate for name, error in errors.items()}
    if len(models) < 2:
        return Differing(by_model, None, ONE_MODEL)
    stories = sorted({story for error in errors.values() for story in error.moves})
    least = min(error.estimate.n for error in errors.values())
    if least < FEWEST or min(len(stories), least) <= len(models):
        text = "each model needs at least {fewest} {aligned}, and all together more {plural} than models"
        why = Sentence(text, fewest=FEWEST, aligned=over.aligned, plural=word(over.plural))
        return Differing(by_model, None, why)
    moves = np.array([[error.moves.get(story, 0.0) for story in stories] for error in errors.values()])
    means = np.array([error.estimate.value or 0.0 for error in errors.values()])
    return Differing(by_model, _hotelling(means, moves, least))


def _hotelling(means: Floats, moves: Floats, n: int) -> float:
    """Return the p value of equal means, shape (k,), that stories move so far, shape (k, stories). The model with
    fewest has n of them (Hotelling 1931, "The generalization of Student's ratio")."""
    from scipy.special import fdtrc

    gaps, spread = means[1:] - means[0], moves[1:] - moves[0]
    if np.abs(gaps).max() < 1e-12:
        return 1.0
    covariance = spread @ spread.T
    square = float(gaps @ np.linalg.pinv(covariance) @ gaps)
    k = int(np.linalg.matrix_rank(covariance))
    return float(fdtrc(k, n - k, square * (n - k) / ((n - 1) * k))) if k else 0.0
