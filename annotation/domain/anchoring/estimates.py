"""Shares and medians with intervals over stories; all estimates of one table share the resamples."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.plain import WHERE_THERE_IS_ONE
from core.statistics import (
    DIFFERENCE,
    FEWEST,
    POSITIVE,
    REAL,
    SHARE,
    Scale,
    first_by_second,
    interval_of,
    replicated_sums,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
BINS = 256
SHARES, NUMBERS = (SHARE, DIFFERENCE), (POSITIVE, REAL)


def numbered(story: Ints) -> tuple[Ints, int]:
    """Return the stories numbered from 0, and how many there are."""
    names, codes = np.unique(story, return_inverse=True)
    return codes.reshape(-1), len(names)


class Quantity(NamedTuple):
    """What is measured of `n` rows: `value`, and `measure` of any sums over stories, shape (r, k) → (r,), of which
    those of the rows are `sums`, shape (stories, k). `scales` are those of the quantity and of a difference of two;
    `empty` says why it is undefined without rows."""

    value: float
    n: int
    sums: Floats
    measure: Callable[[Floats], Floats]
    scales: tuple[Scale, Scale]
    empty: str


def ratio(sums: Floats, empty: str, scales: tuple[Scale, Scale] = SHARES) -> Quantity:
    """Return the first column of story sums, shape (stories, 2), by the second: a share, or a mean without an upper
    end by NUMBERS."""
    part, n = (float(column.sum(dtype=np.float64)) for column in sums.T)
    return Quantity(part / int(n) if int(n) else np.nan, int(n), sums, first_by_second, scales, empty)


def share(story: Ints, stories: int, hits: Bools, counted: Bools, empty: str) -> Quantity:
    """Return the share of the `counted` rows that are `hits`."""
    columns = [np.bincount(story[rows], minlength=stories) for rows in (hits & counted, counted)]
    return ratio(np.column_stack(columns).astype(np.float32), empty)


def median(story: Ints, stories: int, values: Floats, empty: str) -> Quantity:
    """Return the median of a column, from counts by story and bin; of nan nothing is counted.

    Bins hold equal numbers of rows; up to `BINS` distinct values the resampled median is exact, beyond that it is
    interpolated within its bin. `value` is always exact.
    """
    finite = np.isfinite(values)
    story, values = story[finite], values[finite]
    if not len(values):
        return Quantity(np.nan, 0, np.zeros((stories, 1), dtype=np.float32), np.ravel, NUMBERS, empty)
    ordered = np.sort(values)
    last = np.linspace(0, len(ordered) - 1, BINS + 1).astype(np.int64) if len(ordered) > BINS else slice(None)
    high = np.unique(ordered[last])
    low = ordered[np.searchsorted(ordered, np.concatenate([[-np.inf], high[:-1]]), side="right")]
    flat = story * len(high) + np.searchsorted(high, values)
    counts = np.bincount(flat, minlength=stories * len(high)).reshape(stories, -1).astype(np.float32)

    def measure(sums: Floats) -> Floats:
        up_to = np.cumsum(sums, axis=1)
        half = up_to[:, -1] / 2
        lower = (up_to < half[:, None]).sum(axis=1)
        upper = np.minimum((up_to <= half[:, None]).sum(axis=1), len(low) - 1)
        rows, inside = np.arange(len(sums)), sums[np.arange(len(sums)), lower]
        missing = half - (up_to[rows, lower] - inside)
        part = np.divide(missing, inside, out=np.zeros(len(sums)), where=inside > 0)
        middle = low[lower] + part * (high[lower] - low[lower])
        # Of an even number the mean of the middle two.
        return np.where(half > 0, np.where(upper > lower, (middle + low[upper]) / 2, middle), np.nan)

    return Quantity(float(np.median(ordered)), len(values), counts, measure, NUMBERS, empty)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A quantity or a difference over `n` rows of so many `stories`, and [low, high]; `reason` says why either is
    None."""

    value: float | None
    n: int
    stories: int
    interval: list[float] | None
    reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


def estimates(
    quantities: Mapping[str, Quantity],
    differences: Mapping[str, tuple[str, str]],
    *,
    paired: Set[str] = frozenset(),
    stories: int,
    seed: int,
    resamples: int,
) -> dict[str, Estimate]:
    """Return each quantity and each difference (first minus second).

    `n` of a difference is that of both parts, of a `paired` one (two readings of the same rows) that of one. `interval`
    is [low, high] (`core.statistics`); an undefined value or interval has its `reason`.
    """
    drawn = {
        name: quantity.measure(replicated_sums(quantity.sums, seed=seed, resamples=resamples))
        for name, quantity in quantities.items()
        if stories >= FEWEST
    }
    results = {}
    for name in [*quantities, *differences]:
        names = differences.get(name, (name,))
        parts = [quantities[part] for part in names]
        n = parts[0].n if name in paired else sum(part.n for part in parts)
        held = min(int(part.sums.any(axis=1).sum()) for part in parts)
        if empty := next((part.empty for part in parts if not part.n), ""):
            results[name] = Estimate(None, n, held, None, empty)
            continue
        value = parts[0].value - sum(part.value for part in parts[1:])
        replicates = drawn[names[0]] - sum(drawn[other] for other in names[1:]) if drawn else None
        scale = parts[0].scales[len(parts) - 1]
        interval, why = interval_of(
            value, replicates, held, clusters=stories, scale=scale, unit="stories", empty=parts[0].empty
        )
        results[name] = Estimate(value, n, held, interval, why or None)
    return results
