"""Findings of a watch: how far each repeat says what was said first, its chart, and what somebody has to look at.

The agreement of a story is that of two bags of things said, 2 |A ∩ B| / (|A| + |B|): of a judge the verdict of every
row (matched, not matched, cannot tell), of a table its rows, of any other answer every value of its repaired
parse by its place. An answer that came and cannot be used does not agree with a first one that could be; where the
first one could not be, or neither says anything, there is nothing to agree with, and no value. Such answers are
counted, and so are those that did not come.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count

from benchmark.models import Run, RunItem
from benchmark.services.asking import question_of
from benchmark.services.judges import NO_PART_OF_IT
from benchmark.services.reports import places_of
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import suite_named
from core.kept import kept
from core.plain import Json, plain
from judge.domain.calibration.drift import Batch, Chart, batch, changes, chart
from judge.domain.calibration.drift import watch as watch_chart
from judge.models import AnchorRepeat, AnchorWatch
from judge.models.watch import LATE
from judge.services.studies import cluster_named
from workers.services.planning import BY_RULE
from workers.services.progress import Progress, progress_of_all

DRIFT, IDENTITY, OTHERWISE, UNANSWERED, UNREADABLE, NOT_BEGUN, MISSED = (
    "drift", "identity", "otherwise", "unanswered", "unreadable", "not begun", "missed",
)  # fmt: skip
"""The kinds of what is noticed."""
Turn = tuple[int, int, int]
"""(position of the model, number of the sample, repetition) of an answer."""
Answers = dict[Turn, tuple[str, Counter[tuple[Any, ...]] | None]]
"""The story of each answer, and the things that it says, each as often as it says it. None if it cannot be used."""


@dataclass(slots=True)
class Repeated:
    """One repeat with the state and money of its work: the agreement of each story that it answered with the first
    verdicts, the numbers of `asked` questions without an answer and with one that cannot be used, and the models that
    answered as (name, fingerprint), the most frequent first.

    `otherwise` is True if the endpoint's settings are no longer those of the first one. `points` are the chart's sum
    and alarm after each story, empty for the first repeats, which the chart is made from; `batch` is its mean with the
    limits.
    """

    row: AnchorRepeat
    progress: Progress | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    asked: int = 0
    unanswered: int = 0
    unreadable: int = 0
    identities: Sequence[tuple[str, str]] = ()
    otherwise: bool = False
    is_baseline: bool = False
    points: Sequence[tuple[float, bool]] = ()
    batch: Batch | None = None

    @property
    def run(self) -> Run | None:
        return self.row.run

    @property
    def names(self) -> list[str]:
        """The models that answered, with their fingerprints."""
        return [identity_name(*identity) for identity in self.identities]

    @property
    def mean(self) -> float | None:
        return sum(self.values.values()) / len(self.values) if self.values else None

    @property
    def alarms(self) -> bool:
        return any(alarm for _, alarm in self.points)

    @property
    def highest(self) -> float | None:
        """The highest sum of the chart within it: after an alarm the sum begins at 0."""
        return max((total for total, _ in self.points), default=None)

    @property
    def over(self) -> bool:
        """True if nothing more is asked of it."""
        return self.run is None or self.run.job.has_ended

    @property
    def ended(self) -> str:
        """The time at which its findings could be seen."""
        ended = self.run.job.finished_at if self.run else None
        return (ended or self.row.created_at).isoformat()


@dataclass(frozen=True, slots=True)
class WatchReport:
    """The findings of a watch so far. `chart` is None with the reason `no_chart`. It is made from so many `answers` to
    stories asked again at the start, and leaves out the anchors `without_level`, which have an answer only later.
    `concerns` are everything that was noticed, {"kind", "number", "at", "before", "after", "count"}. `overdue` is True
    if the next repeat should have begun."""

    watch: AnchorWatch
    repeats: list[Repeated]
    chart: Chart | None
    no_chart: str
    concerns: list[Json]
    overdue: bool
    answers: int
    without_level: int

    @property
    def charted(self) -> list[Repeated]:
        return [repeat for repeat in self.repeats if not repeat.row.is_first and not repeat.is_baseline]

    @property
    def is_quiet(self) -> bool:
        """True if every repeat after the start is over, all its answers are in the chart, and nothing was noticed."""
        heard = self.chart is not None and not self.without_level
        return heard and not self.concerns and all(repeat.over and repeat.values for repeat in self.charted)


def report_of_watch(watch: AnchorWatch, *, now: datetime) -> WatchReport:
    """Return the findings of a watch so far."""
    rows = list(watch.repeats.select_related("run__job", "run__judge", "run__dataset", "run__project"))
    repeats = _repeats(watch, rows)
    baseline: dict[str, list[float]] = {}
    for repeat in repeats:
        for anchor, value in repeat.values.items() if repeat.is_baseline else ():
            baseline.setdefault(anchor, []).append(value)
    made, why = _chart(watch, dict(sorted(baseline.items())))
    if made:
        # repeats after the start have the chart after each of their stories, of which every sum goes on from the one
        # before, and their mean with limits; one that was asked otherwise says nothing of drift
        charted = [repeat for repeat in repeats if not (repeat.row.is_first or repeat.is_baseline or repeat.otherwise)]
        stories = [[pair for pair in sorted(repeat.values.items()) if pair[0] in made.levels] for repeat in charted]
        after = iter(watch_chart(made, [pair for of_repeat in stories for pair in of_repeat]))
        for repeat, of_repeat in zip(charted, stories, strict=True):
            repeat.points = [next(after) for _ in of_repeat]
            repeat.batch = batch(made, repeat.values)
    later = {anchor for repeat in repeats if not repeat.is_baseline for anchor in repeat.values}
    return WatchReport(
        watch=watch,
        repeats=repeats,
        chart=made,
        no_chart=why,
        concerns=_concerns(watch, repeats),
        overdue=watch.due_at is not None and watch.due_at < now - LATE,
        answers=sum(map(len, baseline.values())),
        without_level=len(later - baseline.keys()),
    )


def _repeats(watch: AnchorWatch, rows: Sequence[AnchorRepeat]) -> list[Repeated]:
    runs = [row.run for row in rows if row.run]
    progress, places = progress_of_all([run.job for run in runs]), places_of(runs)
    first: Answers = {}
    asked_as: Json | None = None
    repeats = []
    for row in rows:
        if row.run is None:
            repeats.append(Repeated(row))
            continue
        asked, answers = _answers(watch, row.run, places)
        # the settings of the endpoint at the launch, without what can be renamed
        spec: Json = plain(row.run.provenance.judge or {})
        if not suite_named(row.run.suite).step(watch.step).judged:
            spec = row.run.entrants.filter(endpoint=watch.asked_id).values_list("spec", flat=True).first() or {}
        settings = {name: value for name, value in spec.items() if name not in NO_PART_OF_IT}
        if row.is_first:
            first, asked_as = answers, settings
        repeat = Repeated(
            row,
            progress.get(row.run.job_id),
            {} if row.is_first else _agreement(first, answers),
            asked,
            asked - len(answers),
            sum(things is None for _, things in answers.values()),
            _identities(watch, row.run),
            otherwise=asked_as is not None and settings != asked_as,
            is_baseline=row.is_baseline(watch.rounds),
        )
        repeats.append(repeat)
    return repeats


@kept("anchors", depends_on=lambda watch, run, places: [run.uid, watch.step, places[run.pk]])
def _answers(watch: AnchorWatch, run: Run, places: Mapping[int, list[int]]) -> tuple[int, Answers]:
    """Return the number of questions of the run of a repeat, and its answers; `places` is `places_of` its run."""
    suite = suite_named(run.suite)
    asked = RunItem.objects.filter(entrant__run=run, step=watch.step)
    items = list(asked.select_related("sample", "entrant__run__dataset", "call").order_by("pk"))
    answers: Answers = {}
    for item in items:
        if item.call_id is not None:
            things = None if item.unreadable else Counter(_things(suite, run, item))
            turn = item.entrant.position, item.sample.number, item.repetition
            answers[turn] = item.sample.cluster, things
    return len(items), answers


def _things(suite: Suite, run: Run, item: RunItem) -> Iterator[tuple[Any, ...]]:
    repaired, judge = item.repaired or {}, suite.judge
    if suite.step(item.step).judged and judge and judge.kept:
        for side, rows in enumerate(judge.kept(repaired)):
            yield from ((side, place, row.matched) for place, row in enumerate(rows))
    elif judge and judge.tables and suite.judging and item.step in suite.judging.needs:
        assert item.call, "items without an answer have nothing to compare"
        try:
            question = question_of(run, item.sample, suite.judging.key, {item.step: item.call.answer})
            predicted, _ = judge.tables(question)
        except SuiteFailed:
            return
        yield from (tuple(" ".join(str(word).split()).lower() for word in row) for row in predicted)
    else:
        yield from _leaves(repaired)


def _leaves(value: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, (Mapping, list, tuple)):
        for name, part in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _leaves(part, *path, name)
    else:
        yield (*path, value)


def _agreement(first: Answers, now: Answers) -> dict[str, float]:
    """Return by story the agreement with the first answers, over the answers that both have. Stories of which nothing
    can be told are omitted."""
    sums: dict[str, list[int]] = {}
    for turn, (cluster, things) in first.items():
        if things is not None and turn in now:
            again = now[turn][1] or Counter()
            total = sums.setdefault(cluster, [0, 0])
            total[0] += (things & again).total()
            total[1] += things.total() + again.total()
    return {cluster: 2 * same / both for cluster, (same, both) in sums.items() if both}


def _identities(watch: AnchorWatch, run: Run) -> list[tuple[str, str]]:
    """Return the models, and fingerprints, that the provider said answered, the most frequent first."""
    suite = suite_named(run.suite)
    steps = [step.key for step in suite.steps if step.judged] if suite.step(watch.step).judged else [watch.step]
    calls = RunItem.objects.filter(entrant__run=run, step__in=steps, call__isnull=False).order_by()
    rows = calls.exclude(call__answered_by=BY_RULE).values_list("call__answered_by", "call__fingerprint")
    ordered = sorted(rows.annotate(Count("pk")), key=lambda row: (-row[2], row[0], row[1]))
    return [(model, mark) for model, mark, _ in ordered]


@kept("watch-chart", depends_on=lambda watch, baseline: [watch.seed, watch.drop, baseline])
def _chart(watch: AnchorWatch, baseline: Mapping[str, Sequence[float]]) -> tuple[Chart | None, str]:
    """Return the chart, or the reason why there is none."""
    try:
        return chart(baseline, size=watch.drop, seed=watch.seed), ""
    except ValueError as error:
        return None, str(error)


def _concerns(watch: AnchorWatch, repeats: Sequence[Repeated]) -> list[Json]:
    """Return everything that was noticed, in the order of the repeats. Unreadable answers at the start are noticed;
    later ones only if there are more of them than ever at the start, or nothing else."""
    concerns: list[Json] = []

    def notice(kind: str, row: AnchorRepeat, before: str = "", after: str = "", count: int = 0) -> None:
        at = row.due_at.isoformat()
        concern = {"kind": kind, "number": row.number, "at": at, "before": before, "after": after, "count": count}
        concerns.append(concern)

    usual = max((repeat.unreadable for repeat in repeats if repeat.row.number <= watch.rounds), default=0)
    for repeat in repeats:
        row, answered = repeat.row, repeat.asked - repeat.unanswered
        if row.missed:
            notice(MISSED, row, count=row.missed)
        if repeat.run is None:
            notice(NOT_BEGUN, row, after=row.why_not)
            continue
        if repeat.over and (repeat.unanswered or not repeat.asked):
            notice(UNANSWERED, row, count=repeat.unanswered)
        if repeat.unreadable > (usual if row.number > watch.rounds else 0) or 0 < repeat.unreadable == answered:
            notice(UNREADABLE, row, count=repeat.unreadable)
        if repeat.otherwise:
            notice(OTHERWISE, row)
        if repeat.alarms:
            notice(DRIFT, row)
    # where another model, or another system, answered most of a repeat than of the one before
    answered_by = [(repeat.row, repeat.identities[0]) for repeat in repeats if repeat.identities]
    for at, mark in changes([identity for _, identity in answered_by]):
        before, after = identity_name(answered_by[at - 1][1][0], mark), identity_name(*answered_by[at][1])
        notice(IDENTITY, answered_by[at][0], before, after)
    return sorted(concerns, key=lambda concern: concern["number"])


def identity_name(model: str, fingerprint: str) -> str:
    """Return a model's name with its fingerprint, if it has one."""
    return f"{model} ({fingerprint})" if fingerprint else model


