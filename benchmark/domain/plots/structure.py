"""Right answers where the structure is right, and where it is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.drawn import AnswersRow
from benchmark.domain.plots.dots import Aside, Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.values import percent, value_line


@plot
def structure_and_answers(look: Look, rows: Sequence[AnswersRow], *, cut: str) -> Drawing:
    """Both shares of each model with intervals, and the difference between them; `cut` says from which score on a
    structure is right."""
    title = "Right answers given right and wrong structure"
    if not rows:
        return Drawing(title, "No model has structures and answers of the same stories.")
    metrics = [{"right": percent(row.right), "wrong": percent(row.wrong)} for row in rows]
    series = (
        Series(key="right", label="Structure right"),
        Series.hollow("wrong", "Structure wrong"),
    )
    canvas = dot_plot(
        [row.model for row in rows],
        [Panel("", metrics)],
        series,
        unit="Right answers (%)",
        look=look,
        note=f"right: {cut}",
        asides=[Aside("Difference", [row.difference for row in rows])],
    )
    lines = [
        value_line(row.model, ("structure right", "structure wrong"), metric.values())
        for row, metric in zip(rows, metrics, strict=True)
    ]
    return Drawing(title, canvas, lines)
