"""Bars: of several series in a panel a part, and of several counts stacked in one row a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmark.domain.plots.dots import Series, draw_legend, scale
from benchmark.domain.plots.drawing import Look
from benchmark.domain.plots.text import EDGE, GAP, SMALL, text_width

if TYPE_CHECKING:  # matplotlib takes a second to load
    from benchmark.domain.plots.canvas import Canvas

_ROW, _TITLE, _LEGEND = 13.0, 14.0, 15.0


class Bar(NamedTuple):
    """A share, from 0 to 1, and the ends of its interval."""

    share: float
    interval: Sequence[float] | None = None


Part = Mapping[str, Sequence[Bar]]
"""A bar of each series by label."""


def bars_by_part(parts: Mapping[str, Part], series: Sequence[Series], *, unit: str, look: Look) -> Canvas:
    """Return the drawn canvas: a panel for each part with its own labels, in two columns where there is room, all on
    one scale; beside each row its shares in per cent."""
    columns = 1 if look.narrow else 2
    each = (look.points - 2 * EDGE - 3 * GAP * (columns - 1)) / columns
    heights = [EDGE + _LEGEND] * columns
    places = []
    for title, part in parts.items():
        at = heights.index(min(heights))
        places.append((title, part, EDGE + at * (each + 3 * GAP), heights[at]))
        heights[at] += _TITLE + _ROW * len(part) + 8
    canvas = look.captioned(max(heights), unit, drop=4)
    draw_legend(canvas, series, EDGE, EDGE + 5)
    names = text_width([label for part in parts.values() for label in part]) + GAP
    bars = [bar for part in parts.values() for row in part.values() for bar in row]
    most = max(max(bar.share, *(bar.interval or ())) if bar.interval else bar.share for bar in bars)
    for title, part, left, top in places:
        canvas.text(left, top + 6, title, weight="bold")
        _panel(canvas, part, series, left=left, top=top + _TITLE, names=names, each=each, most=most)
    return canvas


def _panel(
    canvas: Canvas,
    part: Part,
    series: Sequence[Series],
    *,
    left: float,
    top: float,
    names: float,
    each: float,
    most: float,
) -> None:
    number = text_width(["100.0  100.0"], SMALL) / 2
    axes = canvas.axes(left + names, top, each - names - 2 * number - 4, _ROW * len(part), frame=False)
    axes.set_xlim(0, most)
    axes.set_ylim(len(part), 0)
    for at, entry in enumerate(series):
        middles = np.arange(len(part)) + 0.5 + 0.38 * (at - (len(series) - 1) / 2)
        bars = [row[at] for row in part.values()]
        axes.barh(middles, [bar.share for bar in bars], height=0.34, color=getattr(canvas.theme, entry.colour))
        if ends := [(y, *bar.interval) for y, bar in zip(middles, bars, strict=True) if bar.interval]:
            axes.hlines(*np.transpose(ends), color=canvas.theme.ink, linewidth=0.8)
    axes.axvline(0, color=canvas.theme.line_strong, linewidth=0.7)
    for line, (label, row) in enumerate(part.items()):
        y = top + _ROW * (line + 0.5)
        canvas.text(left + names - GAP + 3, y, label, ha="right")
        for at, bar in enumerate(reversed(row)):
            right = left + each - at * (number + 3)
            canvas.text(right, y, f"{100 * bar.share:.1f}", size=SMALL, colour=canvas.theme.soft, ha="right")


def stacked_bars(
    rows: Mapping[str, Mapping[str, int]], *, unit: str, look: Look, named: Callable[[str], str] = str
) -> Canvas:
    """Return the drawn canvas: one row a model, its counts by name as shares of their sum, and the sum. `named` is what
    the legend calls a count."""
    names = list(dict.fromkeys(name for counts in rows.values() for name in counts))
    models, totals = look.labels(rows), [f"{sum(counts.values()):,}" for counts in rows.values()]
    left, beside = EDGE + text_width(models) + GAP, text_width([*totals, "Rows"]) + GAP
    wide, tall, top = look.points - left - EDGE - beside, 14 * len(models), EDGE + _LEGEND
    canvas = look.captioned(top + tall + 17, unit, middle=left + (look.points - left - beside) / 2)
    counted = np.array([[counts.get(name, 0) for name in names] for counts in rows.values()])
    shares = 100 * counted / np.maximum(1, counted.sum(axis=1, keepdims=True))
    axes = canvas.axes(left, top, wide, tall)
    axes.set_ylim(len(models), 0)
    tints = np.linspace(0.42, 1, max(1, len(names) - 1))
    colours = [canvas.theme.line, *(canvas.theme.tint(float(share)) for share in tints)]  # of nothing first
    at, starts = EDGE, np.cumsum(shares, axis=1) - shares
    for column, (name, colour) in enumerate(zip(names, colours, strict=False)):
        axes.barh(
            np.arange(len(models)) + 0.5, shares[:, column], left=starts[:, column], height=0.72, color=colour,
            edgecolor=canvas.theme.surface, linewidth=0.5,
        )  # fmt: skip
        canvas.box(at, EDGE + 2, 8, 7, colour, edgecolor=canvas.theme.line_strong, linewidth=0.5)
        canvas.text(at + 11, EDGE + 5.5, named(name), size=SMALL, colour=canvas.theme.soft)
        at += 21 + text_width([named(name)], SMALL)
    scale(axes, (0, 100), wide)
    canvas.text(look.points - EDGE, EDGE + 5.5, "Rows", size=SMALL, colour=canvas.theme.soft, ha="right")
    for line, (model, total) in enumerate(zip(models, totals, strict=True)):
        canvas.text(left - GAP, top + 14 * (line + 0.5), model, ha="right")
        canvas.text(look.points - EDGE, top + 14 * (line + 0.5), total, ha="right")
    return canvas
