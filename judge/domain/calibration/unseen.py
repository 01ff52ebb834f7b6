"""Errors of a judge that no aligned story shows: how far they may take a score.

Where a judge seldom fails, but then on a whole story, a few aligned stories show no such failure, and their spread
knows nothing of it. By the rule of three, 1 − .05^(1/n) of all stories, about 3/n, may have one without any being
among n aligned ones. A failure that strikes stories at random puts the judge's score where the truth is like that of
other stories, so that the stories furthest from the judge's mean are those that it may have struck.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.statistics import Floats, unseen_share


def reach(pulls: Mapping[str, float], aligned: int) -> tuple[float, float]:
    """Return how far down, and up, a score would go were the stories that pull it furthest really like the others: as
    many as may be judged wrongly, with 95 % confidence, without one being among so many `aligned` at random.

    `pulls` is how far each story moves the score by being judged.
    """
    moves = np.sort(np.array(list(pulls.values())))
    count = min(unseen_share(aligned) * len(moves), len(moves) - aligned) if aligned else 0.0
    return _furthest(moves[::-1], count), _furthest(-moves, count)


def _furthest(pulls: Floats, count: float) -> float:
    """The sum of the first `count`, the last of them in part; of those below 0 none counts."""
    return float(np.clip(count - np.arange(len(pulls)), 0, 1) @ np.maximum(pulls, 0))


def reaching(
    interval: tuple[float, float], value: float, far: tuple[float, float], ends: tuple[float, float]
) -> tuple[float, float]:
    """Return the interval, wider where errors that were not seen may take the value further, and within the ends of
    its range."""
    return max(min(interval[0], value - far[0]), ends[0]), min(max(interval[1], value + far[1]), ends[1])


def unseen_p(value: float, pulls: Mapping[str, float], aligned: int) -> float:
    """Return the p value of a difference that errors which were not seen alone would make: the chance that none of so
    many stories as would bring it to 0 is among the aligned ones. Below .05 where the difference is out of reach."""
    moves = np.sort(np.array(list(pulls.values())))
    furthest = np.maximum(moves[::-1] if value > 0 else -moves, 0)
    sums = np.concatenate([[0.0], np.cumsum(furthest)])
    at = int(np.searchsorted(sums, abs(value)))
    if at >= len(sums):
        return 0.0
    count = at - 1 + (abs(value) - sums[at - 1]) / furthest[at - 1] if at else 0.0
    return 0.0 if count > len(moves) - aligned else float((1 - count / len(moves)) ** aligned)
