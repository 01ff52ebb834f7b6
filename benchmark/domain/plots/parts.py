"""A score in one panel a part of the samples: by category, by ability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.domain.drawn import ModelRow
from benchmark.domain.plots.dots import METRIC, Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.names import printable
from benchmark.domain.plots.ranked import NO_MODEL
from benchmark.domain.plots.values import bounds_of, percent
from core.messages import Sentence, word


@plot
def scores_by_part(
    look: Look,
    rows: Sequence[ModelRow],
    *,
    parse: str,
    score: str,
    part: str,
    short: Mapping[str, str] | None = None,
) -> Drawing:
    """Draw `score` in one panel a `part`, both in words.

    Parts are in the order of the first row that has them; `short` are names for narrow panels. A figure's "bounds" are
    drawn as a band where they differ. References have figures by the same names, and stand below with a mark of their
    own and their source.
    """
    title, unit = (
        Sentence("{score} by {part}, {parse} parse", score=word(score), part=part, parse=word(parse)),
        f"{score} (%), {parse} parse",
    )
    parts = list(dict.fromkeys(name for row in rows for name in row.values))
    if not parts:
        return Drawing(title, NO_MODEL)
    models = [row.model for row in rows]
    references = [row for row in look.frame.references if row.values.keys() & set(parts)]
    panels, series = {name: _panel(rows, name, short or {}) for name in parts}, [Series(key=METRIC, label=score)]
    canvas = dot_plot(models, list(panels.values()), series, unit=unit, references=references, look=look)
    return Drawing(title, canvas, [panel.describe(name, models, references) for name, panel in panels.items()])


def _panel(rows: Sequence[ModelRow], name: str, short: Mapping[str, str]) -> Panel:
    metrics = [row.values.get(name) for row in rows]
    bounds = [bounds_of(metric) for metric in metrics]
    return Panel.of(printable(short.get(name, name)), [percent(metric) for metric in metrics], bounds, entered=name)
