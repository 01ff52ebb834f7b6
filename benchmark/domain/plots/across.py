"""Models across suites: a panel a suite with its chance level, and one model with a row a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from benchmark.domain.plots.dots import Aside, Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.names import printable
from benchmark.domain.plots.ranked import NO_MODEL
from benchmark.domain.plots.values import Metric, bounds_of, percent, told

LEVEL = "dashed: chance level"


class SuiteFigures(TypedDict):
    """The figure of each model in a suite, in one order for all suites, and the figure at chance."""

    title: str
    figures: Sequence[Mapping[str, object] | None]
    chance: Metric


class FigureOfSuite(TypedDict):
    """A model's figure in a suite, the figure at chance, and its rank in words."""

    title: str
    figure: Mapping[str, object] | None
    chance: Metric
    rank: str


@plot
def models_across(
    models: Sequence[str], suites: Sequence[SuiteFigures], *, over: str = "stories", note: str = "", look: Look
) -> Drawing:
    """Draw each model's main figure in one panel a suite, with a line at chance. `over` names what intervals are
    over."""
    title = "Models across suites"
    if not models or not suites:
        return Drawing(title, NO_MODEL)
    panels, lines = [], []
    for suite in suites:
        figures, chance = [percent(figure) for figure in suite["figures"]], percent(suite["chance"])
        bounds = [bounds_of(figure) for figure in suite["figures"]]
        level = chance.value if chance else None
        panels.append(Panel(printable(suite["title"]), [{"figure": figure} for figure in figures], bounds, level))
        at_chance = f", chance level {level:.1f}" if level is not None else ", no chance level"
        lines.append(told(suite["title"], models, figures, bounds) + at_chance)
    note = "; ".join(filter(None, [LEVEL if any(panel.level is not None for panel in panels) else "", note]))
    unit = "Main figure of each suite (%), repaired parse"
    canvas = dot_plot(
        models, panels, [Series(key="figure", label="Figure")], unit=unit, over=over, note=note, look=look
    )
    return Drawing(title, canvas, lines)


@plot
def model_across(
    title: str, suites: Sequence[FigureOfSuite], *, over: str = "stories", note: str = "", look: Look
) -> Drawing:
    """Draw one model's main figure in each suite beside the figure at chance. `over` names what intervals are over."""
    if not suites:
        return Drawing(title, NO_MODEL)
    figures, chances = [percent(suite["figure"]) for suite in suites], [percent(suite["chance"]) for suite in suites]
    bounds = [bounds_of(suite["figure"]) for suite in suites]
    rows = [{"figure": figure, "chance": chance} for figure, chance in zip(figures, chances, strict=True)]
    series = [
        Series(key="figure", label="Figure"),
        Series(key="chance", label="Chance level", marker="D", colour="second", filled=False),
    ]
    asides = [
        Aside(head, [f"{figure.value:.1f}" if figure else "–" for figure in column])
        for head, column in (("Figure", figures), ("Chance", chances))
    ]
    canvas = dot_plot(
        [suite["title"] for suite in suites],
        [Panel("", rows, bounds)],
        series,
        unit="Main figure of each suite (%), repaired parse",
        over=over,
        note=note,
        look=look,
        asides=[
            *asides[: 1 if look.narrow else 2],
            *([] if look.narrow else [Aside("Rank", [suite["rank"] for suite in suites])]),
        ],
    )
    return Drawing(
        title,
        canvas,
        [
            told(suite["title"], ["figure", "chance level"], [figure, chance], [ends, None]) + f", rank {suite['rank']}"
            for suite, figure, chance, ends in zip(suites, figures, chances, bounds, strict=True)
        ],
    )
