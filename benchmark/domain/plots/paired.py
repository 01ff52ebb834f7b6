"""Two models by story, as points and as their differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmark.domain.drawn import Metric
from benchmark.domain.plots.dots import scale
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.text import EDGE, GAP, LINE, SMALL, families, labels, wrapped
from benchmark.domain.plots.values import Percent, ended, percent
from core.messages import Sentence, noted, word
from core.statistics import Floats

if TYPE_CHECKING:  # matplotlib takes a second to load
    from matplotlib.axes import Axes

    from benchmark.domain.plots.canvas import Canvas

_SAME = 0.005
"""Points by which two means may differ and be written alike."""


@plot
def two_models(
    look: Look,
    scores: Sequence[tuple[float | None, float | None]],
    *,
    first: str,
    second: str,
    score: str,
    difference: Metric = None,
    noun: Sequence[str] = ("story", "stories"),
) -> Drawing:
    """Two models story by story: their scores against each other, and the differences in falling order. `noun` is what
    a suite calls one story, and several.

    `scores` has (first, second) of each story, as fractions; stories that lack one are left out. `difference` is the
    mean difference with its interval. Where it counts more than is drawn, as missing answers at their worst, the line
    is the mean of the stories that are drawn, and the caption says both.
    """
    title = Sentence(
        "{score} by {noun}: {first} and {second}", score=word(score), noun=word(noun[0]), first=first, second=second
    )
    pairs = [(a, b) for a, b in scores if a is not None and b is not None and np.isfinite((a, b)).all()]
    both: Floats = np.array(pairs, dtype=float) * 100
    if not len(both):
        return Drawing(title, f"No {noun[0]} has a score of both models.")
    names = labels([first, second], 60.0 if look.narrow else 78.0)
    gaps = np.sort(both[:, 0] - both[:, 1])[::-1]
    mean, whole = _mean_drawn(gaps, percent(difference), len(scores) - len(gaps), noun[1])
    better, worse = int((gaps > 0).sum()), int((gaps < 0).sum())
    counts = (
        f"{names[0]} higher: {better}", f"equal: {len(gaps) - better - worse}", f"{names[1]} higher: {worse}", *whole,
    )  # fmt: skip
    caption = f"{noun[1].capitalize()} by difference (points). {'; '.join(counts)}"
    average = f"Mean difference {mean.text()} points. " if mean else ""
    description = (
        f"{len(gaps)} {noun[len(gaps) != 1]}. {average}{first} is higher on {better}, {second} "
        f"on {worse}, they are equal on the rest.{ended(*whole) if whole else ''}"
    )
    return Drawing(title, _two(both, gaps, names, caption, score, mean, look), description)


def _mean_drawn(gaps: Floats, estimate: Percent | None, lacking: int, nouns: str) -> tuple[Percent | None, list[str]]:
    """Return the mean of what is drawn, and the whole difference in words if it counts more than that."""
    mean = float(gaps.mean())
    if estimate is None or abs(mean - estimate.value) < _SAME:
        return estimate, []
    stories = f" ({lacking} of {lacking + len(gaps)} {nouns} have no score of both)" if lacking else ""
    return Percent(mean), [f"with missing answers at their worst the mean is {estimate.text()}{stories}"]


def _two(
    scores: Floats, gaps: Floats, names: Sequence[str], caption: str, score: str, mean: Percent | None, look: Look
) -> Canvas:
    side_by_side, width = not look.narrow, look.points
    left, side = EDGE + 28.0, 165.0
    start = left + side + 5 * GAP if side_by_side else left
    wide = width - start - EDGE
    why = f". No band around the mean: {mean.reason}" if mean and mean.reason else ""
    lines = wrapped(caption + why, wide)
    below = 14 + side + 20
    canvas = look.canvas(EDGE + (below if side_by_side else 2 * below + LINE) + LINE * len(lines))
    canvas.text(left, EDGE + 6, noted(score, "%"), weight="bold")
    _against(canvas, canvas.axes(left, EDGE + 14, side, side), scores)
    canvas.caption(left + side / 2, EDGE + below, [names[0]])
    canvas.text(
        EDGE + 3, EDGE + 14 + side / 2, names[1], size=SMALL, colour=canvas.theme.soft, rotation=90, ha="center"
    )
    top = EDGE if side_by_side else EDGE + below + LINE
    canvas.text(start, top + 6, f"{names[0]} − {names[1]}", weight="bold")
    _differences(canvas, canvas.axes(start, top + 14, wide, side), gaps, mean)
    canvas.caption(start + wide / 2, top + below, lines)
    return canvas


def _against(canvas: Canvas, axes: Axes, scores: Floats) -> None:
    # both axes show the tens around the scores, twenty points apart at least and within 0 and 100
    low, high = np.floor(scores.min() / 10) * 10, np.ceil(scores.max() / 10) * 10
    low = float(max(0.0, min(low, high - 20)))
    theme, span = canvas.theme, (low, float(min(100.0, max(high, low + 20))))
    axes.plot(span, span, color=theme.line_strong, linewidth=0.7, zorder=1)
    alpha = 0.75 if len(scores) < 150 else 0.4
    axes.plot(
        scores[:, 0],
        scores[:, 1],
        linestyle="none",
        marker="o",
        markersize=3,
        markerfacecolor=theme.chart,
        markeredgewidth=0,
        alpha=alpha,
        clip_on=False,
        zorder=2,
    )
    scale(axes, span, 165)
    axes.set_ylim(*span)
    axes.set_yticks(axes.get_xticks(), [f"{tick:g}" for tick in axes.get_xticks()])
    axes.tick_params(axis="y", left=True, labelleft=True)
    axes.spines["left"].set_visible(True)
    axes.spines["left"].set_color(theme.line_strong)
    axes.spines["left"].set_linewidth(0.7)


def _differences(canvas: Canvas, axes: Axes, gaps: Floats, mean: Percent | None) -> None:
    """One step a story; above nought in the chart colour, below in the second."""
    theme = canvas.theme
    axes.spines["bottom"].set_visible(False)
    for part, colour in ((gaps > 0, theme.chart), (gaps < 0, theme.second)):
        if part.any():
            at = np.flatnonzero(part)
            axes.stairs(gaps[part], np.append(at, at[-1] + 1), fill=True, color=colour, linewidth=0)
    axes.axhline(0, color=theme.line_strong, linewidth=0.7)
    most = max(10.0, float(np.abs(gaps).max()) * 1.05)
    axes.set_xlim(0, len(gaps))
    axes.set_ylim(-most, most)
    ticks = [
        tick
        for tick in range(-100, 101, 50 if most > 75 else 25 if most > 40 else 10 if most > 10 else 5)
        if abs(tick) <= most
    ]
    axes.set_yticks(ticks, [f"{tick:+d}".replace("-", "−") if tick else "0" for tick in ticks])
    axes.tick_params(axis="y", left=True, labelleft=True)
    axes.set_xticks([])
    if mean:
        if mean.interval:
            axes.axhspan(*mean.interval, color=theme.ink, alpha=0.15, linewidth=0)
        axes.axhline(mean.value, color=theme.ink, linewidth=1, linestyle=(0, (4, 2)))
        axes.text(
            0.98,
            0.97,
            f"mean {mean.text()}".replace("-", "−"),
            transform=axes.transAxes,
            size=SMALL,
            color=theme.ink,
            ha="right",
            va="top",
            family=families(),
        )
