"""Plots with one row a model: F1 by category, orders and roles, accuracy by dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotation.domain.shipped_schemas import OMNITOM
from benchmark.domain.figures.dots import Panel, Series, dot_plot
from benchmark.domain.figures.heat import heat_table
from benchmark.domain.figures.names import ROOM, labels, printable
from benchmark.domain.figures.ranked import NO_MODEL, Row, banded, barred_panels
from benchmark.domain.figures.sheet import WIDTHS, Format, Width, nothing
from benchmark.domain.figures.values import bounds_of, ended, percent, sentences
from benchmark.suites.omnitom.kinds import KINDS
from benchmark.suites.omnitom.labels import DIMENSIONS
from benchmark.suites.omnitom.tables import ABBREVIATIONS, in_order


def f1_by_category(
    rows: Sequence[Row],
    *,
    reading: str,
    note: str = "",
    format: Format = "svg",
    theme: str = "light",
    width: Width = "page",
) -> bytes:
    """Extraction F1 in one panel a story category; a row is {"model", "values": {category: figure}}. A figure's "bounds" are drawn as a band
    where they differ."""
    title = f"Extraction F1 by story category, {reading} reading"
    categories = in_order(name for row in rows for name in row["values"])
    if not categories:
        return nothing(NO_MODEL, format, theme, title)
    held = {name: [{"f1": percent(row["values"].get(name))} for row in rows] for name in categories}
    bounds = {name: [bounds_of(row["values"].get(name)) for row in rows] for name in categories}
    sheet = dot_plot(
        labels((row["model"] for row in rows), ROOM[width]),
        [Panel(printable(ABBREVIATIONS.get(name, name)), held[name], bounds[name]) for name in categories],
        [Series(key="f1", label="F1")],
        unit=f"Extraction F1 (%), {reading} reading{barred_panels(held.values())}"
        + banded([one for column in bounds.values() for one in column])
        + ended(note),
        theme=theme,
        width=WIDTHS[width],
    )
    lines = [
        f"{name}: "
        + ", ".join(
            f"{row['model']} {one['f1'].said()}"
            + (f", worst to best case {ends[0]:.1f} to {ends[1]:.1f}" if ends else "")
            for row, one, ends in zip(rows, held[name], bounds[name], strict=True)
            if one["f1"]
        )
        for name in categories
    ]
    return sheet.bytes(format, title, sentences(lines))


KIND_TITLES = {"order": "order", "role": "actor role"}
MARKS = (("o", "chart", True), ("s", "second", True), ("^", "ink", False))


def by_kind(
    panels: Mapping[str, Sequence[Row]],
    *,
    by: str,
    of: str,
    reading: str,
    note: str = "",
    format: Format = "svg",
    theme: str = "light",
    width: Width = "page",
) -> bytes:
    """What becomes of beliefs of each order or actor role (`by`, a key of KINDS), in one panel a figure: the paper's figure 5.

    `panels` is {title: rows}, a row {"model", "values": {kind: figure}}; a model that a panel lacks is empty there. `of` names
    what the figures are of.
    """
    title = f"{of} by {KIND_TITLES[by]}, {reading} reading"
    models = list(dict.fromkeys(row["model"] for rows in panels.values() for row in rows))
    if not models:
        return nothing(NO_MODEL, format, theme, title)
    held = {name: {row["model"]: row["values"] for row in rows} for name, rows in panels.items()}
    figures = {
        name: [{kind: percent(found.get(model, {}).get(kind)) for kind in KINDS[by]} for model in models]
        for name, found in held.items()
    }
    heads = {kind: f"Order {kind}" if by == "order" else kind.capitalize() for kind in KINDS[by]}
    series = [
        Series(key=kind, label=head, marker=marker, colour=colour, filled=filled)
        for (kind, head), (marker, colour, filled) in zip(heads.items(), MARKS, strict=False)
    ]
    sheet = dot_plot(
        labels(models, ROOM[width]),
        [Panel(name, rows) for name, rows in figures.items()],
        series,
        unit=f"{of} (%), rows pooled over stories, {reading} reading{barred_panels(figures.values())}{ended(note)}",
        theme=theme,
        width=WIDTHS[width],
    )
    lines = [
        f"{name}, {model}: " + ", ".join(f"{heads[kind].lower()} {one.said()}" for kind, one in row.items() if one)
        for name, rows in figures.items()
        for model, row in zip(models, rows, strict=True)
    ]
    return sheet.bytes(format, title, sentences(lines))


def accuracy_by_dimension(
    rows: Sequence[Row],
    *,
    reading: str,
    bold_best: bool = True,
    note: str = "",
    format: Format = "svg",
    theme: str = "light",
    width: Width = "page",
) -> bytes:
    """Labelling accuracy of models × dimensions as a table of coloured cells; with `bold_best` the best of a column is bold.

    A row is {"model", "values": {dimension: figure}, "overall": figure or None}.
    """
    title = f"Labelling accuracy by dimension, {reading} reading"
    if not rows:
        return nothing(NO_MODEL, format, theme, title)
    columns = [OMNITOM[name].short for name in DIMENSIONS]
    cells = [[percent(row["values"].get(name)) for name in DIMENSIONS] for row in rows]
    if any(row.get("overall") is not None for row in rows):
        columns.append("Overall")
        cells = [[*line, percent(row.get("overall"))] for line, row in zip(cells, rows, strict=True)]
    shown = [[None if one is None else one.value for one in line] for line in cells]
    sheet = heat_table(
        labels((row["model"] for row in rows), ROOM[width]),
        columns,
        shown,
        [["–" if one is None else f"{one:.1f}" for one in line] for line in shown],
        legend=f"Accuracy (%), {reading} reading{ended(note)}",
        theme=theme,
        width=WIDTHS[width],
        bold_best=bold_best and len(rows) > 1,
    )
    lines = [
        f"{row['model']}: " + ", ".join(f"{name} {one.said()}" for name, one in zip(columns, line, strict=True) if one)
        for row, line in zip(rows, cells, strict=True)
    ]
    return sheet.bytes(format, title, sentences(lines))
