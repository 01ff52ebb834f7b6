"""Means over stories with intervals and bounds, overall and by category; all figures of a row share resamples."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from benchmark.domain.report_rows import ParseRows, ReportRow, Unjudged
from benchmark.domain.tables.table import Cell
from core.messages import gettext_noop
from core.plain import Json
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
    too_few,
)
from core.statistics import mean_of as mean_of_rows

Assumption = Literal["worst", "best", "estimate"]
NONE_USABLE = gettext_noop("no usable sample")
BOUNDS: tuple[Assumption, Assumption] = ("worst", "best")
COMPLETE = (0, 0)
"""Counts of unjudged rows of a table whose every row was judged."""


@dataclass(frozen=True, slots=True)
class StoryScore:
    """Figures of one story by column name in the repaired parse: worst case, best case, and the estimate between them,
    None without one.

    All three are equal where nothing of the story is missing. None is an undefined figure. `unreadable` says why the
    story has no estimate, empty where it has one. `unjudged` counts the predicted and the gold rows of a usable
    table that the judge left without a judgement. Those of one `cluster` are resampled together; without a name a
    story is its own.
    """

    category: str
    worst: Mapping[str, float | None]
    best: Mapping[str, float | None]
    estimate: Mapping[str, float | None] | None
    unreadable: str = ""
    unjudged: tuple[int, int] = COMPLETE
    cluster: str = ""
    number: int = 0
    """The number of the story, and the counts that its row has in addition to its figures."""
    counts: Mapping[str, int] = field(default_factory=dict)
    official: Mapping[str, float | None] | None = None
    """The official figures, None for one that official scoring leaves out. None without any, for a `reason`."""
    reason: str = ""

    def of(self, case: Assumption, name: str) -> float | None:
        """Return a figure of one case; None of an estimate that the story lacks."""
        values = self.worst if case == "worst" else self.best if case == "best" else self.estimate
        return None if values is None else values[name]

    @property
    def defined(self) -> bool:
        return any(value is not None for value in self.worst.values())

    @property
    def exact(self) -> bool:
        """True where nothing of the story is missing."""
        return self.worst == self.best == self.estimate

    def left_out(self, name: str) -> bool:
        """Return whether official scoring leaves the story out of a figure that it could have."""
        return self.official is not None and self.official.get(name) is None and self.worst.get(name) is not None

    def as_json(self) -> Json:
        """{story_id, story_category, COUNT…[, unjudged: {predicted, gold}], METRIC… (None without an estimate),
        unreadable[, reason][, bounds]}; bounds where anything is missing."""
        unjudged = dict(zip(("predicted", "gold"), self.unjudged, strict=True))
        bounds = {name: [low, self.best[name]] for name, low in self.worst.items() if low is not None}
        if self.estimate is not None:
            outcome: Json = {**self.estimate, "unreadable": False}
        else:
            outcome = {**dict.fromkeys(self.worst), "unreadable": self.defined, "reason": self.unreadable}
        return {
            "story_id": self.number,
            "story_category": self.category,
            **self.counts,
            **({"unjudged": unjudged} if any(self.unjudged) else {}),
            **outcome,
            **({"bounds": bounds} if bounds and self.worst != self.best else {}),
        }


def report(
    scores: Sequence[StoryScore],
    shares: Sequence[str],
    *,
    mean_of_categories: str = "",
    seed: int,
    resamples: int,
    unit: str = "stories",
) -> ParseRows:
    """Return the figures of `shares`. `unit` is what method and reasons call the clusters that are resampled.

    `overall` also has the mean over categories of the share `mean_of_categories`, as `<share>_category_mean`. Scores
    without a category are in no row of one.

    Bounds take every missing row and story at its worst, and at its best; an estimate lies between them. An interval
    ends at the lower end for the worst and at the upper end for the best that the rows without a judgement can be: it
    holds whatever made the judge leave them out, and with every row judged it is that of the estimate.
    """
    groups: dict[str, list[StoryScore]] = defaultdict(list)
    for score in scores:
        groups[score.category].append(score)

    row = partial(overall_row, shares=shares, seed=seed, resamples=resamples, unit=unit)
    return ParseRows(
        overall=row(scores, mean_of=mean_of_categories),
        by_category=[row(groups[name], category=name) for name in sorted(groups) if name],
        method=method(seed=seed, resamples=resamples, unit=unit),
        seed=seed,
        resamples=resamples,
    )


def overall_row(
    scores: Sequence[StoryScore],
    shares: Sequence[str],
    mean_of: str = "",
    *,
    seed: int,
    resamples: int,
    unit: str = "stories",
    category: str = "",
) -> ReportRow:
    """Return one row of `report`, over all of `scores`."""
    usable = [score for score in scores if score.estimate is not None]
    values = _means(usable, "estimate", shares, mean_of)
    if all(score.exact for score in scores):
        worst = best = values
    else:
        worst, best = (_means(scores, case, shares, mean_of) for case in BOUNDS)
    # what a judge left out is uncertainty about a story; an unreadable answer is not part of it
    resampled = [score for score in scores if score.estimate is not None or any(score.unjudged)] if usable else []
    intervals = _intervals(resampled, shares, mean_of, seed=seed, resamples=resamples, unit=unit)
    cells = {}
    for name, value in values.items():
        (ends, reason), low, high = intervals[name], worst[name], best[name]
        bounds = None if low is None or high is None else [low, high]
        cells[name] = Cell(value, ends, reason=reason or None, bounds=bounds)
    unreadable = Counter(score.unreadable for score in scores if score.unreadable and score.defined)
    partly = [score.unjudged for score in scores if any(score.unjudged)]
    return ReportRow(
        stories=len(usable),
        cells=cells,
        unreadable=unreadable.total(),
        unreadable_reasons=dict(sorted(unreadable.items())),
        undefined=sum(not score.defined for score in scores),
        unjudged=Unjudged(len(partly), *map(sum, zip(*partly, strict=True))) if partly else None,
        category=category,
    )


def _means(
    scores: Sequence[StoryScore], case: Assumption, shares: Sequence[str], mean_of: str
) -> dict[str, float | None]:
    """Return the mean of each share, and the mean of the categories' means of `mean_of`."""
    means = {name: _mean([score.of(case, name) for score in scores]) for name in shares}
    if mean_of:
        groups: dict[str, list[float | None]] = defaultdict(list)
        for score in scores:
            groups[score.category].append(score.of(case, mean_of))
        means[f"{mean_of}_category_mean"] = _mean([_mean(groups[category]) for category in sorted(groups)])
    return means


