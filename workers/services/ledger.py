"""Reading the ledger: search, and money by endpoint, day and handler."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Left, TruncDate

from core.ids import new_uid
from workers.domain.pricing import Money
from workers.models import Attempt, Call, Endpoint, Item, Job
from workers.providers.contract import Completion, Stop, Usage
from workers.providers.registry import IMPORTED
from workers.services.delivery import deliver
from workers.services.recording import STATES

_AT_ONCE = 500
_COLUMNS = ("uid", "key", "endpoint", "provider", "model", "body", "sample", "handler", "planned_at")


@dataclass(frozen=True, slots=True)
class ImportedAnswer:
    """One answer: `item` is the key of its item, `key` unique in the ledger, `body` JSON of what was sent as far as it
    is known, `sample` its repetition, `tokens` (in, out), `reasoning` what the model wrote apart from the answer."""

    item: str
    key: str
    body: str
    sample: int
    answer: str
    answered_by: str = ""
    tokens: tuple[int, int] = (0, 0)
    reasoning: str = ""


def take_in(
    *, job: Job, endpoint: Endpoint, answers: Sequence[ImportedAnswer], missing: Mapping[str, str], now: datetime
) -> None:
    """Give waiting items their answers and deliver them; those `missing`, by their keys, fail with the sentence."""
    keys = [*(answer.item for answer in answers), *missing]
    items = {item.key: item for item in Item.objects.filter(job=job, key__in=keys).select_related("job")}
    Item.objects.fail_unasked({items[key].pk: why for key, why in missing.items()}, now=now)
    for at in range(0, len(answers), _AT_ONCE):
        part = {answer.key: answer for answer in answers[at : at + _AT_ONCE]}
        rows = [
            (new_uid(), key, endpoint.pk, endpoint.provider, endpoint.model, answer.body, answer.sample, IMPORTED, now)
            for key, answer in part.items()
        ]
        Call.objects.plan(_COLUMNS, rows)
        calls = list(Call.objects.filter(key__in=part))
        for call in calls:
            answer = part[call.key]
            usage = Usage(input=answer.tokens[0], output=answer.tokens[1], reported=any(answer.tokens))
            completion = Completion(answer.answer, Stop.END, usage, answer.answered_by, answer.reasoning)
            call.take_answer(
                STATES[completion.stop], finished_at=now, answer=completion.text, reasoning=completion.reasoning,
                problem=completion.problem, answered_by=completion.model,
                cost=None, input_tokens=usage.input, output_tokens=usage.output, usage_told=usage.reported,
            )  # fmt: skip
        Call.objects.answer(calls)
        pairs = [(items[part[call.key].item], call) for call in calls]
        Item.objects.attach({item.pk: call.pk for item, call in pairs})
        deliver(pairs, now=now)


def take_back(job: Job) -> None:
    """Delete the items of a job whose answers were imported, and these answers, in the caller's transaction."""
    calls = list(Call.objects.filter(items__job=job, handler=IMPORTED).values_list("pk", flat=True))
    Item.objects.filter(job=job).delete()
    Call.objects.filter(pk__in=calls).delete()


BEGINNING = 100
"""Characters of an answer that a list shows."""


def search(
    *, text: str = "", endpoint: str = "", state: str = "", handler: str = "", day: date | None = None
) -> QuerySet[Call]:
    """Return calls, newest first, each with the beginning of its answer as `beginning`: fifty whole answers can be
    hundreds of megabytes.

    `text` is looked for in the question, the answer and the ids, case-insensitively.
    """
    calls = Call.objects.order_by("-id").select_related("endpoint").defer("body", "answer", "reasoning")
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


def spending(by: str) -> list[dict[str, Any]]:
    """Return the sums over completed calls by endpoint, day or handler; days newest first, the others dearest first."""
    calls: Any = Call.objects.completed()
    if by == "day":
        rows = calls.annotate(group=TruncDate("finished_at")).values("group").annotate(**_SUMS).order_by("-group")[:60]
    else:
        column = {"endpoint": "endpoint__name", "handler": "handler"}[by]
        rows = calls.values(group=F(column)).annotate(**_SUMS).order_by("-total_cost", "group")
    return [_with_money(row) for row in rows]


def totals() -> dict[str, Any]:
    """Return the sums over all completed calls of the ledger."""
    return _with_money(Call.objects.completed().aggregate(**_SUMS))


def _with_money(sums: dict[str, Any]) -> dict[str, Any]:
    return sums | {"money": Money(sums["total_cost"], sums["unpriced"])}


def lost_answers() -> dict[str, Any]:
    """Return the number of lost answers, their cost `at_most`, and how many calls were sent again afterwards."""
    sums = Attempt.objects.lost().aggregate(
        attempts=Count("pk"),
        total=Sum("call__reserved_cost", default=Decimal(0)),
        unpriced=Count("pk", filter=Q(call__reserved_cost__isnull=True)),
        sent_again=Count("pk", filter=Q(number__lt=F("call__attempts_made"))),
    )
    return sums | {"at_most": Money(sums["total"], sums["unpriced"])}
