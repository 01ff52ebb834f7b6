"""What jobs lack and why: items that failed, answers that are unusable, how many of how many, and the commonest sentence of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import Case, Count, F, TextField, Value, When

from workers.domain.outcomes import commonest
from workers.models import Item, ItemState, Job

Problems = Sequence[tuple[str, int]]
"""(sentence, how often) pairs."""


@dataclass(frozen=True, slots=True)
class Lack:
    """`count` of `total`; `times` of them for the reason that `sentence` gives."""

    what: ClassVar[tuple[str, str]]
    count: int
    total: int
    sentence: str
    times: int

    @classmethod
    def of(cls, problems: Problems, total: int) -> Lack | None:
        """None without any."""
        count = sum(times for _, times in problems)
        return cls(count, total, *commonest(problems)) if count else None

    def as_json(self) -> dict[str, Any]:
        return {"count": self.count, "of": self.total, "commonest": self.sentence, "times": self.times}

    @property
    def told(self) -> str:
        return f"{self.count:,} of {self.total:,} {self.what[self.count > 1]}"

    def __str__(self) -> str:
        often = f", {self.times:,} times" if self.count > 1 else ""
        return f"{self.told}. The commonest reason{often}: {self.sentence}" if self.sentence else f"{self.told}."


class Failures(Lack):
    what = ("items failed", "items failed")


class Unusable(Lack):
    what = ("answers is unusable", "answers are unusable")


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What failed among the items, and what is unusable among the answers, of a job; None where nothing is."""

    failures: Failures | None = None
    unusable: Unusable | None = None

    def __bool__(self) -> bool:
        return bool(self.failures or self.unusable)

    def __str__(self) -> str:
        return " ".join(str(one) for one in (self.failures, self.unusable) if one)

    @property
    def reason(self) -> str:
        """In a list, where the number of failures has a column of its own."""
        if self.failures:
            return self.failures.sentence
        return f"{self.unusable.told}: {self.unusable.sentence}".rstrip(": ") if self.unusable else ""


def shortfall_of(job: Job, *, total: int, more: Problems = ()) -> Shortfall:
    """Of a job with `total` items; `more` are failures that its items do not hold."""
    found = _problems_of([job]).get(job.pk, {})
    return _shortfall(found, total, more)


def shortfalls_of(totals: Mapping[Job, int]) -> dict[int, Shortfall]:
    """By job id, of jobs with so many items each. One query."""
    held = _problems_of(list(totals))
    return {job.pk: _shortfall(held.get(job.pk, {}), total, ()) for job, total in totals.items()}


def reasons_of(jobs: Sequence[Job]) -> dict[int, str]:
    """By job id what a list says beneath the state, of those jobs that lack something. One query."""
    held = {job: _shortfall(found, 0, ()) for job, found in _problems_of(jobs).items()}
    return {job: one.reason for job, one in held.items() if one}


def told_of(job: Job, shortfall: Shortfall) -> dict[str, Any]:
    """The state of a job, what failed, and what is unusable of the answers: None where nothing is."""
    failures, unusable = shortfall.failures, shortfall.unusable
    return {
        "state": job.standing,
        "failures": failures.as_json() if failures else None,
        "unusable_answers": unusable.as_json() if unusable else None,
    }


def _shortfall(found: Mapping[str, Problems], total: int, more: Problems) -> Shortfall:
    unusable = found.get(ItemState.UNUSABLE, ())
    answers = _sum(unusable) + _sum(found.get(ItemState.DONE, ()))
    failed = [*found.get(ItemState.FAILED, ()), *more]
    return Shortfall(Failures.of(failed, total), Unusable.of(unusable, answers))


def _sum(problems: Iterable[tuple[str, int]]) -> int:
    return sum(times for _, times in problems)


def _problems_of(jobs: Sequence[Job]) -> dict[int, dict[str, list[tuple[str, int]]]]:
    """(problem, count) of the ended items by job id and state; what is done is counted without its remarks."""
    said = Case(When(state=ItemState.DONE, then=Value("")), default=F("problem"), output_field=TextField())
    ended = Item.objects.filter(job__in=jobs, state__in=[ItemState.DONE, ItemState.UNUSABLE, ItemState.FAILED])
    rows = ended.order_by().annotate(said=said).values_list("job", "state", "said").annotate(Count("id"))
    found: dict[int, dict[str, list[tuple[str, int]]]] = defaultdict(lambda: defaultdict(list))
    for job, state, problem, count in rows:
        found[job][state].append((problem, count))
    return found
