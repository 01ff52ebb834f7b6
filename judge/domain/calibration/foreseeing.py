"""The width that the interval of a corrected score will have once more stories are aligned."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from core.statistics import FEWEST, LEVEL, t_quantile, unseen_share
from judge.domain.calibration.score import Corrected, alike, freedom
from judge.domain.calibration.unseen import reach


def foreseen(score: Corrected, aligned: int) -> float | None:
    """Return half the width that the interval will about have once so many stories are aligned, by the rule of three
    where all are alike now; None where it has none now, or fewer than five are meant."""
    if score.interval is None or aligned < FEWEST:
        return None
    if alike(score.moves):
        return unseen_share(aligned) / 2
    down, up = reach(score.pulls, aligned)
    moves = np.array(list(score.moves.values()))
    judged, own = moves[:, 0], moves[:, 1]
    per_story = float((own**2).sum()) * score.freedom  # its factor is that of the stories aligned now
    free = freedom(aligned, score.strata)
    square = max(float((judged**2 + 2 * judged * own).sum()) + per_story / free, 0.0)
    half = float(t_quantile((1 + LEVEL) / 2, np.array([float(free)]))[0] * np.sqrt(square))
    return (max(half, down) + max(half, up)) / 2


def needed(score: Corrected, half_width: float, most: int) -> int | None:
    """Return the least number of aligned stories, of `most` that there are, with which the interval will be about
    ±`half_width` or narrower; None where all of them are too few."""

    def narrow(aligned: int) -> bool:
        width = foreseen(score, aligned)
        return width is not None and width <= half_width

    sizes = range(FEWEST, most + 1)
    at = bisect_left(sizes, True, key=narrow)
    return sizes[at] if at < len(sizes) else None
