"""Association of two scores of the same observations, within models."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from benchmark.domain.association.observations import UNIT, numbers_of
from core.messages import gettext_noop
from core.statistics import DIFFERENCE, RESAMPLES, Clusters, Estimate, Floats, estimate_of, ratios
from core.statistics.correlation import FEWEST_POINTS, too_few_points

Scores = Sequence[float | None]
_NOISE = 1e-9
"""Rounding of sums is not spread."""


def correlation(
    first: Scores,
    second: Scores,
    stories: Sequence[Hashable],
    models: Sequence[str],
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return Pearson's r of two scores over the observations that have both; `stories` and `models` say whose they are.

    Scores count as they lie around the mean of their model, so that of several models none is found where only the
    better one is better at both. Stories are resampled.
    """
    pairs = [(at, a, b) for at, (a, b) in enumerate(zip(first, second, strict=True)) if a is not None and b is not None]
    if not pairs:
        return Estimate(None, 0, clusters=0, reason=gettext_noop("no story has both scores"))
    if len(pairs) < FEWEST_POINTS:
        count = len({stories[at] for at, _, _ in pairs})
        return Estimate(None, len(pairs), clusters=count, reason=too_few_points("answers"))
    clusters = numbers_of([stories[at] for at, _, _ in pairs])
    sums = _sums(np.array([pair[1:] for pair in pairs]), clusters, numbers_of([models[at] for at, _, _ in pairs]))
    return estimate_of(
        sums,
        _r,
        n=len(pairs),
        scale=DIFFERENCE,
        unit=UNIT,
        empty=gettext_noop("one of the two is the same everywhere"),
        seed=seed,
        resamples=resamples,
        with_clusters=True,
    )


def _sums(scores: Floats, clusters: Clusters, models: Clusters) -> Floats:
    """The sums of 1, x, y, xx, yy and xy of each model over each cluster: shape (clusters, models * 6)."""
    x, y = scores.T
    out = np.zeros((int(clusters.max()) + 1, int(models.max()) + 1, 6))
    np.add.at(out, (clusters, models), np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1))
    return out.reshape(len(out), -1)


def _r(sums: Floats) -> Floats:
    """The correlation within models of each row of sums, nan where a score does not vary within any."""
    n, x, y, xx, yy, xy = np.moveaxis(sums.reshape(len(sums), -1, 6), 2, 0)
    products = [
        (total - np.nan_to_num(ratios(a * b, n))).sum(axis=1) for total, a, b in ((xx, x, x), (yy, y, y), (xy, x, y))
    ]
    varies = (products[0] > _NOISE * xx.sum(axis=1)) & (products[1] > _NOISE * yy.sum(axis=1))
    return np.where(varies, ratios(products[2], np.sqrt(np.maximum(products[0] * products[1], 0))), np.nan)
