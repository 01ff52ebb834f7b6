"""Cluster bootstrap: whole clusters are resampled, and all figures of one report share the resamples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
RESAMPLES = 2000
DRAWS_AT_ONCE = 4_000_000


def mean_of(rows: Floats) -> Floats:
    """Mean of what is known in each row: shape (k, n) → (k,), nan where nothing is."""
    known = np.isfinite(rows)
    n = known.sum(axis=1)
    return np.divide(np.where(known, rows, 0).sum(axis=1), n, out=np.full(len(rows), np.nan), where=n > 0)


def resampled_means(columns: Floats, *, seed: int, resamples: int) -> Floats:
    """The mean of what is known of each column, shape (n, k), in each resample of the clusters: shape (resamples, k).

    nan where none of a column's clusters was drawn.
    """
    known = np.isfinite(columns)
    if not known.size:
        return np.full((resamples, columns.shape[1]), np.nan)
    both = np.hstack([np.where(known, columns, 0), known])
    return ratios(*np.split(resampled_sums(both, seed=seed, resamples=resamples), 2, axis=1))


def replicated_means(columns: Floats, *, seed: int, resamples: int) -> Floats:
    """The mean of what is known of each column, shape (n, k), without each cluster in turn, then in each resample: (n + resamples, k)."""
    known = np.isfinite(columns)
    sums, counts = np.where(known, columns, 0), known.astype(float)
    left_out = ratios(sums.sum(axis=0) - sums, counts.sum(axis=0) - counts)
    return np.concatenate([left_out, resampled_means(columns, seed=seed, resamples=resamples)])


def ratios(numerators: Floats, denominators: Floats) -> Floats:
    """Element by element, nan where there is nothing to divide by."""
    wanted = np.broadcast_shapes(numerators.shape, denominators.shape)
    return np.divide(numerators, denominators, out=np.full(wanted, np.nan), where=np.asarray(denominators) > 0)


def resampled_sums(columns: Floats, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Sums over the clusters of each resample, which all columns share: shape (n, k) → (resamples, k).

    Columns of single precision are summed in it: exact for counts up to 16 millions, in half the time.
    """
    parts = [drawn @ columns for drawn in weights(len(columns), seed=seed, resamples=resamples)]
    return (parts[0] if len(parts) == 1 else np.concatenate(parts)).astype(float)


def replicated_sums(columns: Floats, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Sums over all clusters but each in turn, then over the clusters of each resample: shape (n, k) → (n + resamples, k)."""
    left_out = (columns.sum(axis=0) - columns).astype(float)
    return np.concatenate([left_out, resampled_sums(columns, seed=seed, resamples=resamples)])


def weights(n: int, *, seed: int, resamples: int = RESAMPLES) -> Iterator[NDArray[np.float32]]:
    """How often each resample drew each of n clusters, in blocks of shape (some resamples, n) of bearable size."""
    if resamples * n <= DRAWS_AT_ONCE:
        yield _kept_weights(seed, resamples, n)
        return
    rng = np.random.default_rng(seed)
    step = max(1, DRAWS_AT_ONCE // n)
    for start in range(0, resamples, step):
        yield _weights(rng, min(step, resamples - start), n)


@lru_cache(maxsize=12)
def _kept_weights(seed: int, resamples: int, n: int) -> NDArray[np.float32]:
    """A report sums hundreds of times over the same resamples: of all its clusters, of the usable ones, of those of each group."""
    return _weights(np.random.default_rng(seed), resamples, n).astype(np.float32)


def _weights(rng: np.random.Generator, resamples: int, n: int) -> Floats:
    """How often each resample drew each cluster, shape (resamples, n)."""
    flat = rng.integers(n, size=(resamples, n)) + np.arange(resamples)[:, None] * n
    return np.bincount(flat.ravel(), minlength=flat.size).reshape(flat.shape).astype(float)
