"""The charts of a watch, over the same repeats: means with their limits, and the cumulative sum with its limit."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from benchmark.services.anchor_charts import Repeated, WatchReport
from core.messages import clauses
from core.views.charts import PERCENT, Axis
from core.views.control_charts import ControlChart, Repeat, control_chart
from judge.domain.calibration.drift import Batch, Chart

MOST_DRAWN = 40
"""Repeats in a picture: the newest."""
MOST_TICKS = 4


def charts_of(report: WatchReport) -> list[ControlChart]:
    """Return the charts of a watch; none of them where no repeat can be drawn yet."""
    drawn = [repeat for repeat in report.charted if repeat.row.number in report.batches][-MOST_DRAWN:]
    if not drawn or report.chart is None:
        return []
    return [
        _means(report.chart, drawn, [report.batches[repeat.row.number] for repeat in drawn]),
        _sums(report.chart, drawn),
    ]


def _means(chart: Chart, repeats: Sequence[Repeated], batches: Sequence[Batch]) -> ControlChart:
    pairs = list(zip(repeats, batches, strict=True))
    axis = Axis.of([chart.mean, 1.0, *(min(batch.low, batch.mean) for batch in batches)])
    in_words = clauses(*(_in_words(repeat, batch) for repeat, batch in pairs))
    return control_chart(
        "means",
        [
            Repeat(
                label=str(repeat.row.number),
                value=batch.mean,
                limits=(batch.low, batch.high),
                alarms=repeat.alarms,
                out=repeat.alarms or batch.outside,
            )
            for repeat, batch in pairs
        ],
        axis,
        title=f"{_('Agreement with the first answers, by repeat:')} {in_words}",
        caption=_(
            "Mean agreement of each repeat (dot). The bar holds an unchanged one in all but one of some hundred "
            "repeats (three standard errors, of the same anchors); the dashed line is the mean at the start."
        ),
        ticks=[(tick, PERCENT.tick(tick)) for tick in axis.ticks(MOST_TICKS)],
        line=(chart.mean, ""),
    )


def _sums(chart: Chart, repeats: Sequence[Repeated]) -> ControlChart:
    values = [repeat.highest or 0.0 for repeat in repeats]
    return control_chart(
        "sums",
        [
            Repeat(label=str(repeat.row.number), value=value, alarms=repeat.alarms, out=repeat.alarms)
            for repeat, value in zip(repeats, values, strict=True)
        ],
        Axis(0.0, 1.15 * max([chart.limit, *values])),
        title=_("Cumulative sum of what agreement falls short of, by repeat, with the limit beyond which it alarms"),
        caption=_(
            "What each anchor falls short of its own level at the start, less an allowance, added up from one to the "
            "next; the point is "
            "the highest sum of a repeat. Beyond the limit the chart alarms, and the sum begins anew."
        ),
        line=(chart.limit, _("limit")),
    )


def _in_words(repeat: Repeated, batch: Batch) -> str:
    mean, low, high = (f"{100 * value:.1f}" for value in (batch.mean, batch.low, batch.high))
    text = _("repeat {number}: {mean} %, limits {low} to {high} %").format(
        number=repeat.row.number, mean=mean, low=low, high=high
    )
    return text + (_("; the chart alarms") if repeat.alarms else "")
