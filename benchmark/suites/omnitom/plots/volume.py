"""Predicted rows a story against precision, recall and F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.domain.drawn import Metric, drawn
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.scatter import Point, numbered_scatter
from benchmark.domain.plots.values import BANDS, Percent, barred, bounds_of, percent, worst_to_best
from core.messages import gettext_noop, listed

NO_VOLUME = "No model has predicted a row."
UNBOUNDED = " (rows a story have none: an answer that nobody can read may hold any number)"
PANELS = {"precision": (gettext_noop("Precision"), "^"), "recall": (gettext_noop("Recall"), "s"), "f1": ("F1", "o")}


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeRow:
    """How many rows a story a model predicted, and what share of them, and of the gold rows, is right."""

    model: str
    predicted_per_story: Metric
    precision: Metric = None
    recall: Metric = None
    f1: Metric = None

    @property
    def shares(self) -> dict[str, Metric]:
        """The figures by panel."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@plot
def volume(look: Look, rows: Sequence[VolumeRow], *, parse: str) -> Drawing:
    """Predicted rows a story (logarithmic) against precision, recall and F1: the paper's figure 8.

    Models are numbered, with a key below. One without a predicted row is left out. A share's bounds are drawn as a band
    where they differ; rows a story have none: an answer that nobody can read may hold any number of them.
    """
    title = f"Predicted rows a story against precision, recall and F1, {parse} parse"
    points = [_drawn(row, across) for row in rows if (across := _rows_a_story(row.predicted_per_story))]
    none = [row.model for row in rows if not _rows_a_story(row.predicted_per_story)]
    if not points:
        return Drawing(title, NO_VOLUME)
    metrics = [metric for point in points for metric in (point.across, *point.shares.values())]
    banded = any(ends for point in points for ends in point.bounds.values())
    unit = (
        f"Predicted rows a story (logarithmic axis), {parse} "
        f"reading{barred(metrics)}{(BANDS + UNBOUNDED) if banded else ''}"
    )
    without = f"without a predicted row: {', '.join(none)}" if none else ""
    canvas = numbered_scatter(points, PANELS, unit=look.noted(unit, without), look=look)
    lines = [
        f"{at}. {point.model}: {point.across.text()} rows a story"
        + "".join(
            ", " + listed([f"{name.lower()} {metric.text()}", worst_to_best(point.bounds[key])])
            for key, (name, _) in PANELS.items()
            if (metric := point.shares[key])
        )
        for at, point in enumerate(points, 1)
    ]
    return Drawing(title, canvas, lines)


def _drawn(row: VolumeRow, across: Percent) -> Point:
    shares = {name: percent(share) for name, share in row.shares.items()}
    return Point(row.model, across, shares, {name: bounds_of(share) for name, share in row.shares.items()})


def _rows_a_story(metric: Metric) -> Percent | None:
    """A number of rows, which is not a share; None for nought, which a logarithmic axis does not have."""
    estimate = drawn(metric)
    if estimate is None or not estimate.value:
        return None
    ends = estimate.interval
    return Percent(estimate.value, (ends[0], ends[1]) if ends else None, estimate.reason or "")
