"""A plot of its own, as short as a suite's can be."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.plots.dots import METRIC, Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.values import percent, value_line
from benchmark.domain.report_rows import RowMetric


@plot
def right(look: Look, rows: Sequence[tuple[str, RowMetric]], *, parse: str) -> Drawing:
    """Right sums of each model; `rows` are (model, figure)."""
    title = f"Right at a glance, {parse} parse"
    if not rows:
        return Drawing(title, "No model has added.")
    models, metrics = [model for model, _ in rows], [percent(metric) for _, metric in rows]
    canvas = dot_plot(
        models,
        [Panel.of("", metrics)],
        [Series(key=METRIC, label="Right sums")],
        unit="Right sums (%)",
        look=look,
    )
    return Drawing(title, canvas, [value_line("Right", models, metrics)])
