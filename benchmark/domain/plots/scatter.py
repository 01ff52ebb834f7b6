"""Points on a logarithmic axis, one panel a figure, each with the number of its model beside it and a key of the
numbers below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmark.domain.plots.drawing import Look
from benchmark.domain.plots.text import EDGE, GAP, SMALL, Style, families, labels, text_width
from benchmark.domain.plots.values import Percent, limits
from core.messages import noted

if TYPE_CHECKING:  # matplotlib takes a second to load
    from matplotlib.axes import Axes

    from benchmark.domain.plots.canvas import Canvas

_NUMBER, _BAND, _TALL, _LINE = 16.0, 7.0, 120.0, 11.0
_MARK, _AWAY = 3.0, 11.0
"""Points between a mark and its number beyond which a line joins them."""


class Point(NamedTuple):
    """A model: where it stands across, and by panel its share and where that can be."""

    model: str
    across: Percent
    shares: Mapping[str, Percent | None]
    bounds: Mapping[str, tuple[float, float] | None]


def numbered_scatter(
    points: Sequence[Point], panels: Mapping[str, tuple[str, str]], *, unit: str, look: Look
) -> Canvas:
    """Return the drawn canvas; `panels` are {key: (title, marker)}, and share one axis in per cent."""
    key = labels(point.model for point in points)
    columns = max(1, int((look.points - 2 * EDGE) // (_NUMBER + text_width(key, SMALL) + GAP)))
    lines, across = -(-len(key) // columns), 1 if look.narrow else len(panels)
    left, block = EDGE + 20.0, 14 + _TALL + 17
    each = (look.points - left - EDGE - 2.5 * GAP * (across - 1)) / across
    bottom = EDGE + block * -(-len(panels) // across)
    canvas = look.captioned(
        bottom, unit, middle=left + (look.points - left - EDGE) / 2, drop=3, below=8 + _LINE * lines
    )
    ends = [Percent(end) for point in points for bound in point.bounds.values() if bound for end in bound]
    span = limits([*ends, *(metric for point in points for metric in point.shares.values())])
    for at, (name, (title, marker)) in enumerate(panels.items()):
        start, top = left + (at % across) * (each + 2.5 * GAP), EDGE + (at // across) * block
        canvas.text(start, top + 6, noted(title, "%"), weight="bold")
        axes = canvas.axes(start, top + 14, each, _TALL)
        _upright(axes, span, canvas.theme.line, labelled=at % across == 0)
        _logarithmic(axes, np.array([point.across.value for point in points]))
        _marks(axes, points, name, marker, canvas)
    for at, text in enumerate(key):
        place = EDGE + _NUMBER + (at // lines) * (look.points - 2 * EDGE) / columns
        height = canvas.height - _LINE * lines + 4 + _LINE * (at % lines)
        canvas.text(place - 5, height, str(at + 1), size=SMALL, colour=canvas.theme.soft, ha="right")
        canvas.text(place, height, text, size=SMALL)
    return canvas


def _upright(axes: Axes, span: tuple[float, float], grid: str, *, labelled: bool) -> None:
    axes.set_ylim(*span)
    ticks = [tick for tick in range(0, 101, 10 if span[1] - span[0] < 70 else 20) if span[0] <= tick <= span[1]]
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.tick_params(axis="y", left=False, labelleft=labelled)
    for tick in ticks:
        axes.axhline(tick, color=grid, linewidth=0.6, zorder=0)


def _logarithmic(axes: Axes, x: np.ndarray[Any, Any]) -> None:
    axes.set_xscale("log")
    low, high = x.min() / 1.25, x.max() * 1.25
    axes.set_xlim(low, high)
    steps = (
        (1, 2, 5) if high > 8 * low else (1, 2, 3, 5, 7) if high > 3 * low else (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8)
    )
    ticks = [step * 10.0**power for power in range(-2, 5) for step in steps if low <= step * 10.0**power <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _marks(axes: Axes, points: Sequence[Point], name: str, marker: str, canvas: Canvas) -> None:
    """Marks with intervals both ways and bands, and their numbers where there is room for them."""
    theme, places = canvas.theme, {}
    how: Style = {"color": theme.chart, "linewidth": 0.8, "alpha": 0.6, "zorder": 1}
    for number, (_, across, shares, bounds) in enumerate(points, 1):
        if ends := bounds[name]:
            axes.vlines(across.value, *ends, color=theme.line, linewidth=_BAND, zorder=0.5)
        if metric := shares[name]:
            places[number] = (across.value, metric.value)
            if across.interval:
                axes.hlines(metric.value, *across.interval, **how)
            if metric.interval:
                axes.vlines(across.value, *metric.interval, **how)
    style: Style = {"linestyle": "none", "marker": marker, "markersize": 4, "color": theme.chart}
    axes.plot(*np.reshape(list(places.values()), (-1, 2)).T, clip_on=False, **style)
    _numbers(axes, places, canvas)


def _numbers(axes: Axes, places: Mapping[int, tuple[float, float]], canvas: Canvas) -> None:
    """Write each number beside its mark; where it stands away from it a line leads there."""
    marks = [tuple(axes.transData.transform(place) - axes.bbox.p0) for place in places.values()]
    placer = LabelPlacer(marks, axes.bbox.size)
    line = {"arrowstyle": "-", "color": canvas.theme.line_strong, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
    for (number, place), mark in zip(places.items(), marks, strict=True):
        offset = np.subtract(placer.place(mark, text_width([str(number)], SMALL), SMALL), mark)
        axes.annotate(
            str(number), place, xytext=tuple(offset), textcoords="offset points", size=SMALL, color=canvas.theme.ink,
            ha="center", va="center",
            family=families(), annotation_clip=False, arrowprops=line if np.hypot(*offset) > _AWAY else None,
        )  # fmt: skip


class LabelPlacer:
    """Greedy: the first free place around the mark, near ones first; the least crowded one where none is free."""

    def __init__(self, marks: Sequence[tuple[float, float]], size: tuple[float, float]) -> None:
        self.size = size
        self.taken = [(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in marks]

    def place(self, mark: tuple[float, float], width: float, height: float) -> tuple[float, float]:
        """The middle of the text, in the unit of the marks."""
        sides = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
        around = [
            (mark[0] + right * (_MARK + width / 2 + 1) * step, mark[1] + up * (_MARK + height / 2) * step, step)
            for step, (right, up) in product((1.0, 2.2, 3.6), sides)
        ]
        best = min(around, key=lambda candidate: (self._crowd(candidate, width, height), candidate[2]))
        self.taken.append(_box(best, width, height))
        return best[0], best[1]

    def _crowd(self, place: tuple[float, float, float], width: float, height: float) -> float:
        a, b, c, d = _box(place, width, height)
        outside = a < -6 or b < 0 or c > self.size[0] + 6 or d > self.size[1] + 4
        over = sum(max(0.0, min(c, z) - max(a, x)) * max(0.0, min(d, w) - max(b, y)) for x, y, z, w in self.taken)
        return over + 1000 * outside


def _box(place: Sequence[float], width: float, height: float) -> tuple[float, float, float, float]:
    return place[0] - width / 2, place[1] - height / 2, place[0] + width / 2, place[1] + height / 2
