"""Dot plots with intervals: one row a model, one or more marks a row, one or more panels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.domain.drawn import Reference
from benchmark.domain.plots.drawing import Look
from benchmark.domain.plots.text import EDGE, GAP, SMALL, Style, Theme, fitted, text_width
from benchmark.domain.plots.values import BANDS, BEYOND, Percent, barred, limits, percent, value_line
from core.messages import clauses, labelled

if TYPE_CHECKING:  # matplotlib takes a second to load
    from matplotlib.axes import Axes

    from benchmark.domain.plots.canvas import Canvas

LEGEND, HEADING, TICKS = 15.0, 13.0, 17.0
SMALL_MARKS = 80.0
"""A panel of less width has smaller marks, so that intervals show beside them."""
NARROWEST = 40.0
"""A panel of less width is put on the next line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One mark of every row; `colour` names one of the theme."""

    key: str
    label: str
    marker: str = "o"
    colour: str = "chart"
    filled: bool = True

    @classmethod
    def hollow(cls, key: str, label: str) -> Series:
        """The mark of what another is compared with."""
        return cls(key=key, label=label, marker="D", colour="second", filled=False)

    def style(self, theme: Theme, share: float = 1.0) -> Style:
        colour = getattr(theme, self.colour)
        size = {"o": 4.6, "s": 4.2, "D": 4.0, "^": 5.0}[self.marker]
        return {
            "marker": self.marker,
            "markersize": size * share,
            "markerfacecolor": colour if self.filled else theme.surface,
            "markeredgecolor": colour,
            "markeredgewidth": 1.0,
        }


METRIC = "metric"
"""The series of a panel that has one."""


@dataclass(frozen=True, slots=True)
class Panel:
    """`rows` has the metrics of each row by series, `bounds` where each row's metric can be, in per cent, None where
    that is known. At `level` stands a dashed line; `entered` is the key of the metric that entered rows have there."""

    title: str
    rows: Sequence[Mapping[str, Percent | None]]
    bounds: Sequence[tuple[float, float] | None] = ()
    level: float | None = None
    entered: str = ""

    @classmethod
    def of(cls, title: str, metrics: Sequence[Percent | None], *more: Any, **named: Any) -> Panel:
        """A panel of one series, `METRIC`."""
        return cls(title, [{METRIC: metric} for metric in metrics], *more, **named)

    def describe(self, name: str, models: Sequence[str], references: Sequence[Reference] = ()) -> str:
        """A line of a description, for a panel of one series that is called `name`."""
        metrics = [row[METRIC] for row in self.rows] + [percent(row.values.get(self.entered)) for row in references]
        return value_line(name, [*models, *(row.model for row in references)], metrics, self.bounds)


@dataclass(frozen=True, slots=True)
class Aside:
    """A column of text on the right of the panels."""

    title: str
    texts: Sequence[str]
    align: str = "right"

    @classmethod
    def of(cls, title: str, metrics: Iterable[Percent | None]) -> Aside:
        """A column of figures."""
        return cls(title, [f"{metric.value:.1f}" if metric else "–" for metric in metrics])

    @property
    def width(self) -> float:
        return text_width([self.title, *self.texts]) + GAP


def dot_plot(
    models: Sequence[str],
    panels: Sequence[Panel],
    series: Sequence[Series],
    *,
    unit: str,
    look: Look,
    note: str = "",
    asides: Sequence[Aside] = (),
    references: Sequence[Reference] = (),
    rule: float | None = None,
    least: float = NARROWEST,
    within: Sequence[str] = (),
) -> Canvas:
    """The drawn canvas; panels share one axis in per cent, so that they can be compared, and are at least so wide.
    Where each model has rows `within`, in bold above them stands its name, for which panels have an empty row.
    `rule` is where a line stands in each. `references` stand below the models, with a mark of their own. The caption is
    `unit`, what lines and bands are, where `references` come from, `note` and that of the look."""
    models, panels, series = _with_references(models, panels, series, references)
    parts, width = look.labels(within), look.points
    labels = [label for model in look.labels(models) for label in (model, *parts)]
    ends = [Percent(end) for panel in panels for bounds in panel.bounds if bounds for end in bounds]
    metrics = [metric for panel in panels for row in panel.rows for metric in row.values()]
    left = EDGE + text_width(labels, weight="bold" if parts else "normal") + GAP
    beside = sum(aside.width for aside in asides)
    room = width - left - EDGE - beside
    across = max(1, min(len(panels), int((room + GAP) // (least + GAP))))
    across = -(-len(panels) // -(-len(panels) // across))  # lines of even length
    lines = [panels[at : at + across] for at in range(0, len(panels), across)]
    row = 14.0 if len(_computed(series)) < 3 else 18.0
    legend = LEGEND if len(series) > 1 else 0.0
    start = left if left + legend_width(series) < width - beside else EDGE
    together = legend and start + legend_width(series) < width - beside
    heading = HEADING if any(panel.title for panel in panels) or (asides and not together) else 0.0
    caption = f"{unit}{barred(metrics, over=look.frame.over)}{BANDS if ends else ''}"
    block = heading + row * len(labels) + TICKS
    caption = look.noted(caption, sources_text(references), note)
    canvas = look.captioned(EDGE + legend + block * len(lines), caption, middle=left + room / 2)
    if legend:
        draw_legend(canvas, series, start, EDGE + legend / 2 - 2)
    levels = [Percent(level) for level in (rule, *(panel.level for panel in panels)) if level is not None]
    span = limits([*ends, *metrics, *levels])
    each = (room - GAP * (across - 1)) / across
    for at, line in enumerate(lines):
        top = EDGE + legend + block * at
        _line(
            canvas, labels, line, series, span=span, left=left, top=top, each=each, row=row, heading=heading, rule=rule,
            bold=1 + len(parts) if parts else 0,
        )  # fmt: skip
    heads = EDGE + legend / 2 - 2 if together else EDGE + legend + heading / 2 - 1
    _asides(canvas, asides, heads=heads, top=EDGE + legend + heading, row=row)
    return canvas


REFERENCE = "reference"


def _with_references(
    models: Sequence[str], panels: Sequence[Panel], series: Sequence[Series], references: Sequence[Reference]
) -> tuple[Sequence[str], Sequence[Panel], Sequence[Series]]:
    """Return models, panels and series with a row for each entered one below, and a mark for these, where there are
    any."""
    if not references:
        return models, panels, series
    below = [
        replace(panel, rows=[*panel.rows, *({REFERENCE: percent(row.values.get(panel.entered))} for row in references)])
        for panel in panels
    ]
    mark = Series(key=REFERENCE, label="Entered", marker="^", colour="ink", filled=False)
    return [*models, *(row.model for row in references)], below, [*series, mark]


def _computed(series: Sequence[Series]) -> list[Series]:
    """Return the marks that share the rows of models; those of entered rows have rows of their own."""
    return [entry for entry in series if entry.key != REFERENCE]


def sources_text(references: Sequence[Reference]) -> str:
    """Return the part of a caption that says where entered rows come from."""
    sources = clauses(*(labelled(row.model, row.source) for row in references))
    return f"entered, not computed here: {sources}" if sources else ""


def legend_width(series: Sequence[Series]) -> float:
    return sum(21 + text_width([entry.label], SMALL) for entry in series)


def draw_legend(canvas: Canvas, series: Sequence[Series], left: float, top: float) -> None:
    for entry in series:
        canvas.mark(left + 3, top, **entry.style(canvas.theme))
        canvas.text(left + 9, top, entry.label, size=SMALL, colour=canvas.theme.soft)
        left += 9 + text_width([entry.label], SMALL) + 12


def _line(
    canvas: Canvas,
    labels: Sequence[str],
    panels: Sequence[Panel],
    series: Sequence[Series],
    *,
    span: tuple[float, float],
    left: float,
    top: float,
    each: float,
    row: float,
    heading: float,
    rule: float | None = None,
    bold: int = 0,
) -> None:
    """One line of panels, with the rows' labels on its left, every so many of them in bold."""
    below = top + heading
    for at, label in enumerate(labels):
        weight = "bold" if bold and at % bold == 0 else "normal"
        canvas.text(left - GAP, below + row * (at + 0.5), label, ha="right", weight=weight)
    for at, panel in enumerate(panels):
        start = left + at * (each + GAP)
        canvas.text(start, top + heading / 2 - 1, fitted(panel.title, each, weight="bold"), weight="bold")
        axes = canvas.axes(start, below, each, row * len(labels))
        _draw(axes, panel, series, canvas.theme, row, small=each < SMALL_MARKS)
        if rule is not None:
            axes.axvline(rule, color=canvas.theme.line_strong, linewidth=0.9, zorder=1.2)
        scale(axes, span, each)


