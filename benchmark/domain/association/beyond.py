"""Test of whether structure predicts answers beyond category: a linear mixed model of right answers with models as
random effects.

A right answer is 1, a wrong one 0; the structure's score has a slope, each category its own level, and each model's
level lies at random around these (Laird and Ware 1982, "Random-effects models for longitudinal data", Biometrics
38(4)). Scores count as they lie around the mean of their model, as a model that is better at both would make a slope of
its own (Mundlak 1978, "On the pooling of time series and cross section data", Econometrica 46(1)). The slope is in
shares of right answers for 1 of score; unlike a logistic one it is defined where all answers of a category are right.
statsmodels estimates how far models spread, by restricted maximum likelihood. That model does not know that one story
has several questions and several readers; so the slope's interval is the one interval of the product: the same weighted
regression over resampled stories.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmark.domain.association.observations import RIGHT, UNIT, Observation, numbers_of
from core.messages import Sentence, gettext_noop
from core.statistics import FEWEST, REAL, RESAMPLES, Clusters, Estimate, Floats, by_cluster, estimate_of, few

NOT_CONVERGED = gettext_noop("the mixed model did not converge")
LEAST_SPREAD = 0.01
"""Standard deviation of the structure's score within models and categories, below which it hardly varies."""
MOST_OF_ONE = 0.5
"""Share of that variation which one story may have: above, the slope is that story's."""
WIDEST = 2.0
"""The widest interval of what ten points more of score come with: from all answers wrong to all right is 1, up
or down."""
SLOPE = 0
"""The column of the structure's score."""


@dataclass(frozen=True, slots=True)
class Beyond:
    """`slope` is that of right answers on the structure's score, given category, `spread` the standard deviation
    between models, None where there is one model or no fit. The others count observations with both scores and what
    they are of."""

    slope: Estimate
    spread: float | None
    observations: int
    stories: int
    models: int
    categories: int


def beyond_category(observations: Sequence[Observation], *, seed: int, resamples: int = RESAMPLES) -> Beyond:
    """Fit the model to the observations with both scores. Where that cannot be done, or does not converge, the slope
    has a reason and no value."""
    complete = [seen for seen in observations if seen.has_both_scores]
    stories, models, categories = (
        numbers_of(names)
        for names in (
            [seen.story for seen in complete],
            [seen.model for seen in complete],
            [seen.category for seen in complete],
        )
    )
    counts = [int(numbers.max(initial=-1)) + 1 for numbers in (stories, models, categories)]
    scores = np.array([seen.structure.answered for seen in complete], dtype=float)
    right = np.array([float((seen.answer.answered or 0.0) >= RIGHT) for seen in complete])
    design = np.column_stack([_centred(scores, models), np.eye(counts[2])[categories]])
    ratio, spread, why = _between(design, right, stories, models, counts)
    if why:
        return Beyond(Estimate(None, len(complete), reason=why), None, len(complete), *counts)
    rows = _without_models(np.column_stack([design, right]), models, ratio)
    slope = _if_it_tells(_slope(rows, stories, seed, resamples))
    return Beyond(slope, spread if slope.value is not None else None, len(complete), *counts)


def _if_it_tells(slope: Estimate) -> Estimate:
    """The slope, or why it cannot be told where its interval holds more than right answers can change by."""
    low, high = slope.interval or (slope.value or 0.0,) * 2
    if (high - low) / 10 <= WIDEST and max(abs(low), abs(high)) / 10 <= WIDEST:
        return slope
    why = gettext_noop(
        "its interval is wider than the scale of right answers, as the structure's scores vary too little for so "
        "few stories"
    )
    return replace(slope, value=None, interval=None, reason=why)


def _between(
    design: Floats, right: Floats, stories: Clusters, models: Clusters, counts: Sequence[int]
) -> tuple[float, float | None, str]:
    """Return (variance between models for each of that within them, standard deviation between models, why there is no
    fit)."""
    if why := _unfit(design, right, counts[0]) or _level(design, stories):
        return 0.0, None, why
    if counts[1] == 1:
        return 0.0, None, ""
    from statsmodels.regression.mixed_linear_model import MixedLM  # two seconds to load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a variance at nought, which is an answer here
        try:
            fitted = MixedLM(right, design, models).fit(reml=True, method=["powell", "bfgs", "lbfgs"])
        except np.linalg.LinAlgError:
            return 0.0, None, NOT_CONVERGED
    between = max(0.0, float(np.asarray(fitted.cov_re)[0, 0]))
    if not fitted.converged or not np.isfinite(between) or not fitted.scale > 0:
        return 0.0, None, NOT_CONVERGED
    return between / float(fitted.scale), between**0.5, ""


def _centred(scores: Floats, models: Clusters) -> Floats:
    means = np.bincount(models, scores) / np.bincount(models) if len(models) else scores
    centred: Floats = scores - means[models]
    return centred


def _unfit(design: Floats, right: Floats, stories: int) -> str:
    if stories < FEWEST:
        return few(UNIT) if stories else gettext_noop("no story has both scores")
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return gettext_noop("the structure's score is the same throughout each category")
    return (
        gettext_noop("every answer is right")
        if right.all()
        else gettext_noop("every answer is wrong")
        if not right.any()
        else ""
    )


def _level(design: Floats, stories: Clusters) -> str:
    """Say that the structure's score hardly varies within categories, or in one story alone; empty where it does."""
    score, categories = design[:, SLOPE], design[:, SLOPE + 1 :]
    squares = (score - categories @ ((categories.T @ score) / categories.sum(axis=0))) ** 2
    spread = float(squares.mean() ** 0.5)
    if spread < LEAST_SPREAD:
        return Sentence(
            "the structure's score hardly varies within categories (a standard deviation of {spread} points)",
            spread=f"{100 * spread:.1f}",
        )
    share = float(np.bincount(stories, squares).max() / squares.sum())
    if share > MOST_OF_ONE:
        return Sentence(
            "one story has {share} % of what the structure's score varies within categories", share=f"{100 * share:.0f}"
        )
    return ""


def _without_models(rows: Floats, models: Clusters, ratio: float) -> Floats:
    """Rows less a part of the mean of their model: least squares on them are the mixed model's estimates (Fuller and
    Battese 1973)."""
    n = np.bincount(models)
    means = by_cluster(rows, models) / n[:, None]
    part = 1 - 1 / np.sqrt(1 + n * ratio)
    without: Floats = rows - (part[:, None] * means)[models]
    return without


def _slope(rows: Floats, stories: Clusters, seed: int, resamples: int) -> Estimate:
    """The slope of least squares and its interval; `rows` are the columns of the design and, last, what is
    predicted."""
    width = rows.shape[1]
    products = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    return estimate_of(
        by_cluster(products, stories),
        partial(_solved, width=width),
        n=len(rows),
        scale=REAL,
        unit=UNIT,
        empty=gettext_noop("the slope is undefined"),
        seed=seed,
        resamples=resamples,
        with_clusters=True,
    )


def _solved(products: Floats, width: int) -> Floats:
    """The slope from sums of products, shape (k, width * width); a category that no resample drew has no part in it."""
    moments = products.reshape(-1, width, width)
    solved: Floats = np.linalg.pinv(moments[:, :-1, :-1], hermitian=True) @ moments[:, :-1, -1:]
    return solved[:, SLOPE, 0]
