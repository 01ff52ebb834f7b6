"""Means over stories with intervals and bounds, overall and by category; all figures of a row share resamples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.domain.agreement.intervals import LEVEL
from annotation.domain.anchoring.estimates import DRAWS_AT_ONCE, ONE_STORY, SPARSE, method

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
    values = {name: _mean([score.worst[name] for score in usable]) for name in shares}
    bounds = {name: _bounds(scores, name) for name in shares}
    if mean_of:
        values[f"{mean_of}_category_mean"] = _category_mean(usable, mean_of)
        bounds[f"{mean_of}_category_mean"] = _category_bounds(scores, mean_of)
    found = _intervals(usable, shares, mean_of, **rules)
    return {
        "stories": len(usable),
        **values,
        "interval": {name: interval for name, (interval, _) in found.items()},
        "bounds": bounds,
        **_left_out(scores),
        **next(({"reason": reason} for _, reason in found.values() if reason), {}),
    }


def _intervals(
    usable: Sequence[StoryScore], shares: Sequence[str], mean_of: str, *, seed: int, resamples: int
) -> dict[str, tuple[list[float] | None, str]]:
    """([low, high] or None, the reason without one) of each figure. All are means over the same resampled stories, so that one
    matrix product makes them, where one for each figure took most of a report's time."""
    names = [*shares, *([f"{mean_of}_category_mean"] if mean_of else [])]
    columns = _matrix([[score.worst[name] for score in usable] for name in shares])
    counts = list(np.isfinite(columns).sum(axis=0))
    if mean_of:
        columns = np.hstack([columns, _by_category(usable, mean_of)])
        counts.append(counts[shares.index(mean_of)])
    if len(usable) > 1:
        drawn = _resampled(columns, seed=seed, resamples=resamples)
        means = drawn[:, : len(shares)]
        if mean_of:
            means = np.hstack([means, _mean_of_known(drawn[:, len(shares) :])])
        ends = np.quantile(means, ((1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=0).T
    else:
        ends = np.full((len(names), 2), np.nan)
    return {name: _interval(*one) for name, *one in zip(names, ends, counts, strict=True)}


def _interval(ends: Floats, stories: int) -> tuple[list[float] | None, str]:
    if stories < 2:
        return None, ONE_STORY if stories else NONE_USABLE
    return (ends.tolist(), "") if np.isfinite(ends).all() else (None, SPARSE)


def _matrix(columns: Sequence[Sequence[float | None]]) -> Floats:
    """Shape (stories, figures), nan where undefined."""
    return np.array(columns, dtype=float).reshape(len(columns), -1).T


def _by_category(usable: Sequence[StoryScore], name: str) -> Floats:
    """A column for each category, with the figures of its own stories."""
    categories = sorted({score.category for score in usable if score.worst[name] is not None})
    columns = [[score.worst[name] if score.category == one else None for score in usable] for one in categories]
    return _matrix(columns) if columns else np.full((len(usable), 1), np.nan)


def _resampled(columns: Floats, *, seed: int, resamples: int) -> Floats:
    """The mean of each column in each resample, shape (resamples, figures); nan where none of its stories was drawn."""
    stories, figures = columns.shape
    known = np.isfinite(columns)
    both = np.hstack([np.where(known, columns, 0), known])
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, figures))
    step = max(1, DRAWS_AT_ONCE // stories)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        flat = rng.integers(0, stories, (size, stories)) + np.arange(size)[:, None] * stories
        sums = np.bincount(flat.ravel(), minlength=flat.size).reshape(flat.shape).astype(float) @ both
        with np.errstate(invalid="ignore"):
            means[start : start + size] = sums[:, :figures] / sums[:, figures:]
    return means


def _mean_of_known(drawn: Floats) -> Floats:
    """The unweighted mean of the categories that a resample has, shape (resamples, 1)."""
    known = np.isfinite(drawn).sum(axis=1)
    return np.divide(np.nansum(drawn, axis=1), known, out=np.full(known.shape, np.nan), where=known > 0)[:, None]


def _left_out(scores: Sequence[StoryScore]) -> dict[str, Any]:
    unusable = Counter(score.unusable for score in scores if score.unusable and score.defined)
    out: dict[str, Any] = {"unusable": unusable.total()}
    if unusable:
        out["unusable_reasons"] = dict(sorted(unusable.items()))
    if undefined := sum(not score.defined for score in scores):
        out["undefined"] = undefined
    return out


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
