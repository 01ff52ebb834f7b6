"""Scores with uncertainty: intervals over stories, paired differences, groups and what can be shown before launching.

The story is the sampling unit everywhere (specification "Statistics"). What is undefined is None with a `reason`; every
random step takes a seed, which is part of what is returned.
"""

from benchmark.domain.inference.aligned import Aligned
from benchmark.domain.inference.bootstrap import mean_estimates
from benchmark.domain.inference.groups import letters
from benchmark.domain.inference.leaderboard import leaderboard
from benchmark.domain.inference.paired import holm, paired_differences, sign_flip_p
from benchmark.domain.inference.power import DEFAULT_SD, difference_sd, smallest_difference

__all__ = [
    "DEFAULT_SD",
    "Aligned",
    "difference_sd",
    "holm",
    "leaderboard",
    "letters",
    "mean_estimates",
    "paired_differences",
    "sign_flip_p",
    "smallest_difference",
]
