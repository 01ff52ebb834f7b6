"""Reading the ledger: search, and money by endpoint, day and purpose."""

from __future__ import annotations

from datetime import date

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Left, TruncDate

from workers.models import Attempt, Call, CallState

BEGINNING = 100
"""Characters."""


def search(
    *, text: str = "", endpoint: str = "", state: str = "", purpose: str = "", day: date | None = None
) -> QuerySet[Call]:
    """Calls, newest first, each with the beginning of its answer as `said`: fifty whole ones can be hundreds of megabytes.

    `text` is looked for in the question, the answer and the ids, case-insensitively.
    """
    calls = Call.objects.newest_first().select_related("endpoint").defer("body", "answer", "reasoning")
    calls = calls.annotate(said=Left("answer", BEGINNING))
    if text:
        calls = calls.filter(Q(uid=text) | Q(request_id=text) | Q(answer__icontains=text) | Q(body__icontains=text))
    if endpoint:
        calls = calls.filter(endpoint__name=endpoint)
    if state:
        calls = calls.filter(state=state)
    if purpose:
        calls = calls.filter(purpose=purpose)
    if day:
        calls = calls.filter(finished_at__date=day)
    return calls


_SUMS = {
    "calls": Count("id"),
    "total_cost": Sum("cost"),
    "input": Sum("input_tokens"),
    "cached": Sum("cached_tokens"),
    "output": Sum("output_tokens"),
}


def spending(by: str) -> list[dict]:
    """Completed calls, tokens and dollars by `by`: endpoint, day or purpose; days newest first, else the dearest first."""
    calls = Call.objects.completed()
    if by == "day":
        return list(
            calls.annotate(group=TruncDate("finished_at")).values("group").annotate(**_SUMS).order_by("-group")[:60]
        )
    column = {"endpoint": "endpoint__name", "purpose": "purpose"}[by]
    rows = calls.values(column).annotate(**_SUMS).order_by("-total_cost", column)
    return [row | {"group": row[column]} for row in rows]


def totals() -> dict:
    """Everything at once: what was paid, and what may have been paid."""
    paid = Call.objects.completed().aggregate(**_SUMS)
    states = dict(Call.objects.order_by().values_list("state").annotate(Count("id")))
    unknown = Attempt.objects.filter(outcome="unknown").count()
    return paid | {"states": {state: states.get(state, 0) for state in CallState.values}, "unknown_attempts": unknown}
