"""One figure with its interval over clusters, from the sums that it is a function of."""

from collections.abc import Callable

import numpy as np

from core.statistics.bootstrap import RESAMPLES, Clusters, Floats, replicated_sums
from core.statistics.intervals import FEWEST, Estimate, Interval, Scale, few, intervals

Measure = Callable[[Floats], Floats]
"""The figure of each row of sums, shape (r, k) → (r,), nan where it is undefined."""


def estimate_of(
    sums: Floats,
    measure: Measure,
    *,
    n: int,
    scale: Scale,
    unit: str,
    empty: str,
    seed: int,
    resamples: int = RESAMPLES,
    clusters: int | None = None,
    with_clusters: bool = False,
    strata: Clusters | None = None,
) -> Estimate:
    """Return `measure` of the sums over clusters, shape (clusters, k), with its interval; `n` is how many it is of.

    `unit` is what the clusters are called, in the plural, `empty` the reason of a figure that is undefined. `clusters`
    is how many of them the figure rests on, where these are not all; `with_clusters` has the estimate say how many.
    `strata` numbers the stratum that each cluster was drawn in, from 0 on, if there are several.
    """
    value = float(measure(sums.sum(axis=0)[None])[0]) if len(sums) else np.nan
    count = len(sums) if clusters is None else clusters
    stated = count if with_clusters else None
    if np.isnan(value):
        return Estimate(None, n, None, stated, empty)
    replicates = measure(replicated_sums(sums, seed=seed, resamples=resamples)) if count >= FEWEST else None
    ends, why = interval_of(
        value, replicates, count, clusters=len(sums), scale=scale, unit=unit, empty=empty, strata=strata
    )
    return Estimate(value, n, ends, stated, why or None)


def interval_of(
    value: float,
    replicates: Floats | None,
    count: int,
    *,
    clusters: int,
    scale: Scale,
    unit: str,
    empty: str,
    strata: Clusters | None = None,
) -> Interval:
    """Return the interval of one figure that rests on `count` clusters; none of fewer than `FEWEST`.

    `replicates` is the figure without each of the `clusters` in turn, then in each resample: shape (clusters +
    resamples,); None where `count` is too few to need them.
    """
    if replicates is None or count < FEWEST:
        return None, few(unit) if count else empty
    [interval] = intervals(
        np.array([value]),
        replicates[:, None],
        np.array([count]),
        clusters=clusters,
        scale=scale,
        unit=unit,
        empty=empty,
        strata=strata,
    )
    return interval
