"""Progress of jobs: counts by state, money, tokens, rate and the time that is left."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Case, Count, F, Max, Q, Sum, TextField, Value, When
from django.utils import timezone

from core.messages import Sentence, gettext_noop, labelled, sentences
from core.plain import Json
from workers.domain.outcomes import commonest
from workers.domain.pricing import Money
from workers.models import CAME_BACK, COMPLETED, CallState, Item, ItemState, Job, JobState

Problems = Sequence[tuple[str, int]]
"""(sentence, count) pairs."""


@dataclass(frozen=True, slots=True)
class Lack:
    """`count` of `total` failures or unreadable answers, `times` of them for the reason that `sentence` gives. `what`
    names one of them, and several."""

    what: tuple[str, str]
    count: int
    total: int
    sentence: str
    times: int

    def as_json(self) -> Json:
        return {"count": self.count, "of": self.total, "commonest": self.sentence, "times": self.times}

    @property
    def summary(self) -> str:
        return Sentence(
            "{count} of {total} {what}",
            count=f"{self.count:,}",
            total=f"{self.total:,}",
            what=self.what[self.count > 1],
        )

    def __str__(self) -> str:
        often = Sentence(", {times} times", times=f"{self.times:,}") if self.count > 1 else ""
        return (
            Sentence(
                "{summary}. The commonest reason{often}: {sentence}",
                summary=self.summary,
                often=often,
                sentence=self.sentence,
            )
            if self.sentence
            else Sentence("{text}.", text=self.summary)
        )


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Results that a job lacks: failed items, and unreadable answers; None where there are none."""

    failures: Lack | None = None
    unreadable: Lack | None = None

    def __bool__(self) -> bool:
        return bool(self.failures or self.unreadable)

    def __str__(self) -> str:
        return sentences(*(str(lack) for lack in (self.failures, self.unreadable) if lack))

    @property
    def reason(self) -> str:
        """The sentence for a list, where the number of failures has a column of its own."""
        if self.failures:
            return self.failures.sentence
        if self.unreadable is None:
            return ""
        return (
            labelled(self.unreadable.summary, self.unreadable.sentence)
            if self.unreadable.sentence
            else self.unreadable.summary
        )


def shortfall_of(job: Job, *, total: int, more: Problems = ()) -> Shortfall:
    """Return what a job with `total` items lacks; `more` are failures that its items do not hold."""
    problems = _problems_of([job]).get(job.pk, {})
    return _shortfall(problems, total, more)


def shortfalls_of(totals: Mapping[Job, int]) -> dict[int, Shortfall]:
    """Return by job id what jobs with so many items lack. One query."""
    problems = _problems_of(list(totals))
    return {job.pk: _shortfall(problems.get(job.pk, {}), total, ()) for job, total in totals.items()}


def reasons_of(jobs: Sequence[Job]) -> dict[int, str]:
    """Return by job id what a list says beneath the state, for those jobs that lack something. One query."""
    shortfalls = {job: _shortfall(problems, 0, ()) for job, problems in _problems_of(jobs).items()}
    return {job: shortfall.reason for job, shortfall in shortfalls.items() if shortfall}


_FAILURES = (gettext_noop("items failed"), gettext_noop("items failed"))
_UNREADABLE = (gettext_noop("answers is unreadable"), gettext_noop("answers are unreadable"))


def _shortfall(problems: Mapping[str, Problems], total: int, more: Problems) -> Shortfall:
    unreadable = problems.get(ItemState.UNREADABLE, ())
    answers = sum(times for _, times in [*unreadable, *problems.get(ItemState.DONE, ())])
    failed = [*problems.get(ItemState.FAILED, ()), *more]
    return Shortfall(_lack(_FAILURES, failed, total), _lack(_UNREADABLE, unreadable, answers))


def _lack(what: tuple[str, str], problems: Problems, total: int) -> Lack | None:
    count = sum(times for _, times in problems)
    return Lack(what, count, total, *commonest(problems)) if count else None


