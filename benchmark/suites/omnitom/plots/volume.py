"""Predicted rows a story against precision, recall and F1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from benchmark.domain.plots.canvas import LINE, Canvas
from benchmark.domain.plots.dots import EDGE, GAP
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.names import labels
from benchmark.domain.plots.text_size import text_width, wrapped
from benchmark.domain.plots.theme import SMALL, families
from benchmark.domain.plots.values import (
    BANDS,
    Metric,
    Percent,
    barred,
    bounds_of,
    ended,
    limits,
    percent,
    worst_to_best,
)
from benchmark.suites.omnitom.plots.label_placement import LabelPlacer
from core.statistics import Floats

NO_VOLUME = "No model has predicted a row."
UNBOUNDED = " (rows a story have none: an answer that nobody can read may hold any number)"
_NUMBER, _BAND = 16.0, 7.0
_AWAY = 11.0
"""Points between a mark and its number beyond which a line joins them."""
PANELS = {"precision": ("Precision", "^"), "recall": ("Recall", "s"), "f1": ("F1", "o")}


Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A model's place: its rows a story, and by panel its share and where that can be."""

    model: str
    rows: Percent
    shares: Mapping[str, Percent | None]
    bounds: Mapping[str, Bounds | None]


@plot
def volume(
    rows: Sequence[Mapping[str, Any]],
    *,
    reading: str,
    note: str = "",
    look: Look,
) -> Drawing:
    """Predicted rows a story (logarithmic) against precision, recall and F1: the paper's figure 8.

    A row is {"model", "predicted_per_story", "precision", "recall", "f1"}, figures; models are numbered, with a key below. One
    without a predicted row is left out. A share's "bounds" are drawn as a band where they differ; rows a story have none: an answer that nobody
    can read may hold any number of them.
    """
    title = f"Predicted rows a story against precision, recall and F1, {reading} reading"
    drawn = [_drawn(row, across) for row in rows if (across := _rows_a_story(row["predicted_per_story"]))]
    none = [row["model"] for row in rows if not _rows_a_story(row["predicted_per_story"])]
    if not drawn:
        return Drawing(title, NO_VOLUME)
    figures = [figure for row in drawn for figure in (row.rows, *row.shares.values())]
    banded = any(ends for row in drawn for ends in row.bounds.values())
    unit = f"Predicted rows a story (logarithmic axis), {reading} reading{barred(figures)}{(BANDS + UNBOUNDED) if banded else ''}"
    unit += ended(f"without a predicted row: {', '.join(none)}" if none else "") + ended(note)
    canvas = _volume(drawn, unit, look)
    lines = [
        f"{at}. {row.model}: {row.rows.text()} rows a story"
        + "".join(
            f", {name.lower()} {figure.text()}{worst_to_best(row.bounds[key])}"
            for key, (name, _) in PANELS.items()
            if (figure := row.shares[key])
        )
        for at, row in enumerate(drawn, 1)
    ]
    return Drawing(title, canvas, lines)


def _drawn(row: Mapping[str, Any], across: Percent) -> _Drawn:
    shares = {name: percent(row.get(name)) for name in PANELS}
    return _Drawn(row["model"], across, shares, {name: bounds_of(row.get(name)) for name in PANELS})


def _rows_a_story(figure: Metric) -> Percent | None:
    """A number of rows, which is no share; None for nought, which a logarithmic axis does not have."""
    estimate: Mapping[str, Any] = figure if isinstance(figure, Mapping) else {"value": figure}
    value, ends = estimate.get("value"), estimate.get("interval")
    if not value:
        return None
    return Percent(float(value), (ends[0], ends[1]) if ends else None, estimate.get("reason") or "")