def read_watch(watch: AnchorWatch, *, now: datetime) -> WatchReport:
    """Return the findings of a watch, and keep the concerns that nobody has noted yet, for the overview."""
    report = report_of_watch(watch, now=now)
    noted = watch.noted_at.isoformat() if watch.noted_at else ""
    ended = {repeat.row.number: repeat.ended for repeat in report.repeats}
    fresh = [concern for concern in report.concerns if not noted or ended[concern["number"]] > noted]
    if fresh != watch.concerns:
        watch.keep_concerns(fresh)
    watch.repeats.unread().update(read_at=now)
    return report


def read_ended(*, now: datetime) -> int:
    """Read the watches of which a repeat has ended since; return how many."""
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
        **{name: getattr(watch, name) for name in ("every", "drop", "seed", "rounds")},
        "due_at": watch.due_at.isoformat() if watch.due_at else None,
        "concerns": watch.concerns,
    }


def document_of_watch(report: WatchReport) -> Json:
    """Return a watch with its chart, every repeat, and everything that was noticed."""
    limits: Json | None = None
    if made := report.chart:
        limits = {name: getattr(made, name) for name in ("mean", "spread", "limit", "false_alarms", "horizon")}
        limits |= {"noticed_half": made.median, "noticed_most": made.most}
    return line_of_watch(report.watch) | {
        "anchors": report.watch.anchors,
        "overdue": report.overdue,
        "chart": limits,
        "no_chart": report.no_chart,
        "without_level": report.without_level,
        "repeats": [_repeat_document(repeat) for repeat in report.repeats],
        "noticed": report.concerns,
    }


def _repeat_document(repeat: Repeated) -> Json:
    row, mean = repeat.row, repeat.batch
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
        "low": mean.low if mean else None,
        "high": mean.high if mean else None,
        "sum": repeat.highest,
        "alarm": repeat.alarms,
        "answered_by": repeat.names,
        "asked_otherwise": repeat.otherwise,
        "cost": float(repeat.progress.cost) if repeat.progress else None,
        "unpriced": repeat.progress.unpriced if repeat.progress else 0,
    }
