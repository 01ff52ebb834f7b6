"""Answers that were made elsewhere, taken in as answers that the ledger has: whatever reads answers finds them there.
Nothing is asked, and what they cost is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.ids import new_uid
from workers.models import Call, Endpoint, Item, Job
from workers.providers.contract import Completion, Stop, Usage
from workers.providers.imported import IMPORTED
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
    """Give waiting items of a job their answers and deliver them, in the caller's transaction, which ends the job;
    those `missing`, by the key of the item, fail with the sentence."""
    keys = [*(answer.item for answer in answers), *missing]
    items = {item.key: item for item in Item.objects.filter(job=job, key__in=keys).select_related("job")}
    Item.objects.fail_unasked({items[key].pk: why for key, why in missing.items()}, now=now)
    for at in range(0, len(answers), _AT_ONCE):
        part = {answer.key: answer for answer in answers[at : at + _AT_ONCE]}
        calls = _calls(endpoint, part, now)
        pairs = [(items[part[call.key].item], call) for call in calls]
        Item.objects.attach({item.pk: call.pk for item, call in pairs})
        deliver(pairs, now=now)


def take_back(job: Job) -> None:
    """Delete the items of a job whose answers were imported, and these answers, in the caller's transaction."""
    calls = list(Call.objects.filter(items__job=job, handler=IMPORTED).values_list("pk", flat=True))
    Item.objects.filter(job=job).delete()
    Call.objects.filter(pk__in=calls).delete()


def _calls(endpoint: Endpoint, answers: Mapping[str, ImportedAnswer], now: datetime) -> list[Call]:
    """Write answers to the ledger, by key, and return their calls."""
    rows = [
        (new_uid(), key, endpoint.pk, endpoint.provider, endpoint.model, answer.body, answer.sample, IMPORTED, now)
        for key, answer in answers.items()
    ]
    Call.objects.plan(_COLUMNS, rows)
    calls = list(Call.objects.filter(key__in=answers))
    for call in calls:
        answer = answers[call.key]
        usage = Usage(input=answer.tokens[0], output=answer.tokens[1], reported=any(answer.tokens))
        completion = Completion(answer.answer, Stop.END, usage, answer.answered_by, answer.reasoning)
        call.take_answer(
            STATES[completion.stop], finished_at=now, answer=completion.text, reasoning=completion.reasoning,
            problem=completion.problem, answered_by=completion.model,
            cost=None, input_tokens=usage.input, output_tokens=usage.output, usage_told=usage.reported,
        )  # fmt: skip
    Call.objects.answer(calls)
    return calls
