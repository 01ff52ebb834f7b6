"""The handler of a self-test's jobs: asks about contrast pairs, and keeps what the judge said of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.models import JudgeTestItem
from benchmark.services.judge_test_calls import counts_of, draft_run, pairs_of, request_of
from benchmark.services.judge_tests import HANDLER
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.questions import BadQuestion
from benchmark.suites.reasons import UNREADABLE
from core.bulk import update_rows
from core.messages import Sentence, gettext_noop
from workers.models import Call, Item, ItemState
from workers.providers.contract import Request
from workers.services.handlers import JobHandler, Received, register

GONE = gettext_noop("The self-test or its story is gone.")


class JudgeTestHandler(JobHandler):
    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        test_items = _test_items(items)
        return {item.pk: _request(test_items.get(item.pk)) for item in items}

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        test_items = _test_items([item for item, _ in answered])
        received: dict[int, Received] = {}
        rows = []
        for item, call in answered:
            test_item = test_items.get(item.pk)
            if test_item is None:
                received[item.pk] = Received(ItemState.FAILED, GONE)
                continue
            try:
                counts = counts_of(test_item, call.answer)
            except SuiteFailed as error:
                received[item.pk] = Received(ItemState.FAILED, Sentence("{error} The answer is kept.", error=error))
                continue
            rows.append((call.pk, counts, test_item.pk))
            read = any(count is not None for count in counts)
            received[item.pk] = Received() if read else Received(ItemState.UNREADABLE, UNREADABLE)
        update_rows(JudgeTestItem, ["call", "counts"], rows)
        return received


def _request(test_item: JudgeTestItem | None) -> Request | str:
    """Return the request of an item, or why there is none: an item whose suite raises fails alone."""
    if test_item is None:
        return GONE
    try:
        return request_of(test_item.sample, pairs_of(test_item), draft_run(test_item.test))
    except (SuiteFailed, BadQuestion) as error:
        return str(error)


def _test_items(items: Sequence[Item]) -> dict[int, JudgeTestItem]:
    rows = JudgeTestItem.objects.filter(item__in=items)
    return {
        test_item.item_id: test_item
        for test_item in rows.select_related("sample", "test__project", "test__dataset", "test__judge")
    }


def register_handler() -> None:
    register(HANDLER, JudgeTestHandler())
