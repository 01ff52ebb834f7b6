"""Failures of jobs: items that failed and answers that are unreadable, how many of how many, and the commonest sentence
of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from django.db.models import Case, Count, F, TextField, Value, When

from core.messages import Sentence, gettext_noop, labelled, sentences
from core.plain import Json
from workers.domain.outcomes import commonest
from workers.models import CAME_BACK, Item, ItemState, Job

Problems = Sequence[tuple[str, int]]
"""(sentence, count) pairs."""


@dataclass(frozen=True, slots=True)
class Lack:
    """A number of failures: `count` of `total`, `times` of them for the reason that `sentence` gives."""

    what: ClassVar[tuple[str, str]]
    count: int
    total: int
    sentence: str
    times: int

    @classmethod
    def of(cls, problems: Problems, total: int) -> Self | None:
        """Return what the problems come to, None without any."""
        count = sum(times for _, times in problems)
        return cls(count, total, *commonest(problems)) if count else None

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


class Failures(Lack):
    what = (gettext_noop("items failed"), gettext_noop("items failed"))


class UnreadableAnswers(Lack):
    what = (gettext_noop("answers is unreadable"), gettext_noop("answers are unreadable"))


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Results that a job lacks: failed items, and unreadable answers; None where there are none."""

    failures: Failures | None = None
    unreadable: UnreadableAnswers | None = None

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


def _shortfall(problems: Mapping[str, Problems], total: int, more: Problems) -> Shortfall:
    unreadable = problems.get(ItemState.UNREADABLE, ())
    answers = _sum(unreadable) + _sum(problems.get(ItemState.DONE, ()))
    failed = [*problems.get(ItemState.FAILED, ()), *more]
    return Shortfall(Failures.of(failed, total), UnreadableAnswers.of(unreadable, answers))


def _sum(problems: Iterable[tuple[str, int]]) -> int:
    return sum(times for _, times in problems)


def _problems_of(jobs: Sequence[Job]) -> dict[int, dict[str, list[tuple[str, int]]]]:
    """Return by job id and state the (problem, count) pairs of ended items; done items are counted without their
    remarks."""
    sentence = Case(When(state=ItemState.DONE, then=Value("")), default=F("problem"), output_field=TextField())
    ended = Item.objects.filter(job__in=jobs, state__in=CAME_BACK)
    rows = ended.order_by().annotate(sentence=sentence).values_list("job", "state", "sentence").annotate(Count("id"))
    problems: dict[int, dict[str, list[tuple[str, int]]]] = defaultdict(lambda: defaultdict(list))
    for job, state, problem, count in rows:
        problems[job][state].append((problem, count))
    return problems
