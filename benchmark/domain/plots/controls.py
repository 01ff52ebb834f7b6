"""Scores of models under controls: differences in a panel for each control, and what is left without the story."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.beside import AskedAgain, ControlRow
from benchmark.domain.plots.dots import METRIC, NARROWEST, Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.ranked import NO_MODEL
from benchmark.domain.plots.values import percent, percents, value_line


@plot
def control_differences(look: Look, rows: Sequence[ControlRow], *, score: str, parse: str) -> Drawing:
    """Plot the score as published less that under each control, with its interval, in a panel a control."""
    return difference_panels(
        rows, title=f"{score}: published less controlled, {parse} parse",
        unit=f"{score}, {parse} parse: points by which it is higher as published", look=look,
    )  # fmt: skip


def difference_panels(
    rows: Sequence[AskedAgain], *, title: str, unit: str, look: Look, least: float = NARROWEST
) -> Drawing:
    """Draw differences in a panel for each `title` of the rows, models below each other."""
    if not rows:
        return Drawing(title, NO_MODEL)
    models = list(dict.fromkeys(row.model for row in rows))
    panels, lines = [], []
    for name in dict.fromkeys(row.title for row in rows):
        by_model = {row.model: row for row in rows if row.title == name}
        metrics = [percent(by_model[model]) if model in by_model else None for model in models]
        bounds = [percents(by_model[model].bounds) if model in by_model else None for model in models]
        panels.append(Panel.of(name, metrics, bounds))
        lines.append(panels[-1].describe(name, models))
    canvas = dot_plot(
        models,
        panels,
        (Series(key=METRIC, label="Difference"),),
        unit=unit,
        look=look,
        rule=0.0,
        least=least,
    )
    return Drawing(title, canvas, lines)


@plot
def without_story(look: Look, rows: Sequence[ControlRow], *, score: str, parse: str) -> Drawing:
    """Plot each model's and baseline's score with its story and without."""
    title = f"{score} without the story, {parse} parse"
    if not rows:
        return Drawing(title, NO_MODEL)
    series = (
        Series.hollow("published", "As published"),
        Series(key="controlled", label="Without the story"),
    )
    metrics = [{"published": percent(row.published), "controlled": percent(row.controlled)} for row in rows]
    canvas = dot_plot(
        [row.model for row in rows],
        [Panel("", metrics)],
        series,
        unit=(
            f"{score}, {parse} parse (%), of what was answered both ways; what is left without the story is "
            f"what cues give, or memory"
        ),
        look=look,
    )
    lines = [
        value_line(row.model, [entry.label.lower() for entry in series], values.values())
        for row, values in zip(rows, metrics, strict=True)
    ]
    return Drawing(title, canvas, lines)
