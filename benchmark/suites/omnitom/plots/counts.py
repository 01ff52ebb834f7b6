"""Figures of counts: label distribution, MatchCount distribution, confusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

import numpy as np
from matplotlib.axes import Axes

from benchmark.domain.plots.canvas import LINE, Canvas
from benchmark.domain.plots.dots import EDGE, GAP, Series, draw_legend, scale
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.heat import heat_table
from benchmark.domain.plots.names import labels, printable, shortened
from benchmark.domain.plots.text_size import text_width, wrapped
from benchmark.domain.plots.theme import SMALL
from benchmark.domain.plots.values import Percent, barred, ended
from benchmark.suites.omnitom.cells import ILLEGAL, MISSING
from benchmark.suites.omnitom.labels import SCHEMA

Counts = Mapping[str, int]
Side = Literal["gold", "predicted"]
NO_LABEL = "No label was counted."
NO_ROW = "No predicted row was judged."
_ROW = 13.0


class LabelCounts(TypedDict):
    """How often a label stands in the gold rows and how often it was predicted; intervals are of its shares."""

    gold: int
    predicted: int
    gold_interval: NotRequired[list[float] | None]
    interval: NotRequired[list[float] | None]
    reason: NotRequired[str]


Labels = Mapping[str, LabelCounts]


@plot
def label_distribution(
    dimensions: Mapping[str, Labels],
    *,
    model: str,
    reading: str,
    look: Look,
) -> Drawing:
    """Plot how often each label stands in the gold rows, and beside it how often `model` predicted it: the paper's figure 4.

    `dimensions` is {dimension: {label: its counts}}. Bars are shares: of the gold rows of all
    stories, and of those in the usable ones; lines over them the intervals of the shares.
    """
    title = f"Labels in gold and as predicted by {model}, {reading} reading"
    used = {name: _used(table) for name, table in dimensions.items()}
    totals = {name: _totals(table) for name, table in dimensions.items()}
    if not any(total["gold"] for total in totals.values()):
        return Drawing(title, NO_LABEL)
    with_gold = {name: table for name, table in used.items() if totals[name]["gold"]}
    canvas = _distribution(with_gold, totals, (model, reading), look)
    lines = [
        f"{SCHEMA[name].name} ({totals[name]['gold']} gold rows, {totals[name]['predicted']} in usable stories): "
        + ", ".join(
            f"{label} gold {counts['gold']}, predicted {counts['predicted']}" for label, counts in table.items()
        )
        for name, table in used.items()
    ]
    return Drawing(title, canvas, lines)


def _totals(table: Labels) -> dict[Side, int]:
    return {side: sum(counts[side] for counts in table.values()) for side in SIDES}


def _used(table: Labels) -> dict[str, LabelCounts]:
    """Leave out what is not a label and was not predicted."""
    return {label: counts for label, counts in table.items() if label not in {MISSING, ILLEGAL} or counts["predicted"]}


def _distribution(
    dimensions: Mapping[str, Labels],
    totals: Mapping[str, Mapping[Side, int]],
    sides: tuple[str, str],
    look: Look,
) -> Canvas:
    (model, reading), width = sides, look.points
    columns = 1 if look.narrow else 2
    each = (width - 2 * EDGE - 3 * GAP * (columns - 1)) / columns
    heights = [EDGE + 15.0] * columns
    places = []
    for name, table in dimensions.items():
        at = heights.index(min(heights))
        places.append((name, EDGE + at * (each + 3 * GAP), heights[at]))
        heights[at] += 14 + _ROW * len(table) + 8
    caption = wrapped(
        f"Share of the dimension's rows (%): gold, predicted, {reading} reading{_lines(dimensions)}", width - 2 * EDGE
    )
    canvas = look.canvas(max(heights) + LINE * len(caption))
    series = (
        Series(key="gold", label="Gold", marker="s", colour="line_strong"),
        Series(key="predicted", label=labels([model])[0], marker="s"),
    )
    draw_legend(canvas, series, EDGE, EDGE + 5)
    names = text_width([label for table in dimensions.values() for label in table]) + GAP
    most = max(_reach(counts, totals[name]) for name, table in dimensions.items() for counts in table.values())
    for name, left, top in places:
        _dimension(canvas, name, dimensions[name], totals[name], left=left, top=top, names=names, each=each, most=most)
    canvas.caption(width / 2, canvas.height - 5 - LINE * (len(caption) - 1), caption)
    return canvas


def _lines(dimensions: Mapping[str, Labels]) -> str:
    drawn = [
        counts for table in dimensions.values() for counts in table.values() if counts["gold"] or counts["predicted"]
    ]
    ends = [(_ends(counts, "predicted"), counts.get("reason") or "") for counts in drawn]
    return barred(
        (Percent(0.0, (interval[0], interval[1]) if interval else None, why) for interval, why in ends), "line"
    )


SIDES: tuple[Side, Side] = ("gold", "predicted")


def _ends(counts: LabelCounts, side: Side) -> list[float] | None:
    return counts.get("gold_interval") if side == "gold" else counts.get("interval")


def _share(counts: LabelCounts, side: Side, total: Mapping[Side, int]) -> float:
    return counts[side] / total[side] if total[side] else 0.0


def _reach(counts: LabelCounts, total: Mapping[Side, int]) -> float:
    """Return how far the bars of a label and their intervals go."""
    ends = [end for side in SIDES for end in _ends(counts, side) or ()]
    return max([*ends, *(_share(counts, side, total) for side in SIDES)])


def _dimension(
    canvas: Canvas,
    name: str,
    table: Labels,
    total: Mapping[Side, int],
    *,
    left: float,
    top: float,
    names: float,
    each: float,
    most: float,
) -> None:
    numbers = text_width(["100.0  100.0"], SMALL)
    canvas.text(left, top + 6, SCHEMA[name].name, weight="bold")
    axes = canvas.axes(left + names, top + 14, each - names - numbers - 4, _ROW * len(table), frame=False)
    axes.set_xlim(0, most)
    axes.set_ylim(len(table), 0)
    middles = np.arange(len(table)) + 0.5
    for key, shift, colour in zip(SIDES, (-0.19, 0.19), (canvas.theme.line_strong, canvas.theme.chart), strict=True):
        shares = [_share(counts, key, total) for counts in table.values()]
        axes.barh(middles + shift, shares, height=0.34, color=colour)
        rows = zip(middles, table.values(), strict=True)
        ends = [(y + shift, *interval) for y, counts in rows if (interval := _ends(counts, key))]
        if ends:
            axes.hlines(*np.transpose(ends), color=canvas.theme.ink, linewidth=0.8)
    axes.axvline(0, color=canvas.theme.line_strong, linewidth=0.7)
    for at, (label, counts) in enumerate(table.items()):
        y = top + 14 + _ROW * (at + 0.5)
        canvas.text(left + names - GAP + 3, y, label, ha="right")
        for key, right in zip(SIDES, (left + each - numbers / 2 - 3, left + each), strict=True):
            canvas.text(
                right, y, f"{100 * _share(counts, key, total):.1f}", size=SMALL, colour=canvas.theme.soft, ha="right"
            )


@plot
def match_counts(
    rows: Mapping[str, Counts],
    *,
    reading: str,
    note: str = "",
    look: Look,
) -> Drawing:
    """Predicted rows by how many gold rows they match, as shares; `rows` is {model: `match_counts`}."""
    title = f"MatchCount distribution, {reading} reading"
    counts_by_model = {
        model: {name: n for name, n in counts.items() if name != "total"} for model, counts in rows.items()
    }
    if not any(sum(counts.values()) for counts in counts_by_model.values()):
        return Drawing(title, NO_ROW)
    canvas = _stacked(counts_by_model, f"Predicted rows (%), {reading} reading{ended(note)}", look)
    lines = [
        f"{model}: " + ", ".join(f"{name} match {n}" for name, n in counts.items())
        for model, counts in counts_by_model.items()
    ]
    return Drawing(title, canvas, lines)


def _stacked(counts_by_model: Mapping[str, Counts], unit: str, look: Look) -> Canvas:
    names, width = look.labels(counts_by_model), look.points
    totals = [f"{sum(counts.values()):,}" for counts in counts_by_model.values()]
    left, beside = EDGE + text_width(names) + GAP, text_width([*totals, "Rows"]) + GAP
    caption = wrapped(unit, width - 2 * EDGE)
    canvas = look.canvas(EDGE + 15 + 14 * len(names) + 17 + LINE * len(caption))
    buckets = list(dict.fromkeys(name for counts in counts_by_model.values() for name in counts))
    colours = [
        canvas.theme.line,
        *(canvas.theme.tint(share) for share in np.linspace(0.42, 1, max(1, len(buckets) - 1))),
    ]
    at = EDGE
    for name, colour in zip(buckets, colours, strict=False):
        canvas.box(at, EDGE + 2, 8, 7, colour, edgecolor=canvas.theme.line_strong, linewidth=0.5)
        label = f"{name} {'match' if name == '1' else 'matches'}" if not look.narrow else name
        canvas.text(at + 11, EDGE + 5.5, label, size=SMALL, colour=canvas.theme.soft)
        at += 21 + text_width([label], SMALL)
    axes = canvas.axes(left, EDGE + 15, width - left - EDGE - beside, 14 * len(names))
    _bars(axes, list(counts_by_model.values()), dict(zip(buckets, colours, strict=False)), canvas)
    scale(axes, (0, 100), width - left - EDGE - beside)
    canvas.text(width - EDGE, EDGE + 5.5, "Rows", size=SMALL, colour=canvas.theme.soft, ha="right")
    for line, (name, total) in enumerate(zip(names, totals, strict=True)):
        canvas.text(left - GAP, EDGE + 15 + 14 * (line + 0.5), name, ha="right")
        canvas.text(width - EDGE, EDGE + 15 + 14 * (line + 0.5), total, ha="right")
    canvas.caption(left + (width - left - beside) / 2, canvas.height - LINE * len(caption), caption)
    return canvas


def _bars(axes: Axes, rows: Sequence[Counts], colours: Mapping[str, str], canvas: Canvas) -> None:
    axes.set_ylim(len(rows), 0)
    middles, start = np.arange(len(rows)) + 0.5, np.zeros(len(rows))
    totals = np.array([max(1, sum(counts.values())) for counts in rows])
    for name, colour in colours.items():
        shares = 100 * np.array([counts.get(name, 0) for counts in rows]) / totals
        axes.barh(middles, shares, left=start, height=0.72, color=colour, edgecolor=canvas.theme.surface, linewidth=0.5)
        start = start + shares


@plot
def confusion(
    table: Mapping[str, Counts],
    *,
    dimension: str,
    model: str,
    reading: str,
    look: Look,
) -> Drawing:
    """Gold labels × predicted labels with counts, coloured by the share of the gold label's rows.

    `table` is {gold label: {predicted label: rows}}; what is not a label has a column only where it was predicted.
    """
    title = f"{SCHEMA[dimension].name}: gold labels and those of {model}, {reading} reading"
    columns = [
        name
        for name in next(iter(table.values()), {})
        if name not in {MISSING, ILLEGAL} or any(row[name] for row in table.values())
    ]
    if not any(sum(row.values()) for row in table.values()):
        return Drawing(title, NO_LABEL)
    totals = {gold: sum(row.values()) for gold, row in table.items()}
    shares = [
        [100 * row[name] / totals[gold] if totals[gold] else None for name in columns] for gold, row in table.items()
    ]
    canvas = heat_table(
        [printable(gold) for gold in table],
        columns,
        shares,
        [[f"{row[name]:,}" for name in columns] for row in table.values()],
        legend=f"Rows, {reading} reading; colour: share of the gold label's rows (%)",
        look=look,
        ends=(0.0, 100.0),
        corner=("Gold", shortened(f"Predicted by {printable(model)}", 44)),
    )
    lines = [
        f"{gold} ({totals[gold]} rows): " + ", ".join(f"{name} {row[name]}" for name in columns if row[name])
        for gold, row in table.items()
    ]
    return Drawing(title, canvas, lines)
