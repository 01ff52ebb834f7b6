"""Cluster bootstrap: whole clusters are resampled, and all figures of one report share the resamples."""

from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Clusters = NDArray[np.int64]
RESAMPLES = 2000
DRAWS_AT_ONCE = 4_000_000
BLOCK = 1_000_000
"""Draws of a block: tens of megabytes while they are drawn."""
DRAWS_KEPT = 16_000_000
"""More of them are drawn anew each time; up to so many are kept, beyond `DRAWS_AT_ONCE` in a byte each."""


def mean_of(rows: Floats) -> Floats:
    """Mean of what is known in each row: shape (k, n) → (k,), nan where nothing is."""
    finite = np.isfinite(rows)
    return ratios(np.where(finite, rows, 0).sum(axis=1), finite.sum(axis=1))


def resampled_means(columns: Floats, *, seed: int, resamples: int, clusters: Clusters | None = None) -> Floats:
    """The mean of what is known of each column, shape (n, k), in each resample of the clusters: shape (resamples, k).

    `clusters` numbers each row's cluster from 0 on, shape (n,); without it every row is one. nan where none of a
    column's clusters was drawn.
    """
    if not columns.size:
        return np.full((resamples, columns.shape[1]), np.nan)
    both = np.hstack(_sums_and_counts(columns, clusters))
    return ratios(*np.split(resampled_sums(both, seed=seed, resamples=resamples), 2, axis=1))


def replicated_means(columns: Floats, *, seed: int, resamples: int, clusters: Clusters | None = None) -> Floats:
    """The mean of what is known of each column, shape (n, k), without each cluster in turn, then in each resample:
    (clusters + resamples, k)."""
    sums, counts = _sums_and_counts(columns, clusters)
    left_out = ratios(sums.sum(axis=0) - sums, counts.sum(axis=0) - counts)
    return np.concatenate([left_out, resampled_means(columns, seed=seed, resamples=resamples, clusters=clusters)])


def _sums_and_counts(columns: Floats, clusters: Clusters | None) -> tuple[Floats, Floats]:
    finite = np.isfinite(columns)
    return by_cluster(np.where(finite, columns, 0.0), clusters), by_cluster(finite.astype(float), clusters)


def by_cluster(columns: Floats, clusters: Clusters | None) -> Floats:
    """The sums of each column, shape (n, k), over the rows of each cluster: shape (clusters, k); as it is where every
    row is a cluster."""
    if clusters is None:
        return columns
    sums = np.zeros((int(clusters.max()) + 1 if len(clusters) else 0, columns.shape[1]))
    np.add.at(sums, clusters, columns)
    return sums


def numbered(names: Sequence[Hashable]) -> Clusters | None:
    """The number of each row's cluster, from 0 on in the order in which they come; None where no two rows share one."""
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(name, len(numbers)) for name in names]
    return None if len(numbers) == len(codes) else np.array(codes, dtype=np.int64)


def ratios(numerators: Floats, denominators: Floats) -> Floats:
    """Element by element, nan where there is nothing to divide by."""
    positive = np.asarray(denominators) > 0
    if positive.all():
        whole: Floats = numerators / denominators
        return whole
    out: Floats = np.full(np.broadcast_shapes(numerators.shape, denominators.shape), np.nan)
    np.divide(numerators, denominators, out=out, where=positive)
    return out


def first_by_second(sums: Floats) -> Floats:
    """Return the ratio of the first of two columns of sums to the second, shape (r, 2 or more) → (r,)."""
    return ratios(sums[:, 0], sums[:, 1])


def resampled_sums(columns: Floats, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Sums over the clusters of each resample, which all columns share: shape (n, k) → (resamples, k).

    Columns of single precision are summed in it: exact for counts up to 16 millions, in half the time.
    """
    drawings = weights(len(columns), seed=seed, resamples=resamples)
    return np.concatenate([drawn @ columns for drawn in drawings], dtype=float)


def replicated_sums(columns: Floats, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Sums over all clusters but each in turn, then over the clusters of each resample: shape (n, k) → (n + resamples,
    k)."""
    left_out = columns.sum(axis=0) - columns
    drawings = weights(len(columns), seed=seed, resamples=resamples)
    return np.concatenate([left_out, *(drawn @ columns for drawn in drawings)], dtype=float)


def weights(n: int, *, seed: int, resamples: int = RESAMPLES) -> Iterator[NDArray[np.float32]]:
    """Yield how often each resample drew each of n clusters, in blocks of shape (some resamples, n) of bearable
    size."""
    if resamples * n <= DRAWS_AT_ONCE:
        yield _kept_weights(seed, resamples, n)
        return
    if resamples * n <= DRAWS_KEPT:
        for block in _kept_bytes(seed, resamples, n):
            yield block.astype(np.float32)
        return
    for drawn in _blocks(seed, resamples, n):
        yield drawn.astype(np.float32)


def _blocks(seed: int, resamples: int, n: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    step = max(1, BLOCK // n)
    for start in range(0, resamples, step):
        yield _weights(rng, min(step, resamples - start), n)


@lru_cache(maxsize=2)
def _kept_bytes(seed: int, resamples: int, n: int) -> list[NDArray[np.uint8]]:
    """No resample draws one of so many clusters 256 times."""
    return [drawn.astype(np.uint8) for drawn in _blocks(seed, resamples, n)]


@lru_cache(maxsize=12)
def _kept_weights(seed: int, resamples: int, n: int) -> NDArray[np.float32]:
    """A report sums hundreds of times over the same resamples: of all its clusters, of the usable ones, of those of
    each group."""
    return _weights(np.random.default_rng(seed), resamples, n).astype(np.float32)


def _weights(rng: np.random.Generator, resamples: int, n: int) -> Floats:
    """Return how often each resample drew each cluster, shape (resamples, n)."""
    flat = rng.integers(n, size=(resamples, n)) + np.arange(resamples)[:, None] * n
    return np.bincount(flat.ravel(), minlength=flat.size).reshape(flat.shape).astype(float)