def _volume(rows: Sequence[_Drawn], unit: str, look: Look) -> Canvas:
    width = look.points
    key = labels(row.model for row in rows)
    columns = max(1, int((width - 2 * EDGE) // (_NUMBER + text_width(key, SMALL) + GAP)))
    lines = -(-len(key) // columns)
    across = 1 if look.narrow else len(PANELS)
    left, tall = EDGE + 20.0, 120.0
    each = (width - left - EDGE - 2.5 * GAP * (across - 1)) / across
    block = 14 + tall + 17
    deep = -(-len(PANELS) // across)
    caption = wrapped(unit, width - 2 * EDGE)
    canvas = look.canvas(EDGE + block * deep + LINE * len(caption) + 8 + 11 * lines)
    figures = {name: [row.shares[name] for row in rows] for name in PANELS}
    bounds = {name: [row.bounds[name] for row in rows] for name in PANELS}
    ends = [Percent(end) for column in bounds.values() for bound in column if bound for end in bound]
    span = limits([*ends, *(figure for column in figures.values() for figure in column)])
    x: Floats = np.array([row.rows.value for row in rows])
    for at, (name, (heading, marker)) in enumerate(PANELS.items()):
        start, top = left + (at % across) * (each + 2.5 * GAP), EDGE + (at // across) * block
        canvas.text(start, top + 6, f"{heading} (%)", weight="bold")
        axes = canvas.axes(start, top + 14, each, tall)
        _upright(axes, span, labelled=at % across == 0)
        _logarithmic(axes, x)
        _bands(axes, x, bounds[name], canvas.theme.line)
        _bars(axes, [row.rows for row in rows], figures[name], canvas.theme.chart)
        _numbered(axes, x, figures[name], marker, canvas, (each, tall))
    canvas.caption(left + (width - left - EDGE) / 2, EDGE + block * deep + 3, caption)
    for at, text in enumerate(key):
        place = EDGE + (at // lines) * (width - 2 * EDGE) / columns
        height = EDGE + block * deep + LINE * len(caption) + 12 + 11 * (at % lines)
        canvas.text(place + _NUMBER - 5, height, str(at + 1), size=SMALL, colour=canvas.theme.soft, ha="right")
        canvas.text(place + _NUMBER, height, text, size=SMALL)
    return canvas


def _bands(axes: Axes, x: Floats, bounds: Sequence[Bounds | None], colour: str) -> None:
    for across, ends in zip(x, bounds, strict=True):
        if ends:
            axes.vlines(across, *ends, color=colour, linewidth=_BAND, zorder=0.5)


def _bars(axes: Axes, x: Sequence[Percent], y: Sequence[Percent | None], colour: str) -> None:
    """Intervals across and upright."""
    points = [(across, up) for across, up in zip(x, y, strict=True) if up]
    for across, up in points:
        how: dict[str, Any] = {"color": colour, "linewidth": 0.8, "alpha": 0.6, "zorder": 1}
        if across.interval:
            axes.hlines(up.value, *across.interval, **how)
        if up.interval:
            axes.vlines(across.value, *up.interval, **how)


def _upright(axes: Axes, span: tuple[float, float], *, labelled: bool) -> None:
    axes.set_ylim(*span)
    ticks = [tick for tick in range(0, 101, 10 if span[1] - span[0] < 70 else 20) if span[0] <= tick <= span[1]]
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.tick_params(axis="y", left=False, labelleft=labelled)


def _logarithmic(axes: Axes, x: Floats) -> None:
    axes.set_xscale("log")
    low, high = x.min() / 1.25, x.max() * 1.25
    axes.set_xlim(low, high)
    steps = (
        (1, 2, 5) if high > 8 * low else (1, 2, 3, 5, 7) if high > 3 * low else (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8)
    )
    ticks = [step * 10.0**power for power in range(-2, 5) for step in steps if low <= step * 10.0**power <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())


def _numbered(
    axes: Axes, x: Floats, figures: Sequence[Percent | None], marker: str, canvas: Canvas, size: tuple[float, float]
) -> None:
    """Marks with the model's number where there is room for it, by the mark."""
    theme = canvas.theme
    for tick in axes.get_yticks():
        axes.axhline(tick, color=theme.line, linewidth=0.6, zorder=0)
    positions = [(at, value.value) for at, value in enumerate(figures) if value]
    axes.plot(
        [x[at] for at, _ in positions],
        [y for _, y in positions],
        linestyle="none",
        marker=marker,
        markersize=4,
        color=theme.chart,
        clip_on=False,
    )
    low, high = np.log(axes.get_xlim())
    bottom, top = axes.get_ylim()
    points = [
        ((np.log(x[at]) - low) / (high - low) * size[0], (y - bottom) / (top - bottom) * size[1]) for at, y in positions
    ]
    placer = LabelPlacer(points, size)
    for (at, _), point in zip(positions, points, strict=True):
        text = str(at + 1)
        left, height = placer.place(point, text_width([text], SMALL), SMALL)
        place = (left / size[0], height / size[1])
        if np.hypot(left - point[0], height - point[1]) > _AWAY:  # a line says whose number it is
            ends = ((point[0] / size[0], place[0]), (point[1] / size[1], place[1]))
            axes.plot(
                *ends, transform=axes.transAxes, color=theme.line_strong, linewidth=0.5, clip_on=False, zorder=0.8
            )
        axes.text(
            *place,
            text,
            transform=axes.transAxes,
            size=SMALL,
            color=theme.ink,
            ha="center",
            va="center",
            family=families(),
        )