def scale(axes: Axes, span: tuple[float, float], width: float) -> None:
    """Limits, and as many round ticks as the width has room for; labels stay clear of those of the next panel."""
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(*span)
    ticks = MaxNLocator(nbins=max(2, int(width // 34)), steps=[1, 2, 5, 10]).tick_values(*span)
    ends = (max(span[0], 0.0) if span[0] >= -BEYOND else span[0], min(span[1], 100.0))
    tick_labels = {tick: f"{tick:g}".replace("-", "−") for tick in ticks if ends[0] <= tick <= ends[1]}
    axes.set_xticks(list(tick_labels), list(tick_labels.values()))
    for tick, label in zip(tick_labels, axes.get_xticklabels(), strict=True):
        place, half = (tick - span[0]) / (span[1] - span[0]) * width, text_width([tick_labels[tick]], SMALL) / 2
        over = place + half > width + GAP / 2 - 1, place - half < 1 - GAP / 2
        label.set_horizontalalignment("right" if over[0] else "left" if over[1] else "center")


def _draw(axes: Axes, panel: Panel, series: Sequence[Series], theme: Theme, row: float, *, small: bool) -> None:
    middles = np.arange(len(panel.rows)) + 0.5
    axes.set_ylim(len(panel.rows), 0)
    ruled = [middle for middle, metrics in zip(middles, panel.rows, strict=True) if metrics]
    axes.hlines(ruled, 0, 1, transform=axes.get_yaxis_transform(), color=theme.line, linewidth=0.6, zorder=1)
    if panel.level is not None:
        axes.axvline(panel.level, color=theme.line_strong, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1.7)
    bands = [(y, *bounds) for y, bounds in zip(middles, panel.bounds, strict=False) if bounds]
    if bands:
        axes.hlines(*np.transpose(bands), color=theme.line, linewidth=0.55 * row, zorder=1.5)
    beside = _computed(series)
    for at, entry in enumerate([*beside, *(mark for mark in series if mark not in beside)]):
        middle = (len(beside) - 1) / 2
        shift = (at - middle) * (4.6 if len(beside) > 2 else 4.0) / row if entry in beside else 0.0
        rows = zip(middles, panel.rows, strict=True)
        points = [(y + shift, metric) for y, row in rows if (metric := row.get(entry.key))]
        ends = [(y, *metric.interval) for y, metric in points if metric.interval]
        colour = getattr(theme, entry.colour)
        if ends:
            axes.hlines(*np.transpose(ends), color=colour, linewidth=1.3, zorder=2)
        axes.plot(
            [metric.value for _, metric in points],
            [y for y, _ in points],
            linestyle="none",
            zorder=3,
            clip_on=False,
            **entry.style(theme, 0.7 if small else 1.0),
        )


def _asides(canvas: Canvas, asides: Sequence[Aside], *, heads: float, top: float, row: float) -> None:
    right = canvas.width - EDGE
    for aside in reversed(asides):
        at = right if aside.align == "right" else right - aside.width + GAP
        canvas.text(at, heads, aside.title, size=SMALL, colour=canvas.theme.soft, ha=aside.align)
        for line, text in enumerate(aside.texts):
            canvas.text(at, top + row * (line + 0.5), text, ha=aside.align)
        right -= aside.width
