"""Items of a run as data: the answer with both parses of it, and on demand the prompt and what its sample holds."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from benchmark.models import RunItem
from benchmark.services.item_detail import messages_of
from benchmark.services.items import state_of
from core.plain import Json

_LONG = ("sample__content", "sample__gold", "sample__votes", "sample__methods", "sample__adjudications")


def items_with_answers(items: QuerySet[RunItem], *, full: bool) -> QuerySet[RunItem]:
    """Load what `item_data` writes; of samples the long fields only where it is `full`."""
    rows = items.select_related("sample", "entrant", "item", "call")
    return rows.defer(*_LONG[2:]) if full else rows.defer("call__body", *_LONG)


def item_data(item: RunItem, *, full: bool, closed_texts: Sequence[str] = ()) -> Json:
    """Return an item as data; `full` adds prompt, content and gold. What of a prompt shows a text of `closed_texts`
    solved is left out."""
    call, sample = item.call, item.sample
    row = {
        "item": item.pk,
        "model": item.entrant.name,
        "step": item.step,
        "sample": sample.number,
        "key": sample.key,
        "cluster": sample.cluster,
        "category": sample.category,
        "split": sample.split,
        "repetition": item.repetition + 1,
        "state": state_of(item),
        "problem": item.unreadable or (item.item.problem if item.item else ""),
        "answer": call.answer if call else None,
        "answered_by": call.answered_by if call else None,
        "official": item.official,
        "repaired": item.repaired,
        "official_score": item.score,
        "repaired_score": item.repaired_score,
        "rows_not_judged": item.unjudged,
    }
    if full:
        asked = call or (item.item.call if item.item else None)
        row |= {"prompt": messages_of(asked, closed_texts), "content": sample.content, "gold": sample.gold}
    return row
