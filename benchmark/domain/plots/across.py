"""Models across suites: a panel a suite with its chance level, and one model with a row a suite."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.drawn import MetricOfSuite, SuiteMetrics
from benchmark.domain.plots.dots import Aside, Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.names import printable
from benchmark.domain.plots.ranked import NO_MODEL
from benchmark.domain.plots.values import bounds_of, percent, told
from core.language import gettext_noop

LEVEL = "dashed: chance level"
_HEAD = 20
"""Characters that the head of a panel has room for where several stand in a column of a paper."""


@plot
def models_across(
    models: Sequence[str], suites: Sequence[SuiteMetrics], *, over: str = "stories", note: str = "", look: Look
) -> Drawing:
    """Draw each model's main figure in one panel a suite, with a line at chance. `over` names what intervals are
    over."""
    title = gettext_noop("Models across suites")
    if not models or not suites:
        return Drawing(title, NO_MODEL)
    panels, lines = [], []
    for suite in suites:
        metrics, chance = [percent(metric) for metric in suite.metrics], percent(suite.chance)
        bounds = [bounds_of(metric) for metric in suite.metrics]
        at = chance.value if chance else None
        panels.append(Panel(printable(suite.title), [{"metric": metric} for metric in metrics], bounds, at))
        at_chance = f", chance level {at:.1f}" if at is not None else ", no chance level"
        lines.append(told(suite.title, models, metrics, bounds) + at_chance)
    level = LEVEL if any(panel.level is not None for panel in panels) else ""
    note = "; ".join(filter(None, [level, _in_full(suites), note]))
    unit = "Main figure of each suite (%), repaired parse"
    canvas = dot_plot(
        models, panels, [Series(key="metric", label="Figure")], unit=unit, over=over, note=note, look=look
    )
    return Drawing(title, canvas, lines)


def _in_full(suites: Sequence[SuiteMetrics]) -> str:
    """Return the titles that heads of panels have no room for, so that none hides a part, as its method."""
    long = [printable(suite.title) for suite in suites if len(suite.title) > _HEAD]
    return f"in full: {', '.join(long)}" if long else ""


@plot
def model_across(
    title: str, suites: Sequence[MetricOfSuite], *, over: str = "stories", note: str = "", look: Look
) -> Drawing:
    """Draw one model's main figure in each suite beside the figure at chance. `over` names what intervals are over."""
    if not suites:
        return Drawing(title, NO_MODEL)
    metrics, chances = [percent(suite.metric) for suite in suites], [percent(suite.chance) for suite in suites]
    bounds = [bounds_of(suite.metric) for suite in suites]
    rows = [{"metric": metric, "chance": chance} for metric, chance in zip(metrics, chances, strict=True)]
    series = [
        Series(key="metric", label="Figure"),
        Series(key="chance", label="Chance level", marker="D", colour="second", filled=False),
    ]
    asides = [
        Aside(head, [f"{metric.value:.1f}" if metric else "–" for metric in column])
        for head, column in (("Figure", metrics), ("Chance", chances))
    ]
    canvas = dot_plot(
        [suite.title for suite in suites],
        [Panel("", rows, bounds)],
        series,
        unit="Main figure of each suite (%), repaired parse",
        over=over,
        note=note,
        look=look,
        asides=[
            *asides[: 1 if look.narrow else 2],
            *([] if look.narrow else [Aside("Rank", [suite.rank for suite in suites])]),
        ],
    )
    return Drawing(
        title,
        canvas,
        [
            told(suite.title, ["figure", "chance level"], [metric, chance], [ends, None]) + f", rank {suite.rank}"
            for suite, metric, chance, ends in zip(suites, metrics, chances, bounds, strict=True)
        ],
    )
