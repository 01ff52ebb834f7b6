"""Reading the ledger: search, and money by endpoint, day and handler."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Left, TruncDate

from workers.domain.pricing import Money
from workers.models import Attempt, Call

BEGINNING = 100
"""Characters of an answer that a list shows."""


def search(
    *, text: str = "", endpoint: str = "", state: str = "", handler: str = "", day: date | None = None
) -> QuerySet[Call]:
    """Return calls, newest first, each with the beginning of its answer as `beginning`: fifty whole answers can be
    hundreds of megabytes.

    `text` is looked for in the question, the answer and the ids, case-insensitively.
    """
    calls = Call.objects.newest_first().select_related("endpoint").defer("body", "answer", "reasoning")
    calls = calls.annotate(beginning=Left("answer", BEGINNING))
    if text:
        calls = calls.filter(Q(uid=text) | Q(request_id=text) | Q(answer__icontains=text) | Q(body__icontains=text))
    if endpoint:
        calls = calls.filter(endpoint__name=endpoint)
    if state:
        calls = calls.filter(state=state)
    if handler:
        calls = calls.filter(handler=handler)
    if day:
        calls = calls.filter(finished_at__date=day)
    return calls


_SUMS = {
    "calls": Count("id"),
    "total_cost": Sum("cost", default=Decimal(0)),
    "unpriced": Count("id", filter=Q(cost__isnull=True)),
    "estimated": Count("id", filter=Q(usage_told=False)),
    "input": Sum("input_tokens"),
    "cached": Sum("cached_tokens"),
    "output": Sum("output_tokens"),
}


@dataclass(frozen=True, slots=True)
class Spent:
    """Sums of a group of completed calls: how many, in US dollars, with how many of unknown price and how many of
    estimated usage, and tokens, None where there are no calls."""

    calls: int
    total_cost: Decimal
    unpriced: int
    estimated: int
    input: int | None
    cached: int | None
    output: int | None
    group: Any = None

    @property
    def money(self) -> Money:
        return Money(self.total_cost, self.unpriced)


def spending(by: str) -> list[Spent]:
    """Return completed calls by endpoint, day or handler; days newest first, the others dearest first."""
    calls = Call.objects.completed()
    if by == "day":
        days = calls.annotate(group=TruncDate("finished_at")).values("group").annotate(**_SUMS).order_by("-group")[:60]
        return [Spent(**row) for row in days]
    column = {"endpoint": "endpoint__name", "handler": "handler"}[by]
    rows = calls.values(group=F(column)).annotate(**_SUMS).order_by("-total_cost", "group")
    return [Spent(**row) for row in rows]


def totals() -> Spent:
    """Return the sums over all completed calls of the ledger."""
    return Spent(**Call.objects.completed().aggregate(**_SUMS))


@dataclass(frozen=True, slots=True)
class LostAnswers:
    """Count of lost answers, what they can have cost at most, and after how many of them the same call was sent
    again."""

    attempts: int
    at_most: Money
    sent_again: int


def lost_answers() -> LostAnswers:
    """Count the attempts whose answer was lost."""
    sums = Attempt.objects.lost().aggregate(
        attempts=Count("pk"),
        at_most=Sum("call__reserved_cost", default=Decimal(0)),
        unpriced=Count("pk", filter=Q(call__reserved_cost__isnull=True)),
        sent_again=Count("pk", filter=Q(number__lt=F("call__attempts_made"))),
    )
    return LostAnswers(sums["attempts"], Money(sums["at_most"], sums["unpriced"]), sums["sent_again"])
