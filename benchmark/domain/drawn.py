"""Rows that pictures show, apart from what draws them, which takes a second to load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from benchmark.domain.tables import Cell
from core.estimated import Estimated


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A row that a user enters from a `source`: its name, its kind (human or published), and per cent as the source
    prints them, points of a difference, as texts by the key of a suite's metric."""

    name: str
    kind: str
    source: str
    metrics: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reference:
    """A row of a paper in one picture: fractions by the key of their column in the table beside it."""

    model: str
    source: str
    values: Mapping[str, float]


MEDIA_TYPES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
"""The forms of a file of a picture."""
Metric = float | str | Estimated | Cell | None
"""A fraction, or its text as official scoring writes it, alone or with its interval: an estimate, or the figure of a
report's row."""


class Drawn(NamedTuple):
    """A number with its interval, None where there is none, and why one of them is None."""

    value: float | None
    interval: Sequence[float] | None = None
    reason: str | None = None


def drawn(metric: Metric) -> Drawn | None:
    """Return what is drawn of a metric; None where there is none."""
    if metric is None or isinstance(metric, (str, int, float)):
        return None if metric in (None, "") else Drawn(float(metric))
    if not isinstance(metric, Cell):
        return Drawn(metric.value, metric.interval, metric.reason)
    value = metric.value
    return Drawn(None if value is None or value == "" else float(value), metric.interval, metric.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """The lead of one model over another, as a fraction, and whether that is significant."""

    value: float
    significant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRow:
    """A model in a ranking: its figure in both parses, and without the judge's error where that is known, the `group`
    letters, the `ranks` that it may have, the share that is `left_out`, and where its figure can be, None where nothing
    is missing."""

    model: str
    official: Cell | None = None
    repaired: Cell | None = None
    corrected: Estimated | None = None
    group: str | None = None
    ranks: Sequence[int] | None = None
    left_out: float | None = None
    bounds: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model's figures by part, such as category, dimension or kind, and over all."""

    model: str
    values: Mapping[str, Metric]
    overall: Metric = None


@dataclass(frozen=True, slots=True)
class Frame:
    """The frame of a picture. `over` is what its intervals are over, `note` the end of its caption: whom it lacks, what
    has no bounds. `references` are rows of papers that stand in it where it has room for them. `format`, `theme` and
    `width` are those that it is asked for; a KeyError where one is drawn in others."""

    over: str = "stories"
    note: str = ""
    references: Sequence[Reference] = ()
    format: str = "svg"
    theme: str = "light"
    width: str = "page"


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot with its data before it is drawn, which `render` does: what draws is only then loaded. `name` and `data`
    tell it from others, and from itself of other data."""

    name: str
    data: tuple[Sequence[object], Mapping[str, object]]
    render: Callable[[Frame], bytes]
    frame: Frame = field(default_factory=Frame)

    def about(self, *, over: str = "stories", note: str = "") -> Plot:
        """The plot with what only its data know of its frame."""
        return replace(self, frame=replace(self.frame, over=over, note=note))

    def beside(self, references: Sequence[Reference]) -> Plot:
        """The plot with rows of papers."""
        return replace(self, frame=replace(self.frame, references=tuple(references)))

    def draw(self, *, format: str = "svg", theme: str = "light", width: str = "page") -> bytes:
        """Return the same bytes for the same data and frame."""
        return self.render(replace(self.frame, format=format, theme=theme, width=width))
