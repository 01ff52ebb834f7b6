"""Geometry of control charts: repeats across in their order, their values up, and a line that all are held against.

Places are per cent of the plot's width and height, as in the other charts (`core.views.charts`); a page lays labels out
beside it (`components/control_chart.html`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from core.views.charts import Axis

MOST_LABELS = 14
"""Labels below the points, so that none touches the next on a narrow screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A repeat's value, and the limits that an unchanged one keeps; `out` is beyond them."""

    label: str
    value: float
    limits: tuple[float, float] | None = None
    alarms: bool = False
    out: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """Position of a value down the plot, and its label."""

    y: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A repeat as it is drawn; without a label where there are too many."""

    x: float
    y: float
    label: str
    limits: tuple[float, float] | None
    alarms: bool
    out: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlChart:
    """The chart that `components/control_chart.html` draws: a line through its points, and the `line` that they are
    held against; its label names a limit, and is empty where the line is none."""

    key: str
    title: str
    caption: str
    points: Sequence[Point]
    ticks: Sequence[Level]
    line: Level

    @property
    def path(self) -> str:
        return " ".join(f"{point.x},{point.y}" for point in self.points)


def control_chart(
    key: str,
    repeats: Sequence[Repeat],
    axis: Axis,
    *,
    title: str,
    caption: str,
    line: tuple[float, str],
    ticks: Sequence[tuple[float, str]] = (),
) -> ControlChart:
    """Lay out a control chart; `line` and `ticks` are values on the axis with their labels."""
    across, every = Axis(0, len(repeats)), ceil(len(repeats) / MOST_LABELS)
    points = [
        Point(
            x=across.place(at + 0.5),
            y=axis.place_down(repeat.value),
            label="" if (len(repeats) - 1 - at) % every else repeat.label,
            limits=_placed(repeat.limits, axis),
            alarms=repeat.alarms,
            out=repeat.out,
        )
        for at, repeat in enumerate(repeats)
    ]
    levels = [Level(axis.place_down(value), label) for value, label in (*ticks, line)]
    return ControlChart(key=key, title=title, caption=caption, points=points, ticks=levels[:-1], line=levels[-1])


def _placed(limits: tuple[float, float] | None, axis: Axis) -> tuple[float, float] | None:
    return limits and (axis.place_down(limits[0]), axis.place_down(limits[1]))
