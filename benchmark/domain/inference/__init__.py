"""Scores with uncertainty: intervals over stories, paired differences, groups and what can be shown before launching.

The story is the sampling unit everywhere (specification "Statistics"). What is undefined is None with a `reason`; every
random step takes a seed, which is part of what is returned.
"""

from benchmark.domain.inference.cases import Case, Cases
from benchmark.domain.inference.leaderboard import (
    Ahead,
    RankedModel,
    Ranking,
    caution_text,
    fewest_units,
    leaderboard,
    letters,
)
from benchmark.domain.inference.paired import (
    Answered,
    Pair,
    PairedDifference,
    Tested,
    adjusted,
    paired_differences,
    significance_text,
)
from benchmark.domain.inference.power import DEFAULT_SD, Smallest, difference_sd, right_or_wrong_sd, smallest_difference

__all__ = [
    "DEFAULT_SD",
    "Ahead",
    "Answered",
    "Case",
    "Cases",
    "Pair",
    "PairedDifference",
    "RankedModel",
    "Ranking",
    "Smallest",
    "Tested",
    "adjusted",
    "caution_text",
    "difference_sd",
    "fewest_units",
    "leaderboard",
    "letters",
    "paired_differences",
    "right_or_wrong_sd",
    "significance_text",
    "smallest_difference",
]
