"""Answers that differ where the same was asked again, story by story."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple


class Flips(NamedTuple):
    """A story or conversation with so many samples that were answered each time, and how many of these have different
    answers."""

    cluster: str
    compared: int
    flipped: int


def flips_by_cluster(compared: Iterable[str], flipped: Iterable[str]) -> list[Flips]:
    """Return the flips of each cluster that has one, the most first, from the clusters of the samples that were
    compared and of those with different answers."""
    all_compared, all_flipped = Counter(compared), Counter(flipped)
    return [
        Flips(cluster, all_compared[cluster], count)
        for cluster, count in sorted(all_flipped.items(), key=lambda item: (-item[1], item[0]))
    ]
