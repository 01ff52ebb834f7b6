"""A score in one panel a part of the samples: by category, by ability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.domain.plots.dots import Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.names import printable
from benchmark.domain.plots.ranked import NO_MODEL, ModelRow
from benchmark.domain.plots.values import bounds_of, percent, told


@plot
def scores_by_part(
    rows: Sequence[ModelRow],
    *,
    parse: str,
    score: str,
    part: str,
    short: Mapping[str, str] | None = None,
    key: str = "score",
    over: str = "stories",
    note: str = "",
    look: Look,
) -> Drawing:
    """Draw `score` in one panel a `part`, both in words.

    Parts are in the order of the first row that has them; `short` are names for narrow panels, and intervals are `over`
    what is resampled. A figure's "bounds" are drawn as a band where they differ.
    """
    title = f"{score} by {part}, {parse} parse"
    parts = list(dict.fromkeys(name for row in rows for name in row["values"]))
    if not parts:
        return Drawing(title, NO_MODEL)
    models = [row["model"] for row in rows]
    scores = {name: [percent(row["values"].get(name)) for row in rows] for name in parts}
    bounds = {name: [bounds_of(row["values"].get(name)) for row in rows] for name in parts}
    panels = [
        Panel(printable((short or {}).get(name, name)), [{key: score} for score in scores[name]], bounds[name])
        for name in parts
    ]
    unit = f"{score} (%), {parse} parse"
    canvas = dot_plot(models, panels, [Series(key=key, label=score)], unit=unit, over=over, note=note, look=look)
    return Drawing(title, canvas, [told(name, models, scores[name], bounds[name]) for name in parts])
