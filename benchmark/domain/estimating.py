"""Means over stories with intervals and bounds, overall and by category; all figures of a row share resamples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.statistics import (
    SHARE,
    Floats,
    Interval,
    clusters_known,
    intervals,
    method,
    numbered,
    replicated_means,
    spanning,
)
from core.statistics import mean_of as mean_of_rows

NONE_USABLE = "no usable story"
COMPLETE = (0, 0)
"""Of an extraction whose every row was judged."""


@dataclass(frozen=True, slots=True)
class StoryScore:
    """Figures of one story by column name: worst case, best case, and the estimate between them, None without one.

    All three are equal where nothing of the story is missing. None is an undefined figure. `unusable` says why the story has no
    estimate, empty where it has one. `unjudged` counts the predicted and the gold rows of a usable extraction that the judge left
    without a judgement. Those of one `cluster` are resampled together; without a name a story is its own.
    """

    category: str
    worst: Mapping[str, float | None]
    best: Mapping[str, float | None]
    estimate: Mapping[str, float | None] | None
    unusable: str = ""
    unjudged: tuple[int, int] = COMPLETE
    cluster: str = ""

    @property
    def defined(self) -> bool:
        return any(value is not None for value in self.worst.values())

    @property
    def in_interval(self) -> bool:
        """Whether the story is resampled: what a judge left out is uncertainty about this story, an unusable answer is no part of it."""
        return self.estimate is not None or any(self.unjudged)


def report(
    scores: Sequence[StoryScore], shares: Sequence[str], *, mean_of_categories: str = "", seed: int, resamples: int
) -> dict[str, Any]:
    """{overall, by_category, method, seed, resamples}, ready for JSON.

    A row has `stories` (those with an estimate), the figures of `shares`, `interval` and `bounds` with [low, high] of each (an interval
    may be None: `reasons` then says why by figure, and `reason` has the first), the
    number of `unusable` stories and, where there are some, `unusable_reasons`, the number of `undefined` stories and what is
    `unjudged`: {"stories", "predicted", "gold"}, the rows of either side that the judge left out and their stories.
    `overall` also has the mean over categories of the share `mean_of_categories`, as `<share>_category_mean`.

    Bounds take every missing row and story at its worst, and at its best; an estimate lies between them. An interval ends at
    the lower end for the worst and at the upper end for the best that the rows without a judgement can be: it
    holds whatever made the judge leave them out, and with every row judged it is that of the estimate.
    """
    groups: dict[str, list[StoryScore]] = defaultdict(list)
    for score in scores:
        groups[score.category].append(score)
    rules = {"seed": seed, "resamples": resamples}
    return {
        "overall": overall_row(scores, shares, mean_of_categories, **rules),
        "by_category": [
            {"story_category": name, **overall_row(groups[name], shares, **rules)} for name in sorted(groups)
        ],
        "method": method(**rules, unit="stories"),
        **rules,
    }


def overall_row(scores: Sequence[StoryScore], shares: Sequence[str], mean_of: str = "", **rules: int) -> dict[str, Any]:
    """Return one row of `report`, over all of `scores`; `rules` are seed and resamples."""
    usable = [score for score in scores if score.estimate is not None]
    values = {name: _mean([score.estimate[name] for score in usable]) for name in shares}
    bounds = {name: _bounds(scores, name) for name in shares}
    if mean_of:
        values[f"{mean_of}_category_mean"] = _category_mean(usable, mean_of, "estimate")
        bounds[f"{mean_of}_category_mean"] = _category_bounds(scores, mean_of)
    found = _intervals([score for score in scores if score.in_interval] if usable else [], shares, mean_of, **rules)
    return {
        "stories": len(usable),
        **values,
        "interval": {name: interval for name, (interval, _) in found.items()},
        "bounds": bounds,
        **_left_out(scores),
        **_told({name: reason for name, (_, reason) in found.items() if reason}),
    }


def _told(reasons: Mapping[str, str]) -> dict[str, Any]:
    """Of figures without an interval."""
    return {"reasons": dict(reasons), "reason": next(iter(reasons.values()))} if reasons else {}


def _intervals(scores: Sequence[StoryScore], shares: Sequence[str], mean_of: str, **rules: int) -> dict[str, Interval]:
    """Of each figure, all from the same resampled stories."""
    names = [*shares, *([f"{mean_of}_category_mean"] if mean_of else [])]
    lowest = _case_intervals(scores, "worst", shares, mean_of, **rules)
    complete = not any(any(score.unjudged) for score in scores)
    highest = lowest if complete else _case_intervals(scores, "best", shares, mean_of, **rules)
    return {name: spanning(*both) for name, *both in zip(names, lowest, highest, strict=True)}


def _case_intervals(
    scores: Sequence[StoryScore], case: str, shares: Sequence[str], mean_of: str, *, seed: int, resamples: int
) -> list[Interval]:
    """With what the judge left out at its `worst`, or at its `best`."""
    columns = _matrix([[getattr(score, case)[name] for score in scores] for name in shares])
    clusters = numbered([score.cluster or at for at, score in enumerate(scores)])
    counts = list(clusters_known(columns, clusters))
    if mean_of:
        columns = np.hstack([columns, _by_category(scores, mean_of, case)])
        counts.append(counts[shares.index(mean_of)])
    found = mean_of_rows(columns.T)[None]
    replicates = replicated_means(columns, seed=seed, resamples=resamples, clusters=clusters)
    if mean_of:
        found, replicates = (
            np.hstack([means[:, : len(shares)], mean_of_rows(means[:, len(shares) :])[:, None]])
            for means in (found, replicates)
        )
    rules = {"clusters": len(replicates) - resamples, "scale": SHARE, "unit": "stories", "empty": NONE_USABLE}
    return intervals(found[0], replicates, np.array(counts), **rules)


def _matrix(columns: Sequence[Sequence[float | None]]) -> Floats:
    """Shape (stories, figures), nan where undefined."""
    return np.array(columns, dtype=float).reshape(len(columns), -1).T


def _by_category(scores: Sequence[StoryScore], name: str, case: str) -> Floats:
    """A column for each category, with the figures of its own stories."""
    values = [getattr(score, case)[name] for score in scores]
    held = list(zip([score.category for score in scores], values, strict=True))
    categories = sorted({category for category, value in held if value is not None})
    columns = [[value if category == one else None for category, value in held] for one in categories]
    return _matrix(columns) if columns else np.full((len(scores), 1), np.nan)


def _left_out(scores: Sequence[StoryScore]) -> dict[str, Any]:
    unusable = Counter(score.unusable for score in scores if score.unusable and score.defined)
    out: dict[str, Any] = {"unusable": unusable.total()}
    if unusable:
        out["unusable_reasons"] = dict(sorted(unusable.items()))
    if undefined := sum(not score.defined for score in scores):
        out["undefined"] = undefined
    if partly := [score.unjudged for score in scores if any(score.unjudged)]:
        predicted, gold = (sum(side) for side in zip(*partly, strict=True))
        out["unjudged"] = {"stories": len(partly), "predicted": predicted, "gold": gold}
    return out


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _bounds(scores: Sequence[StoryScore], name: str) -> list[float] | None:
    """The mean with all that is missing at its worst, and at its best; None without a defined story."""
    worst = _mean([score.worst[name] for score in scores])
    return None if worst is None else [worst, _mean([score.best[name] for score in scores])]


def _category_mean(scores: Sequence[StoryScore], name: str, case: str) -> float | None:
    groups: dict[str, list[float | None]] = defaultdict(list)
    for score in scores:
        groups[score.category].append(getattr(score, case)[name])
    return _mean([_mean(groups[category]) for category in sorted(groups)])


def _category_bounds(scores: Sequence[StoryScore], name: str) -> list[float] | None:
    worst = _category_mean(scores, name, "worst")
    return None if worst is None else [worst, _category_mean(scores, name, "best")]
