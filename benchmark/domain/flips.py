"""Answers that differ where the same was asked again, story by story."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
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


class Repeated(NamedTuple):
    """The samples that were answered both ways: the share that is the same, None without any sample, the numbers of the
    others (`flips`), and those of all."""

    same: float | None
    flips: Sequence[int]
    compared: Sequence[int]

    @classmethod
    def of(cls, flips: Sequence[int], compared: Sequence[int]) -> Repeated:
        return cls(1 - len(flips) / len(compared) if compared else None, flips, compared)


def repeated_statements(
    first: Mapping[int, str | None], second: Mapping[int, str | None], numbers: Set[int]
) -> Repeated:
    """Compare what answers say, by sample; an unreadable answer differs from any that could be read."""
    compared = [number for number in sorted(numbers) if first.get(number) and second.get(number)]
    return Repeated.of([number for number in compared if first[number] != second[number]], compared)


def repeated_scores(first: Mapping[int, float | None], second: Mapping[int, float | None]) -> Repeated:
    """Compare scores, by sample; flips with the largest difference come first."""
    apart = {
        number: score - other
        for number, score in sorted(first.items())
        if score is not None and (other := second.get(number)) is not None
    }
    flips = sorted((number for number in apart if apart[number]), key=lambda number: (-abs(apart[number]), number))
    return Repeated.of(flips, list(apart))