def _intervals(scores: Sequence[StoryScore], shares: Sequence[str], mean_of: str, **rules: Any) -> dict[str, Interval]:
    """Return the interval of each metric, all from the same resampled stories."""
    names = [*shares, *([f"{mean_of}_category_mean"] if mean_of else [])]
    lowest = _case_intervals(scores, "worst", shares, mean_of, **rules)
    complete = not any(any(score.unjudged) for score in scores)
    highest = lowest if complete else _case_intervals(scores, "best", shares, mean_of, **rules)
    return {name: spanning(low, high) for name, low, high in zip(names, lowest, highest, strict=True)}


def _case_intervals(
    scores: Sequence[StoryScore],
    case: Assumption,
    shares: Sequence[str],
    mean_of: str,
    *,
    seed: int,
    resamples: int,
    unit: str,
) -> list[Interval]:
    """Return the interval of each metric with what the judge left out at its `worst`, or at its `best`."""
    columns = _matrix([[score.of(case, name) for score in scores] for name in shares])
    clusters = numbered([score.cluster or at for at, score in enumerate(scores)])
    counts = clusters_known(columns, clusters)
    if mean_of:
        counts = np.append(counts, counts[shares.index(mean_of)])
    if none := too_few(counts, unit=unit, empty=NONE_USABLE):
        return none
    if mean_of:
        columns = np.hstack([columns, _by_category(scores, mean_of, case)])
    observed = mean_of_rows(columns.T)[None]
    replicates = replicated_means(columns, seed=seed, resamples=resamples, clusters=clusters)
    if mean_of:
        observed, replicates = (
            np.hstack([means[:, : len(shares)], mean_of_rows(means[:, len(shares) :])[:, None]])
            for means in (observed, replicates)
        )
    return intervals(
        observed[0], replicates, counts, clusters=len(replicates) - resamples, scale=SHARE, unit=unit, empty=NONE_USABLE
    )


def _matrix(columns: Sequence[Sequence[float | None]]) -> Floats:
    """Shape (stories, figures), nan where undefined."""
    return np.array(columns, dtype=float).reshape(len(columns), -1).T


def _by_category(scores: Sequence[StoryScore], name: str, case: Assumption) -> Floats:
    """A column for each category, with the figures of its own stories."""
    values = [score.of(case, name) for score in scores]
    pairs = list(zip([score.category for score in scores], values, strict=True))
    categories = sorted({category for category, value in pairs if value is not None})
    columns = [[value if category == part else None for category, value in pairs] for part in categories]
    return _matrix(columns) if columns else np.full((len(scores), 1), np.nan)


def _mean(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.add.reduce(np.array(defined, dtype=float)) / len(defined)) if defined else None
