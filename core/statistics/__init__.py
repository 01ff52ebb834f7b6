"""Statistics over clusters, the independent units of a sample: one interval method, one paired test, one correction.

Callers say what their clusters are called (`unit`, in the plural), so that a reason reads as a sentence of their
product.
"""

from core.statistics.bootstrap import (
    RESAMPLES,
    Clusters,
    Floats,
    by_cluster,
    mean_of,
    numbered,
    ratios,
    replicated_means,
    replicated_sums,
    resampled_means,
    resampled_sums,
    weights,
)
from core.statistics.estimates import Measure, estimate_of, interval_of
from core.statistics.holm import holm
from core.statistics.intervals import (
    DIFFERENCE,
    FEWEST,
    LEVEL,
    POSITIVE,
    REAL,
    SHARE,
    Estimate,
    Interval,
    Scale,
    clusters_known,
    few,
    intervals,
    mean_estimates,
    method,
    sparse,
    t_quantile,
    tails,
    unseen_share,
)
from core.statistics.linear import linear_error, linear_freedom, linear_interval, linear_p
from core.statistics.missing import spanning
from core.statistics.sign_flips import ALPHA, caution, flips_for, out_of_reach, sign_flip_p, sign_flips

__all__ = [
    "ALPHA",
    "DIFFERENCE",
    "FEWEST",
    "LEVEL",
    "POSITIVE",
    "REAL",
    "RESAMPLES",
    "SHARE",
    "Clusters",
    "Estimate",
    "Floats",
    "Interval",
    "Measure",
    "Scale",
    "by_cluster",
    "caution",
    "clusters_known",
    "estimate_of",
    "few",
    "flips_for",
    "holm",
    "interval_of",
    "intervals",
    "linear_error",
    "linear_freedom",
    "linear_interval",
    "linear_p",
    "mean_estimates",
    "mean_of",
    "method",
    "numbered",
    "out_of_reach",
    "ratios",
    "replicated_means",
    "replicated_sums",
    "resampled_means",
    "resampled_sums",
    "sign_flip_p",
    "sign_flips",
    "spanning",
    "sparse",
    "t_quantile",
    "tails",
    "unseen_share",
    "weights",
]
