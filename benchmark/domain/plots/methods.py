"""Scores of models by methods: scores, and differences to the plain one, in a panel for each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.domain.beside import MethodRow
from benchmark.domain.plots.controls import difference_panels
from benchmark.domain.plots.dots import METRIC, Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.ranked import NO_MODEL
from benchmark.domain.plots.text_size import text_width
from benchmark.domain.plots.values import percent, value_line


@plot
def method_scores(look: Look, rows: Sequence[MethodRow], *, score: str, parse: str) -> Drawing:
    """Plot each model's score by each method, with its interval, in a panel a method."""
    title = f"{score} by method, {parse} parse"
    if not rows:
        return Drawing(title, NO_MODEL)
    models = list(dict.fromkeys(row.model for row in rows))
    panels, lines = [], []
    for name in dict.fromkeys(row.title for row in rows):
        by_model = {row.model: row for row in rows if row.title == name}
        panels.append(Panel.of(name, [percent(by_model[model].score) for model in models]))
        lines.append(panels[-1].describe(name, models))
    canvas = dot_plot(
        models, panels, (Series(key=METRIC, label="Score"),),
        unit=f"{score}, {parse} parse (%), missing answers at their worst", look=look, least=_least(rows),
    )  # fmt: skip
    return Drawing(title, canvas, lines)


WIDEST = 110.0


def _least(rows: Sequence[MethodRow]) -> float:
    """Return the width of a panel in which the names of methods can be read, in points; a longer one than this is
    shortened."""
    return min(WIDEST, text_width([row.title for row in rows], weight="bold") + 2)


@plot
def method_parts(
    look: Look, rows: Sequence[MethodRow], *, score: str, parse: str, part: str, short: Mapping[str, str]
) -> Drawing:
    """Plot what each model comes to in a panel a `part`, its methods below each other; `short` are names for narrow
    panels."""
    title = f"{score} by method and {part}, {parse} parse"
    if not rows:
        return Drawing(title, NO_MODEL)
    models = {row.key: row.model for row in rows}
    methods = list(dict.fromkeys(row.title for row in rows))
    panels, lines = [], []
    for name in dict.fromkeys(row.part for row in rows):
        scores = {(row.key, row.title): percent(row.score) for row in rows if row.part == name}
        below = [[scores.get((key, method)) for method in methods] for key in models]
        panels.append(
            Panel(
                short.get(name, name),
                [row for by_method in below for row in ({}, *({"score": each} for each in by_method))],
            )
        )
        lines += [
            value_line(f"{model}, {name}", methods, by_method)
            for model, by_method in zip(models.values(), below, strict=True)
        ]
    canvas = dot_plot(
        list(models.values()), panels, (Series(key="score", label="Score"),), unit=f"{score}, {parse} parse (%)",
        look=look, within=methods,
    )  # fmt: skip
    return Drawing(title, canvas, lines)


@plot
def method_differences(look: Look, rows: Sequence[MethodRow], *, score: str, parse: str, plain: str) -> Drawing:
    """Plot the score by each method less that by the `plain` one, as `control_differences` has differences."""
    return difference_panels(
        rows, title=f"{score}: methods less {plain}, {parse} parse",
        unit=f"{score}, {parse} parse: points by which it is higher than {plain}",
        look=look, least=_least(rows),
    )  # fmt: skip
