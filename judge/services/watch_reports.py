"""Findings of a watch: how far each repeat says what was said first, its chart, and what somebody has to look at.

The agreement of a story is that of two bags of things said, 2 |A ∩ B| / (|A| + |B|): of a judge the verdict of every
row (matched, not matched, cannot tell), of a table its rows, of any other answer every value of its repaired
parse by its place. An answer that came and cannot be used does not agree with a first one that could be; where the
first one could not be, or neither says anything, there is nothing to agree with, and no value. Such answers are
counted, and so are those that did not come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

from django.db.models import Count

from benchmark.models import Run, RunItem
from benchmark.services.asking import question_of
from benchmark.services.judge_versions import NO_PART_OF_IT
from benchmark.services.reports import places_of
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import suite_named
from core.kept import kept_as
from core.plain import Json, plain, read_as
from judge.domain.calibration.drift import Batch, Chart, Identity, Watched, batches, changes, chart, watch
from judge.models import AnchorRepeat, AnchorWatch
from judge.models.watch import LATE
from judge.services.studies import cluster_named
from workers.services.planning import BY_RULE
from workers.services.progress import Progress, progress_of_all

DRIFT, IDENTITY, OTHERWISE, UNANSWERED, UNREADABLE, NOT_BEGUN, MISSED = (
    "drift", "identity", "otherwise", "unanswered", "unreadable", "not begun", "missed",
)  # fmt: skip
"""The kinds of what is noticed."""
AnswerCounts = Counter[tuple[Any, ...]]
"""The things that an answer says, each as often as it says it."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """One repeat: its run with the state and money of its work, the agreement of each story that it answered with the
    first verdicts, how many of `asked` questions have no answer and how many one that cannot be used, and what the
    provider said that answered.

    `otherwise` says that the endpoint's settings are no longer those of the first one. `watched` is the chart after
    each story, empty for the first repeats, which the chart is made from.
    """

    row: AnchorRepeat
    progress: Progress | None
    values: Mapping[str, float]
    asked: int
    unanswered: int
    unreadable: int
    identities: Sequence[Identity]
    otherwise: bool = False
    is_baseline: bool = False
    watched: Sequence[Watched] = ()

    @property
    def run(self) -> Run | None:
        return self.row.run

    @property
    def mean(self) -> float | None:
        return sum(self.values.values()) / len(self.values) if self.values else None

    @property
    def alarms(self) -> bool:
        return any(point.alarm for point in self.watched)

    @property
    def highest(self) -> float | None:
        """The highest sum of the chart within it: after an alarm the sum begins anew."""
        return max((point.total for point in self.watched), default=None)

    @property
    def over(self) -> bool:
        """True where nothing more is asked of it."""
        return self.run is None or self.run.job.has_ended

    @property
    def useless(self) -> bool:
        """True where it has answers and none that can be used."""
        return 0 < self.unreadable == self.asked - self.unanswered


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that was noticed at a repeat; `before` and `after` are names, `count` how many."""

    kind: str
    number: int
    at: str
    before: str = ""
    after: str = ""
    count: int = 0

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Concern:
        return read_as(cls, kept)


@dataclass(frozen=True, slots=True)
class WatchReport:
    """The findings of a watch so far. `chart` is None with `no_chart` saying why; `batches` are the repeats' means with
    their limits, in the order of `repeats` that have any answer; `overdue` says that the next repeat should have begun.
    """

    watch: AnchorWatch
    repeats: list[Repeated]
    chart: Chart | None
    no_chart: str
    batches: dict[int, Batch]
    concerns: list[Concern]
    overdue: bool
    answers: int = 0
    """Answers to stories asked again at the start, from which the chart is made."""
    without_level: int = 0
    """Anchors with an answer after the start and none at the start: the chart leaves them out."""

    @property
    def charted(self) -> list[Repeated]:
        return [repeat for repeat in self.repeats if not repeat.row.is_first and not repeat.is_baseline]

    @property
    def is_quiet(self) -> bool:
        """True where every repeat after the start is over, all its answers are in the chart, and nothing was
        noticed."""
        heard = self.chart is not None and not self.without_level
        return heard and not self.concerns and all(repeat.over and repeat.values for repeat in self.charted)


@dataclass(slots=True)
class _Answers:
    """Answers of one repeat: by (model, sample, turn), with the story of each, None where the answer cannot be used;
    how many were asked."""

    counts: dict[tuple[int, int, int], AnswerCounts | None] = field(default_factory=dict)
    cluster: dict[tuple[int, int, int], str] = field(default_factory=dict)
    asked: int = 0

    @property
    def unreadable(self) -> int:
        return sum(counts is None for counts in self.counts.values())


