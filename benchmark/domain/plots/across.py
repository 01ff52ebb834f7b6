"""Models across suites: a panel a suite with its chance level, and one model with a row a suite."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.drawn import MetricOfSuite, SuiteMetrics
from benchmark.domain.plots.dots import METRIC, Aside, Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.names import printable
from benchmark.domain.plots.ranked import NO_MODEL
from benchmark.domain.plots.values import bounds_of, percent, value_line
from core.messages import clauses, gettext_noop, listed

UNIT = "Main figure of each suite (%), repaired parse"
LEVEL = "dashed: chance level"
_HEAD = 20
"""Characters that the head of a panel has room for where several stand in a column of a paper."""


@plot
def models_across(look: Look, models: Sequence[str], suites: Sequence[SuiteMetrics]) -> Drawing:
    """Draw each model's main figure in one panel a suite, with a line at chance."""
    title = gettext_noop("Models across suites")
    if not models or not suites:
        return Drawing(title, NO_MODEL)
    panels = [_panel(suite) for suite in suites]
    level = LEVEL if any(panel.level is not None for panel in panels) else ""
    note = clauses(level, _in_full(suites))
    canvas = dot_plot(models, panels, [Series(key=METRIC, label="Figure")], unit=UNIT, note=note, look=look)
    return Drawing(
        title,
        canvas,
        [
            f"{panel.describe(suite.title, models)}, {_at_chance(panel)}"
            for suite, panel in zip(suites, panels, strict=True)
        ],
    )


def _panel(suite: SuiteMetrics) -> Panel:
    metrics, bounds = [percent(metric) for metric in suite.metrics], [bounds_of(metric) for metric in suite.metrics]
    chance = percent(suite.chance)
    return Panel.of(printable(suite.title), metrics, bounds, chance.value if chance else None)


def _at_chance(panel: Panel) -> str:
    return "no chance level" if panel.level is None else f"chance level {panel.level:.1f}"


def _in_full(suites: Sequence[SuiteMetrics]) -> str:
    """Return the titles that heads of panels have no room for, so that none hides a part, as its method."""
    long = [printable(suite.title) for suite in suites if len(suite.title) > _HEAD]
    return f"in full: {listed(long)}" if long else ""


@plot
def model_across(look: Look, title: str, suites: Sequence[MetricOfSuite]) -> Drawing:
    """Draw one model's main figure in each suite beside the figure at chance."""
    if not suites:
        return Drawing(title, NO_MODEL)
    rows = [{METRIC: percent(suite.metric), "chance": percent(suite.chance)} for suite in suites]
    bounds = [bounds_of(suite.metric) for suite in suites]
    asides = [
        Aside.of("Figure", [row[METRIC] for row in rows]),
        Aside.of("Chance", [row["chance"] for row in rows]),
        Aside("Rank", [suite.rank for suite in suites]),
    ]
    canvas = dot_plot(
        [suite.title for suite in suites],
        [Panel("", rows, bounds)],
        [Series(key=METRIC, label="Figure"), Series.hollow("chance", "Chance level")],
        unit=UNIT,
        look=look,
        asides=asides[:1] if look.narrow else asides,
    )
    lines = [
        value_line(suite.title, ["figure", "chance level"], row.values(), [ends, None]) + f", rank {suite.rank}"
        for suite, row, ends in zip(suites, rows, bounds, strict=True)
    ]
    return Drawing(title, canvas, lines)
