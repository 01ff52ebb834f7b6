"""Differences of corrected scores between models, paired by story."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.statistics import DIFFERENCE, linear_interval, linear_p
from judge.domain.calibration.score import Corrected
from judge.domain.calibration.unseen import reach, reaching, unseen_p
from judge.domain.cluster_names import STORIES, ClusterName


@dataclass(frozen=True, slots=True)
class CorrectedDifference:
    """One model's corrected score less another's, with its interval and two-sided p value, over `stories` that either
    has; None with a `reason`."""

    value: float | None
    interval: tuple[float, float] | None
    p: float | None
    stories: int
    aligned: int
    reason: str = ""


def difference(first: Corrected, second: Corrected, *, over: ClusterName = STORIES) -> CorrectedDifference:
    """Return the difference of two corrected scores of the same metric, paired by story.

    What a story moves either score by is set against the other, so that stories which are hard for both make no spread,
    and nothing is lost where the two were aligned on different stories.
    """
    stories = sorted({*first.moves, *second.moves})
    if first.value is None or second.value is None:
        aligned = min(first.aligned, second.aligned)
        return CorrectedDifference(None, None, None, len(stories), aligned, first.reason or second.reason)
    # a model whose every story is certain has nothing to be aligned, and limits nothing
    aligned = min((score.aligned for score in (first, second) if score.aligned), default=0)
    moves = np.array([sum(first.moves.get(story, ())) - sum(second.moves.get(story, ())) for story in stories])
    value = first.value - second.value
    most = min((score.freedom for score in (first, second) if score.aligned), default=1)
    ends, why = linear_interval(value, moves, count=aligned, most=most, scale=DIFFERENCE, unit=over.aligned)
    if not ends:
        return CorrectedDifference(value, None, None, len(stories), aligned, why)
    p = linear_p(value, moves, count=aligned, most=most, scale=DIFFERENCE)
    pulls = {
        story: first.pulls.get(story, 0.0) - second.pulls.get(story, 0.0) for story in {*first.pulls, *second.pulls}
    }
    wide = reaching((ends[0], ends[1]), value, reach(pulls, aligned), (-1.0, 1.0))
    return CorrectedDifference(value, wide, max(p, unseen_p(value, pulls, aligned)), len(stories), aligned)