def report_of_watch(watch: AnchorWatch, *, now: datetime) -> WatchReport:
    """Return what a watch found so far."""
    rows = list(watch.repeats.select_related("run__job", "run__judge", "run__dataset", "run__project"))
    runs = [row.run for row in rows if row.run]
    progress, places = progress_of_all([run.job for run in runs]), places_of(runs)
    start = rows[0].run if rows else None
    first = _answers(watch, start, places) if start else _Answers()
    asked_as = _asked_as(watch, start) if start else None
    repeats = [_repeated(watch, row, first, progress, places, asked_as) for row in rows]
    baseline = _baseline(repeats)
    made, why = _chart(watch, baseline)
    repeats = _watched(repeats, made)
    picture = _batches(made, repeats)
    overdue = watch.due_at is not None and watch.due_at < now - LATE
    later = {anchor for repeat in repeats if not repeat.is_baseline for anchor in repeat.values}
    return WatchReport(
        watch=watch,
        repeats=repeats,
        chart=made,
        no_chart=why,
        batches=picture,
        concerns=_concerns(watch, repeats),
        overdue=overdue,
        answers=sum(map(len, baseline.values())),
        without_level=len(later - {*baseline}),
    )


def _baseline(repeats: Sequence[Repeated]) -> dict[str, list[float]]:
    """Return the agreements of each anchor with its first verdicts each time it was asked again at the start."""
    by_anchor: dict[str, list[float]] = {}
    for repeat in repeats:
        if repeat.is_baseline:
            for anchor, value in repeat.values.items():
                by_anchor.setdefault(anchor, []).append(value)
    return dict(sorted(by_anchor.items()))


def _repeated(
    watch: AnchorWatch,
    row: AnchorRepeat,
    first: _Answers,
    progress: Mapping[int, Progress],
    places: Mapping[int, list[int]],
    asked_as: Json | None,
) -> Repeated:
    if row.run is None:
        return Repeated(row, None, {}, 0, 0, 0, ())
    mine = first if row.is_first else _answers(watch, row.run, places)
    values = {} if row.is_first else _agreement(first, mine)
    return Repeated(
        row=row,
        progress=progress.get(row.run.job_id),
        values=values,
        asked=mine.asked,
        unanswered=mine.asked - len(mine.counts),
        unreadable=mine.unreadable,
        identities=_identities(watch, row.run),
        otherwise=asked_as is not None and not row.is_first and _asked_as(watch, row.run) != asked_as,
        is_baseline=row.is_baseline(watch.rounds),
    )


def _asked_as(watch: AnchorWatch, run: Run) -> Json:
    """The settings of the endpoint at the launch of a run, without what can be renamed."""
    if suite_named(run.suite).step(watch.step).judged:
        spec = plain(run.provenance.judge or {})
    else:
        spec = run.entrants.filter(endpoint=watch.asked_id).values_list("spec", flat=True).first() or {}
    return {name: value for name, value in spec.items() if name not in NO_PART_OF_IT}


def _answers(watch: AnchorWatch, run: Run, places: Mapping[int, list[int]]) -> _Answers:
    """Return what is said in the run of a repeat, kept until an answer comes; `places` is `places_of` its run."""
    return kept_as("anchors", [run.uid, watch.step, places[run.pk]], lambda: _read(watch, run))


def _read(watch: AnchorWatch, run: Run) -> _Answers:
    suite, answers = suite_named(run.suite), _Answers()
    items = RunItem.objects.filter(entrant__run=run, step=watch.step)
    items = items.select_related("sample", "entrant__run__dataset", "call").order_by("pk")
    for item in items:
        answers.asked += 1
        if item.call_id is not None:
            turn = item.entrant.position, item.sample.number, item.repetition
            answers.counts[turn] = None if item.unreadable else Counter(_things(suite, run, item))
            answers.cluster[turn] = item.sample.cluster
    return answers


def _things(suite: Suite, run: Run, item: RunItem) -> Iterator[tuple[Any, ...]]:
    repaired, judge = item.repaired or {}, suite.judge
    if suite.step(item.step).judged and judge and judge.kept:
        for side, rows in enumerate(judge.kept(repaired)):
            yield from ((side, place, row.matched) for place, row in enumerate(rows))
    elif judge and judge.tables and suite.judging and item.step in suite.judging.needs:
        try:
            question = question_of(run, item.sample, suite.judging.key, {item.step: item.call.answer})
            predicted, _ = judge.tables(question)
        except SuiteFailed:
            return
        yield from (tuple(" ".join(str(word).split()).lower() for word in row) for row in predicted)
    else:
        yield from _leaves(repaired)


