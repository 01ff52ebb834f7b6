"""Means over stories with intervals and bounds, overall and by category; all figures of a row share resamples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.domain.anchoring.estimates import Share, estimates, method

Floats = NDArray[np.float64]

NONE_USABLE = "no usable story"


@dataclass(frozen=True, slots=True)
class StoryScore:
    """Figures of one story by column name, worst case and best case: equal where the story is usable.

    None is an undefined figure. `unusable` says why the story has no estimate, empty where it has one.
    """

    category: str
    worst: Mapping[str, float | None]
    best: Mapping[str, float | None]
    unusable: str = ""

    @property
    def defined(self) -> bool:
        return any(value is not None for value in self.worst.values())


@dataclass(frozen=True)
class CategoryMean:
    """The unweighted mean of the categories' means; a resample without a category averages those that it has."""

    parts: Sequence[Share]
    empty: str = NONE_USABLE

    @property
    def n(self) -> int:
        return sum(part.n for part in self.parts)

    @property
    def stories(self) -> int:
        return sum(part.stories for part in self.parts)

    @property
    def value(self) -> float:
        return float(np.mean([part.value for part in self.parts if part.n]))

    def resampled(self, weights: NDArray[np.floating]) -> Floats:
        drawn = np.array([part.resampled(weights) for part in self.parts if part.n])
        known = np.isfinite(drawn).sum(axis=0)
        return np.divide(np.nansum(drawn, axis=0), known, out=np.full(known.shape, np.nan), where=known > 0)


def report(
    scores: Sequence[StoryScore], shares: Sequence[str], *, mean_of_categories: str = "", seed: int, resamples: int
) -> dict[str, Any]:
    """{overall, by_category, method, seed, resamples}, ready for JSON.

    A row has `stories` (usable ones), the figures of `shares`, `interval` and `bounds` with [low, high] of each, the
    number of `unusable` stories and, where there are some, `unusable_reasons` and the number of `undefined` ones.
    `overall` also has the mean over categories of the share `mean_of_categories`, as `<share>_category_mean`.
    """
    groups: dict[str, list[StoryScore]] = defaultdict(list)
    for score in scores:
        groups[score.category].append(score)
    rules = {"seed": seed, "resamples": resamples}
    return {
        "overall": _row(scores, shares, mean_of_categories, **rules),
        "by_category": [{"story_category": name, **_row(groups[name], shares, **rules)} for name in sorted(groups)],
        "method": method(**rules),
        **rules,
    }


def _row(scores: Sequence[StoryScore], shares: Sequence[str], mean_of: str = "", **rules: int) -> dict[str, Any]:
    usable = [score for score in scores if not score.unusable]
    quantities: dict[str, Any] = {name: _share(usable, name) for name in shares}
    values = {name: _mean([score.worst[name] for score in usable]) for name in shares}
    bounds = {name: _bounds(scores, name) for name in shares}
    if mean_of:
        name = f"{mean_of}_category_mean"
        categories = sorted({score.category for score in scores})
        quantities[name] = CategoryMean([_share(usable, mean_of, category) for category in categories])
        values[name] = _category_mean(usable, mean_of)
        bounds[name] = _category_bounds(scores, mean_of)
    found = estimates(quantities, {}, stories=len(usable), **rules)
    return {
        "stories": len(usable),
        **values,
        "interval": {name: one["interval"] for name, one in found.items()},
        "bounds": bounds,
        **_left_out(scores),
        **next(({"reason": one["reason"]} for one in found.values() if "reason" in one), {}),
    }


def _left_out(scores: Sequence[StoryScore]) -> dict[str, Any]:
    unusable = Counter(score.unusable for score in scores if score.unusable and score.defined)
    out: dict[str, Any] = {"unusable": unusable.total()}
    if unusable:
        out["unusable_reasons"] = dict(sorted(unusable.items()))
    if undefined := sum(not score.defined for score in scores):
        out["undefined"] = undefined
    return out


def _share(usable: Sequence[StoryScore], name: str, category: str | None = None) -> Share:
    """A mean over stories as the shared bootstrap takes it: the sum of values over the number of stories."""
    values = [score.worst[name] if category in (None, score.category) else None for score in usable]
    sums = [(0.0, 0.0) if value is None else (value, 1.0) for value in values]
    return Share(np.array(sums, dtype=float).reshape(-1, 2), NONE_USABLE)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _bounds(scores: Sequence[StoryScore], name: str) -> list[float] | None:
    """The mean with every unusable story at its worst, and at its best; None without a defined story."""
    worst = _mean([score.worst[name] for score in scores])
    return None if worst is None else [worst, _mean([score.best[name] for score in scores])]


def _category_mean(scores: Sequence[StoryScore], name: str, case: str = "worst") -> float | None:
    groups: dict[str, list[float | None]] = defaultdict(list)
    for score in scores:
        groups[score.category].append(getattr(score, case)[name])
    return _mean([_mean(groups[category]) for category in sorted(groups)])


def _category_bounds(scores: Sequence[StoryScore], name: str) -> list[float] | None:
    worst = _category_mean(scores, name)
    return None if worst is None else [worst, _category_mean(scores, name, "best")]