def _problems_of(jobs: Sequence[Job]) -> dict[int, dict[str, list[tuple[str, int]]]]:
    """Return by job id and state the (problem, count) pairs of ended items, of done ones without remarks."""
    sentence = Case(When(state=ItemState.DONE, then=Value("")), default=F("problem"), output_field=TextField())
    ended = Item.objects.filter(job__in=jobs, state__in=CAME_BACK)
    rows = ended.order_by().annotate(sentence=sentence).values_list("job", "state", "sentence").annotate(Count("id"))
    problems: dict[int, dict[str, list[tuple[str, int]]]] = defaultdict(lambda: defaultdict(list))
    for job, state, problem, count in rows:
        problems[job][state].append((problem, count))
    return problems


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a job. `cost` is in US dollars, `rate` in items a minute; `seconds_left` is None where it cannot be
    estimated.

    `unpriced` calls are not in `cost`, as their price is unknown; the provider did not report the usage of `estimated`
    answers. `lost` is the part of `cost` that lost answers can have cost at most. Of `waiting`, `held_back` items wait
    for a person, and the last of those that failed before waits until `retry_at`.
    """

    total: int
    done: int
    unreadable: int
    failed: int
    cancelled: int
    in_flight: int
    waiting: int
    made: int
    reused: int
    cost: Decimal
    input_tokens: int
    output_tokens: int
    unknown: int
    rate: float
    seconds_left: float | None
    lost: Decimal = Decimal(0)
    retry_at: datetime | None = None
    held_back: int = 0
    unpriced: int = 0
    estimated: int = 0

    @property
    def money(self) -> Money:
        return Money(self.cost, self.unpriced)

    @property
    def ended_items(self) -> dict[str, int]:
        return {"done": self.done, "failed": self.failed, "unreadable": self.unreadable}

    @property
    def calls(self) -> dict[str, int]:
        """Numbers of calls: those that were made, and answers that the ledger had."""
        return {"made": self.made, "reused": self.reused}

    @property
    def tokens(self) -> dict[str, int]:
        return {"input": self.input_tokens, "output": self.output_tokens}

    @property
    def ended(self) -> int:
        return self.done + self.unreadable + self.failed + self.cancelled


RECENT = timedelta(seconds=30)
"""The time over which the rate is measured."""


def progress_of(job: Job) -> Progress:
    """Return the progress of one job now."""
    return progress_of_all([job])[job.pk]


def progress_of_all(jobs: Sequence[Job], *, now: datetime | None = None) -> dict[int, Progress]:
    """Return by job id how each stands. Two queries, however many the jobs and their items."""
    now = now or timezone.now()
    items = Item.objects.filter(job__in=jobs).order_by()
    counts: dict[int, dict[str, int]] = {job.pk: dict.fromkeys(ItemState.values, 0) for job in jobs}
    for job, state, count in items.values_list("job", "state").annotate(Count("id")):
        counts[job][state] = count
    made, retrying = Q(made=True), Q(state=ItemState.WAITING) & ~Q(problem="")
    # An answer that came after the item had ended was paid by another job.
    own = Q(made=True, call__state__in=COMPLETED, call__finished_at__lte=F("finished_at"))
    sums = items.values("job").annotate(
        total_cost=Sum("cost"),
        own_cost=Sum("call__cost", filter=own),
        retry_at=Max("not_before", filter=retrying),
        total_unpriced=Sum("unpriced"),
        estimated=Count("pk", filter=made & Q(call__usage_told=False)),
        calls=Count("pk", filter=made),
        input=Sum("call__input_tokens", filter=made),
        output=Sum("call__output_tokens", filter=made),
        unknown=Count("pk", filter=Q(call__state=CallState.UNKNOWN)),
        recent=Count("pk", filter=Q(finished_at__gte=now - RECENT)),
    )
    sums_by_job: dict[int, dict[str, Any]] = {row["job"]: dict(row) for row in sums}
    return {job.pk: _progress(job, counts[job.pk], sums_by_job.get(job.pk, {}), now) for job in jobs}


def _progress(job: Job, counts: Mapping[str, int], sums: Mapping[str, Any], now: datetime) -> Progress:
    sums = defaultdict(int, {name: value for name, value in sums.items() if value is not None})
    done, unreadable = counts[ItemState.DONE], counts[ItemState.UNREADABLE]
    unfinished = counts[ItemState.WAITING] + counts[ItemState.CLAIMED] + counts[ItemState.BATCHED]
    span = min(RECENT.total_seconds(), max(1.0, (now - job.created_at).total_seconds()))
    rate = sums["recent"] / span
    running = job.state == JobState.RUNNING
    cost = Decimal(sums["total_cost"])
    return Progress(
        total=sum(counts.values()),
        done=done,
        unreadable=unreadable,
        failed=counts[ItemState.FAILED],
        cancelled=counts[ItemState.CANCELLED],
        in_flight=counts[ItemState.CLAIMED] + counts[ItemState.BATCHED],
        waiting=counts[ItemState.WAITING] + counts[ItemState.HELD],
        held_back=counts[ItemState.HELD],
        made=sums["calls"],
        reused=max(0, done + unreadable - sums["calls"]),
        cost=cost,
        input_tokens=sums["input"],
        output_tokens=sums["output"],
        unknown=sums["unknown"],
        rate=rate * 60,
        seconds_left=unfinished / rate if running and unfinished and rate else None,
        lost=max(Decimal(0), round(cost - sums["own_cost"], 8)),
        retry_at=sums.get("retry_at"),
        unpriced=sums["total_unpriced"],
        estimated=sums["estimated"],
    )
