"""Plots with one row a model: F1 by category, orders and roles, accuracy by dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmark.domain.drawn import ModelRow, Plot
from benchmark.domain.plots.dots import Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.heat import heat_table
from benchmark.domain.plots.parts import scores_by_part
from benchmark.domain.plots.ranked import NO_MODEL
from benchmark.domain.plots.values import percent, value_line
from benchmark.domain.tables.categories import in_order
from benchmark.suites.omnitom.kinds import KIND_HEADS, KINDS
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME
from benchmark.suites.tombench_tasks import TASKS
from core.messages import Sentence, gettext_noop, word


def f1_by_category(rows: Sequence[ModelRow], *, parse: str) -> Plot:
    """Extraction F1 in one panel a story category; a row has figures by category."""
    order = in_order((name for row in rows for name in row.values), TASKS)
    ordered = [replace(row, values={name: row.values.get(name) for name in order}) for row in rows]
    return scores_by_part(
        ordered,
        parse=parse,
        score="Extraction F1",
        part=gettext_noop("story category"),
        short=TASKS,
    )


MARKS = (("o", "chart", True), ("s", "second", True), ("^", "ink", False))


@plot
def by_kind(look: Look, panels: Mapping[str, Sequence[ModelRow]], *, by: str, score: str, parse: str) -> Drawing:
    """Plot what becomes of beliefs of each order or actor role (`by`, a key of KINDS), in one panel a figure: the
    paper's figure 5.

    `panels` is {title: rows}, a row has figures by kind; a model that a panel lacks is empty there.
    `score` names the figures.
    """
    about = {"score": word(score), "kind_heads": KIND_HEADS[by], "parse": word(parse)}
    title = Sentence("{score} by {kind_heads}, {parse} parse", **about)
    models = list(dict.fromkeys(row.model for rows in panels.values() for row in rows))
    if not models:
        return Drawing(title, NO_MODEL)
    values_by_panel = {name: {row.model: row.values for row in rows} for name, rows in panels.items()}
    metrics = {
        name: [{kind: percent(values_by_model.get(model, {}).get(kind)) for kind in KINDS[by]} for model in models]
        for name, values_by_model in values_by_panel.items()
    }
    heads = {kind: Sentence("Order {kind}", kind=kind) if by == "order" else kind.capitalize() for kind in KINDS[by]}
    series = [
        Series(key=kind, label=head, marker=marker, colour=colour, filled=filled)
        for (kind, head), (marker, colour, filled) in zip(heads.items(), MARKS, strict=False)
    ]
    unit, drawn = f"{score} (%), rows pooled over stories, {parse} parse", [Panel(*panel) for panel in metrics.items()]
    canvas = dot_plot(models, drawn, series, unit=unit, look=look)
    lines = [
        value_line(f"{name}, {model}", (heads[kind].lower() for kind in row), row.values())
        for name, rows in metrics.items()
        for model, row in zip(models, rows, strict=True)
    ]
    return Drawing(title, canvas, lines)


HEADS = OMNITOM_SCHEME.shorts


@plot
def accuracy_by_dimension(
    look: Look, rows: Sequence[ModelRow], *, parse: str, heads: Mapping[str, str] = HEADS, bold_best: bool = True
) -> Drawing:
    """Labelling accuracy of models × dimensions, in the order of their `heads`, as a table of coloured cells; with
    `bold_best` the best of a column is bold.

    A row has figures by dimension, and over all or None.
    """
    title = f"Labelling accuracy by dimension, {parse} parse"
    if not rows:
        return Drawing(title, NO_MODEL)
    columns = list(heads.values())
    cells = [[percent(row.values.get(name)) for name in heads] for row in rows]
    if any(row.overall is not None for row in rows):
        columns.append(gettext_noop("Overall"))
        cells = [[*line, percent(row.overall)] for line, row in zip(cells, rows, strict=True)]
    values = [[None if metric is None else metric.value for metric in line] for line in cells]
    canvas = heat_table(
        look.labels(row.model for row in rows),
        columns,
        values,
        [["–" if value is None else f"{value:.1f}" for value in line] for line in values],
        legend=look.noted(f"Accuracy (%), {parse} parse"),
        look=look,
        bold_best=bold_best and len(rows) > 1,
    )
    lines = [value_line(row.model, columns, line) for row, line in zip(rows, cells, strict=True)]
    return Drawing(title, canvas, lines)
