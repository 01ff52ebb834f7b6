"""A score in one panel a part of the samples: by category, by ability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.domain.drawn import ModelRow
from benchmark.domain.entered import Reference
from benchmark.domain.plots.dots import (
    Panel,
    Series,
    dot_plot,
    reference_series,
    sources_told,
    with_references,
)
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.names import printable
from benchmark.domain.plots.ranked import NO_MODEL
from benchmark.domain.plots.values import bounds_of, percent, told
from core.language import gettext_noop


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
    references: Sequence[Reference] = (),
    look: Look,
) -> Drawing:
    """Draw `score` in one panel a `part`, both in words.

    Parts are in the order of the first row that has them; `short` are names for narrow panels, and intervals are `over`
    what is resampled. A figure's "bounds" are drawn as a band where they differ. `references` have figures by the same
    names, and stand below with a mark of their own and their source.
    """
    title = gettext_noop(f"{score} by {part}, {parse} parse")
    parts = list(dict.fromkeys(name for row in rows for name in row.values))
    if not parts:
        return Drawing(title, NO_MODEL)
    models = [row.model for row in rows]
    scores = {name: [percent(row.values.get(name)) for row in rows] for name in parts}
    bounds = {name: [bounds_of(row.values.get(name)) for row in rows] for name in parts}
    references = [one for one in references if one.values.keys() & set(parts)]
    panels = [
        Panel(
            printable((short or {}).get(name, name)),
            with_references([{key: score} for score in scores[name]], references, name),
            bounds[name],
        )
        for name in parts
    ]
    names = [*models, *(one.model for one in references)]
    series = [Series(key=key, label=score), *reference_series(references)]
    unit, note = f"{score} (%), {parse} parse", sources_told(references, note)
    canvas = dot_plot(names, panels, series, unit=unit, over=over, note=note, look=look)
    entered = {name: [percent(one.values.get(name)) for one in references] for name in parts}
    return Drawing(title, canvas, [told(name, names, [*scores[name], *entered[name]], bounds[name]) for name in parts])
