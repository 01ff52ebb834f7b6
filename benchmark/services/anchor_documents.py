"""Watches as the API and commands have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from benchmark.models import AnchorWatch
from benchmark.services.anchor_charts import Concern, Repeated, WatchReport, identity_name
from benchmark.services.calibration_words import cluster_named
from core.plain import Json, plain
from judge.domain.calibration.drift import Chart


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchLine:
    """A watch in a list; `cluster` is what its `stories` are called, one and many, and `concerns` are what was noticed
    and nobody has noted yet."""

    watch: str
    run: str
    asked: str
    step: str
    stories: int
    cluster: tuple[str, str]
    every: int
    drop: float
    seed: int
    rounds: int
    due_at: str | None
    concerns: Sequence[Concern]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchChart:
    """The limits of a chart: the drop is noticed within `noticed_half` anchors in half of all cases, within
    `noticed_most` in nine of ten."""

    mean: float
    spread: float
    limit: float
    false_alarms: float
    horizon: int
    noticed_half: int | None
    noticed_most: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatDocument:
    """A repeat with the agreement of its answers with the first ones, the limits `low` and `high` of it, the highest
    `sum` of the chart within it, and what it cost in US dollars."""

    number: int
    due_at: str
    missed: int
    baseline: bool
    run: str | None
    state: str
    problem: str
    asked: int
    unanswered: int
    unreadable: int
    agreement: float | None
    stories: int
    low: float | None
    high: float | None
    sum: float | None
    alarm: bool
    answered_by: Sequence[str]
    asked_otherwise: bool
    cost: float | None
    unpriced: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchDocument:
    """A watch with its chart, or why it has none, every repeat, and everything that was noticed. `without_level` counts
    the anchors that were answered after the start only: the chart leaves them out."""

    line: WatchLine
    anchors: Sequence[int]
    overdue: bool
    chart: WatchChart | None
    no_chart: str
    without_level: int
    repeats: Sequence[RepeatDocument]
    noticed: Sequence[Concern]

    def as_json(self) -> Json:
        """Return it with the parts of its line as its own."""
        own = {field.name: plain(getattr(self, field.name)) for field in fields(self) if field.name != "line"}
        return {**plain(self.line), **own}


def line_of_watch(watch: AnchorWatch) -> WatchLine:
    """Return what a list says of a watch."""
    over = cluster_named(watch.run.suite)
    return WatchLine(
        watch=watch.uid,
        run=watch.run.uid,
        asked=watch.asked.name,
        step=watch.step,
        stories=len(watch.anchors),
        cluster=(over.singular, over.plural),
        every=watch.every,
        drop=watch.drop,
        seed=watch.seed,
        rounds=watch.rounds,
        due_at=watch.due_at.isoformat() if watch.due_at else None,
        concerns=[Concern.from_json(concern) for concern in watch.concerns],
    )


def document_of_watch(report: WatchReport) -> WatchDocument:
    """Return what a watch found."""
    return WatchDocument(
        line=line_of_watch(report.watch),
        anchors=report.watch.anchors,
        overdue=report.overdue,
        chart=_chart(report.chart) if report.chart else None,
        no_chart=report.no_chart,
        without_level=report.without_level,
        repeats=[_repeat(report, repeat) for repeat in report.repeats],
        noticed=report.concerns,
    )


def _chart(chart: Chart) -> WatchChart:
    return WatchChart(
        mean=chart.mean, spread=chart.spread, limit=chart.limit, false_alarms=chart.false_alarms,
        horizon=chart.horizon, noticed_half=chart.median, noticed_most=chart.most,
    )  # fmt: skip


def _repeat(report: WatchReport, repeat: Repeated) -> RepeatDocument:
    batch = report.batches.get(repeat.row.number)
    return RepeatDocument(
        number=repeat.row.number,
        due_at=repeat.row.due_at.isoformat(),
        missed=repeat.row.missed,
        baseline=repeat.is_baseline,
        run=repeat.run.uid if repeat.run else None,
        state=repeat.run.job.standing if repeat.run else "not begun",
        problem=repeat.row.why_not,
        asked=repeat.asked,
        unanswered=repeat.unanswered,
        unreadable=repeat.unreadable,
        agreement=repeat.mean,
        stories=len(repeat.values),
        low=batch.low if batch else None,
        high=batch.high if batch else None,
        sum=repeat.highest,
        alarm=repeat.alarms,
        answered_by=[identity_name(identity) for identity in repeat.identities],
        asked_otherwise=repeat.otherwise,
        cost=float(repeat.progress.cost) if repeat.progress else None,
        unpriced=repeat.progress.unpriced if repeat.progress else 0,
    )
