"""Means over stories with intervals and bounds, overall and by category; all figures of a row share resamples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.domain.inference.aligned import Floats
from benchmark.domain.inference.aligned import mean_of as mean_of_rows
from benchmark.domain.inference.bootstrap import intervals, method, resampled_means

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
    """([low, high] or None, the reason without one) of each figure, all from the same resampled stories."""
    names = [*shares, *([f"{mean_of}_category_mean"] if mean_of else [])]
    columns = _matrix([[score.worst[name] for score in usable] for name in shares])
    counts = list(np.isfinite(columns).sum(axis=0))
    if mean_of:
        columns = np.hstack([columns, _by_category(usable, mean_of)])
        counts.append(counts[shares.index(mean_of)])
    means = resampled_means(columns, seed=seed, resamples=resamples)
    if mean_of:
        means = np.hstack([means[:, : len(shares)], mean_of_rows(means[:, len(shares) :])[:, None]])
    return dict(zip(names, intervals(means, np.array(counts), empty=NONE_USABLE), strict=True))


def _matrix(columns: Sequence[Sequence[float | None]]) -> Floats:
    """Shape (stories, figures), nan where undefined."""
    return np.array(columns, dtype=float).reshape(len(columns), -1).T


def _by_category(usable: Sequence[StoryScore], name: str) -> Floats:
    """A column for each category, with the figures of its own stories."""
    categories = sorted({score.category for score in usable if score.worst[name] is not None})
    columns = [[score.worst[name] if score.category == one else None for score in usable] for one in categories]
    return _matrix(columns) if columns else np.full((len(usable), 1), np.nan)


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
