"""Answers that differ where the same was asked again, by sample and by cluster."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

Flips = tuple[str, int, int]
"""A cluster, the number of its samples that were answered each time, and of those with different answers."""
Repeated = tuple[float | None, Sequence[int], Sequence[int]]
"""The share of samples that are the same both times, the numbers of the others, and of all that were answered both
times. The share is None without any."""


def flips_by_cluster(compared: Iterable[str], flipped: Iterable[str]) -> list[Flips]:
    """Return the flips of each cluster that has one, the most first, from the clusters of the samples."""
    totals, counts = Counter(compared), Counter(flipped)
    return [(name, totals[name], count) for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))]


def _repeated(flips: Sequence[int], compared: Sequence[int]) -> Repeated:
    return 1 - len(flips) / len(compared) if compared else None, flips, compared


def repeated_statements(
    first: Mapping[int, str | None], second: Mapping[int, str | None], numbers: Set[int]
) -> Repeated:
    """Compare what answers say. An unreadable answer differs from any that could be read."""
    compared = [number for number in sorted(numbers) if first.get(number) and second.get(number)]
    return _repeated([number for number in compared if first[number] != second[number]], compared)


def repeated_scores(first: Mapping[int, float | None], second: Mapping[int, float | None]) -> Repeated:
    """Compare scores. Flips with the largest difference come first."""
    apart = {
        number: score - other
        for number, score in sorted(first.items())
        if score is not None and (other := second.get(number)) is not None
    }
    flips = sorted((number for number in apart if apart[number]), key=lambda number: (-abs(apart[number]), number))
    return _repeated(flips, list(apart))
