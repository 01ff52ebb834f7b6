"""Watches as plain data, for the API and for commands."""

from __future__ import annotations

from benchmark.models import AnchorWatch
from benchmark.services.anchor_charts import Repeated, WatchReport, identity_name
from benchmark.services.calibration_words import cluster_named
from core.plain import Json


def line_of_watch(watch: AnchorWatch) -> Json:
    """Return what a list says of a watch; `cluster` is what its `stories` are called, one and many."""
    over = cluster_named(watch.run.suite)
    return {
        "watch": watch.uid, "run": watch.run.uid, "asked": watch.asked.name, "step": watch.step,
        "stories": len(watch.anchors), "cluster": [over.singular, over.plural],
        "every": watch.every, "drop": watch.drop, "seed": watch.seed,
        "rounds": watch.rounds, "due_at": watch.due_at.isoformat() if watch.due_at else None,
        "concerns": watch.concerns,
    }  # fmt: skip


def document_of_watch(report: WatchReport) -> Json:
    """Return a watch with its chart, every repeat, and everything that was noticed."""
    chart = report.chart
    limits = None if chart is None else {
        "mean": chart.mean, "spread": chart.spread, "limit": chart.limit, "false_alarms": chart.false_alarms,
        "horizon": chart.horizon, "noticed_half": chart.median, "noticed_most": chart.most,
    }  # fmt: skip
    return line_of_watch(report.watch) | {
        "anchors": report.watch.anchors, "overdue": report.overdue, "chart": limits, "no_chart": report.no_chart,
        "repeats": [_repeat(report, repeat) for repeat in report.repeats],
        "noticed": [concern.document for concern in report.concerns],
    }  # fmt: skip


def _repeat(report: WatchReport, repeat: Repeated) -> Json:
    batch = report.batches.get(repeat.row.number)
    return {
        "number": repeat.row.number, "due_at": repeat.row.due_at.isoformat(), "missed": repeat.row.missed,
        "baseline": repeat.is_baseline, "run": repeat.run.uid if repeat.run else None,
        "state": repeat.run.job.standing if repeat.run else "not begun", "problem": repeat.row.why_not,
        "asked": repeat.asked, "unanswered": repeat.unanswered, "unusable": repeat.unusable,
        "agreement": repeat.mean, "stories": len(repeat.values),
        "low": batch.low if batch else None, "high": batch.high if batch else None,
        "sum": repeat.highest, "alarm": repeat.alarms,
        "answered_by": [identity_name(identity) for identity in repeat.identities], "asked_otherwise": repeat.otherwise,
        "cost": float(repeat.progress.cost) if repeat.progress else None,
        "unpriced": repeat.progress.unpriced if repeat.progress else 0,
    }  # fmt: skip