def _leaves(value: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _leaves(part, *path, name)
    elif isinstance(value, (list, tuple)):
        for at, part in enumerate(value):
            yield from _leaves(part, *path, at)
    else:
        yield (*path, value)


def _agreement(first: _Answers, now: _Answers) -> dict[str, float]:
    """Return by story how far it is said again what was said first, over the answers that both have; without stories
    of which nothing can be told."""
    sums: dict[str, list[int]] = {}
    for turn, counts in first.counts.items():
        if counts is not None and turn in now.counts:
            same, both = sums.setdefault(first.cluster[turn], [0, 0])
            again = now.counts[turn] or Counter()
            sums[first.cluster[turn]] = [same + (counts & again).total(), both + counts.total() + again.total()]
    return {cluster: 2 * same / both for cluster, (same, both) in sums.items() if both}


def _identities(watch: AnchorWatch, run: Run) -> list[Identity]:
    """Return what the provider said that answered, the commonest first."""
    judged = suite_named(run.suite).step(watch.step).judged
    steps = [step.key for step in suite_named(run.suite).steps if step.judged] if judged else [watch.step]
    calls = RunItem.objects.filter(entrant__run=run, step__in=steps, call__isnull=False).order_by()
    calls = calls.exclude(call__answered_by=BY_RULE)
    rows = calls.values_list("call__answered_by", "call__fingerprint").annotate(Count("pk"))
    ordered = sorted(rows, key=lambda row: (-row[2], row[0], row[1]))
    return [Identity("", model, mark) for model, mark, _ in ordered]


def _chart(watch: AnchorWatch, baseline: Mapping[str, Sequence[float]]) -> tuple[Chart | None, str]:
    """Return the chart, simulated once for the same answers, or why there is none."""

    def simulated() -> tuple[Chart | None, str]:
        try:
            return chart(baseline, size=watch.drop, seed=watch.seed), ""
        except ValueError as error:
            return None, str(error)

    return kept_as("watch-chart", [watch.seed, watch.drop, dict(baseline)], simulated)


def _watched(repeats: Sequence[Repeated], made: Chart | None) -> list[Repeated]:
    """Return the repeats with the chart after each of their stories, of which every sum goes on from the one before.
    One that was asked otherwise says nothing of drift, nor one that is still asked."""
    charted = [
        repeat
        for repeat in repeats
        if made and not repeat.row.is_first and not repeat.is_baseline and not repeat.otherwise
    ]
    values_by_repeat = {
        repeat.row.pk: [(anchor, value) for anchor, value in sorted(repeat.values.items()) if anchor in made.levels]
        for repeat in charted
        if made
    }
    after = iter(watch(made, [*chain.from_iterable(values_by_repeat.values())]) if made else ())
    points_by_repeat = {pk: [next(after) for _ in values] for pk, values in values_by_repeat.items()}
    return [replace(repeat, watched=points_by_repeat.get(repeat.row.pk, ())) for repeat in repeats]


def _batches(made: Chart | None, repeats: Sequence[Repeated]) -> dict[int, Batch]:
    plotted = [repeat for repeat in repeats if made and repeat.watched]
    dated = [(repeat.row.due_at.isoformat(), repeat.values) for repeat in plotted]
    by_time = batches(made, dated) if made else []
    return {repeat.row.number: batch for repeat, batch in zip(plotted, by_time, strict=True)}


def _concerns(watch: AnchorWatch, repeats: Sequence[Repeated]) -> list[Concern]:
    """Return everything that was noticed, in the order of the repeats. Unreadable answers are told of at the start, and
    after it where there are more of them than ever at the start, or nothing else."""
    concerns = []
    usual = max((repeat.unreadable for repeat in repeats if repeat.row.number <= watch.rounds), default=0)
    for repeat in repeats:
        at = repeat.row.due_at.isoformat()
        concerns += [Concern(MISSED, repeat.row.number, at, count=repeat.row.missed)] if repeat.row.missed else []
        if repeat.run is None:
            concerns.append(Concern(NOT_BEGUN, repeat.row.number, at, after=repeat.row.why_not))
            continue
        if repeat.over and (repeat.unanswered or not repeat.asked):
            concerns.append(Concern(UNANSWERED, repeat.row.number, at, count=repeat.unanswered))
        if repeat.unreadable > (usual if repeat.row.number > watch.rounds else 0) or repeat.useless:
            concerns.append(Concern(UNREADABLE, repeat.row.number, at, count=repeat.unreadable))
        concerns += [Concern(OTHERWISE, repeat.row.number, at)] if repeat.otherwise else []
        concerns += [Concern(DRIFT, repeat.row.number, at)] if repeat.alarms else []
    return sorted([*concerns, *_changed(repeats)], key=lambda concern: concern.number)


def _changed(repeats: Sequence[Repeated]) -> Iterator[Concern]:
    """Yield where another model, or another system, answered most of a repeat than of the one before."""
    rows = {str(repeat.row.number): repeat.row for repeat in repeats}
    seen = [replace(repeat.identities[0], at=str(repeat.row.number)) for repeat in repeats if repeat.identities]
    for before, after in changes(seen):
        row = rows[after.at]
        yield Concern(IDENTITY, row.number, row.due_at.isoformat(), identity_name(before), identity_name(after))


def identity_name(identity: Identity) -> str:
    """Return a model's name with its fingerprint, where there is one."""
    return f"{identity.model} ({identity.fingerprint})" if identity.fingerprint else identity.model


def read_watch(watch: AnchorWatch, *, now: datetime) -> WatchReport:
    """Return what a watch found, and keep what somebody has to look at, for the overview."""
    report = report_of_watch(watch, now=now)
    noted = watch.noted_at.isoformat() if watch.noted_at else ""
    ended = {repeat.row.number: _ended(repeat) for repeat in report.repeats}
    fresh = [plain(concern) for concern in report.concerns if not noted or ended[concern.number] > noted]
    if fresh != watch.concerns:
        watch.keep_concerns(fresh)
    watch.repeats.unread().update(read_at=now)
    return report


def _ended(repeat: Repeated) -> str:
    """Return when what a repeat found was there to be seen."""
    ended = repeat.run.job.finished_at if repeat.run else None
    return (ended or repeat.row.created_at).isoformat()


def read_ended(*, now: datetime) -> int:
    """Read the watches of which a repeat has ended since; returns how many."""
    rows = AnchorRepeat.objects.unread().values("watch")
    watches = list(AnchorWatch.objects.filter(pk__in=rows).select_related("run", "asked"))
    for each in watches:
        read_watch(each, now=now)
    return len(watches)


def line_of_watch(watch: AnchorWatch) -> Json:
    """Return a watch as a list has it; `cluster` is the name of its `stories`, one and many, and `concerns` are those
    that nobody has noted yet."""
    over = cluster_named(watch.run.suite)
    return {
        "watch": watch.uid,
        "run": watch.run.uid,
        "asked": watch.asked.name,
        "step": watch.step,
        "stories": len(watch.anchors),
        "cluster": [over.singular, over.plural],
        "every": watch.every,
        "drop": watch.drop,
        "seed": watch.seed,
        "rounds": watch.rounds,
        "due_at": watch.due_at.isoformat() if watch.due_at else None,
        "concerns": [plain(Concern.from_json(concern)) for concern in watch.concerns],
    }


def document_of_watch(report: WatchReport) -> Json:
    """Return a watch with its chart, every repeat, and everything that was noticed."""
    return line_of_watch(report.watch) | {
        "anchors": report.watch.anchors,
        "overdue": report.overdue,
        "chart": _chart_limits(report.chart) if report.chart else None,
        "no_chart": report.no_chart,
        "without_level": report.without_level,
        "repeats": [_repeat_document(report, repeat) for repeat in report.repeats],
        "noticed": plain(report.concerns),
    }


def _chart_limits(chart: Chart) -> Json:
    names = ("mean", "spread", "limit", "false_alarms", "horizon")
    return {name: getattr(chart, name) for name in names} | {"noticed_half": chart.median, "noticed_most": chart.most}


def _repeat_document(report: WatchReport, repeat: Repeated) -> Json:
    row, batch = repeat.row, report.batches.get(repeat.row.number)
    return {
        "number": row.number,
        "due_at": row.due_at.isoformat(),
        "missed": row.missed,
        "baseline": repeat.is_baseline,
        "run": repeat.run.uid if repeat.run else None,
        "state": repeat.run.job.standing if repeat.run else "not begun",
        "problem": row.why_not,
        "asked": repeat.asked,
        "unanswered": repeat.unanswered,
        "unreadable": repeat.unreadable,
        "agreement": repeat.mean,
        "stories": len(repeat.values),
        "low": batch.low if batch else None,
        "high": batch.high if batch else None,
        "sum": repeat.highest,
        "alarm": repeat.alarms,
        "answered_by": [identity_name(identity) for identity in repeat.identities],
        "asked_otherwise": repeat.otherwise,
        "cost": float(repeat.progress.cost) if repeat.progress else None,
        "unpriced": repeat.progress.unpriced if repeat.progress else 0,
    }
