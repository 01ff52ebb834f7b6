"""Why items of jobs failed: how many of how many, and the commonest sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from workers.domain.outcomes import commonest
from workers.models import Item, ItemState, Job


@dataclass(frozen=True, slots=True)
class Failures:
    """`count` of `total` items failed; `times` of them for the reason that `sentence` gives."""

    count: int
    total: int
    sentence: str
    times: int

    def as_json(self) -> dict[str, Any]:
        return {"count": self.count, "of": self.total, "commonest": self.sentence, "times": self.times}

    def __str__(self) -> str:
        told = f"{self.count:,} of {self.total:,} items failed"
        often = f", {self.times:,} times" if self.count > 1 else ""
        return f"{told}. The commonest reason{often}: {self.sentence}" if self.sentence else f"{told}."


def failures_of(job: Job, *, total: int, more: Sequence[tuple[str, int]] = ()) -> Failures | None:
    """Failures among the `total` items of a job, None without any; `more` are (problem, count) pairs that its items do not hold."""
    problems = [*problems_of([job]).get(job.pk, ()), *more]
    count = sum(times for _, times in problems)
    return Failures(count, total, *commonest(problems)) if count else None


def problems_of(jobs: Sequence[Job]) -> dict[int, list[tuple[str, int]]]:
    """(problem, count) of the failed items by job id. One query."""
    rows = Item.objects.filter(job__in=jobs, state=ItemState.FAILED).order_by().values_list("job", "problem")
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for job, problem, count in rows.annotate(Count("id")):
        found[job].append((problem, count))
    return dict(found)


def reasons_of(jobs: Sequence[Job]) -> dict[int, str]:
    """The commonest problem by job id, of those that have failed items. One query."""
    return {job: commonest(problems)[0] for job, problems in problems_of(jobs).items()}
