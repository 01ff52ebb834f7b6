"""The lead of samples as published over those under a control, and the answers that flip."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from core.language import gettext_noop
from core.statistics import DIFFERENCE, RESAMPLES, Estimate, mean_estimates, numbered

Scores = Mapping[int, float | None]
"""By the number of a sample its score from 0 to 1, None where it has none."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Samples that were asked both ways and have both scores: the mean of the score as published less that under the
    control, with its interval over clusters; both means; the share of samples whose score is the same; and the numbers
    of those whose score is another, the largest difference first."""

    difference: Estimate
    published: float | None
    controlled: float | None
    agreement: float | None
    flips: tuple[int, ...]


def paired(
    published: Scores,
    controlled: Scores,
    clusters: Mapping[int, Hashable],
    *,
    seed: int,
    unit: str,
    resamples: int = RESAMPLES,
) -> Paired:
    """Return what the pairs come to, by sample number; `clusters` are those of the samples, `unit` is what they are
    called, in the plural."""
    pairs = {
        number: (score, other)
        for number, score in sorted(published.items())
        if score is not None and (other := controlled.get(number)) is not None
    }
    apart = {number: score - other for number, (score, other) in pairs.items()}
    (difference,) = mean_estimates(
        np.array([[*apart.values()]], dtype=float),
        scale=DIFFERENCE,
        seed=seed,
        unit=unit,
        empty=gettext_noop("no sample has a score both ways"),
        resamples=resamples,
        clusters=numbered([clusters[number] for number in apart]),
    )
    flips = sorted((number for number in apart if apart[number]), key=lambda number: (-abs(apart[number]), number))
    means = [sum(side) / len(side) for side in zip(*pairs.values(), strict=True)] or [None, None]
    return Paired(difference, means[0], means[1], 1 - len(flips) / len(pairs) if pairs else None, tuple(flips))
