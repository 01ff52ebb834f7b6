"""A score in one panel a part of the samples: by category, by ability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.domain.plots.canvas import WIDTHS, Format, Width, nothing
from benchmark.domain.plots.dots import Panel, Series, dot_plot
from benchmark.domain.plots.names import ROOM, labels, printable
from benchmark.domain.plots.ranked import NO_MODEL, ModelRow, banded, barred_panels
from benchmark.domain.plots.values import bounds_of, ended, percent, sentences


def scores_by_part(
    rows: Sequence[ModelRow],
    *,
    reading: str,
    score: str,
    part: str,
    short: Mapping[str, str] | None = None,
    key: str = "score",
    note: str = "",
    format: Format = "svg",
    theme: str = "light",
    width: Width = "page",
) -> bytes:
    """Draw `score` in one panel a `part`, both in words.

    Parts are in the order of the first row that has them; `short` are names for narrow panels. A figure's "bounds" are drawn as a band where they
    differ.
    """
    title = f"{score} by {part}, {reading} reading"
    parts = list(dict.fromkeys(name for row in rows for name in row["values"]))
    if not parts:
        return nothing(NO_MODEL, format, theme, title)
    scores = {name: [{key: percent(row["values"].get(name))} for row in rows] for name in parts}
    bounds = {name: [bounds_of(row["values"].get(name)) for row in rows] for name in parts}
    canvas = dot_plot(
        labels((row["model"] for row in rows), ROOM[width]),
        [Panel(printable((short or {}).get(name, name)), scores[name], bounds[name]) for name in parts],
        [Series(key=key, label=score)],
        unit=f"{score} (%), {reading} reading{barred_panels(scores.values())}"
        + banded([ends for column in bounds.values() for ends in column])
        + ended(note),
        theme=theme,
        width=WIDTHS[width],
    )
    lines = [
        f"{name}: "
        + ", ".join(
            f"{row['model']} {figure.text()}" + (f", worst to best case {ends[0]:.1f} to {ends[1]:.1f}" if ends else "")
            for row, row_scores, ends in zip(rows, scores[name], bounds[name], strict=True)
            if (figure := row_scores[key])
        )
        for name in parts
    ]
    return canvas.bytes(format, title, sentences(lines))
