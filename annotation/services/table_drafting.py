"""The job handler that has a model draft the belief tables of stories, one call a story."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.db.models import QuerySet
from django.utils import timezone

from annotation.domain.drafting import drafting_request, read_draft
from annotation.models import Story, SuggestedRow
from annotation.services.prefill_scope import without_table
from core.messages import gettext_noop
from workers.models import NOT_PARSED, Call, Item, ItemState
from workers.providers.contract import Request
from workers.services.handlers import JobHandler, Received, register

HANDLER = gettext_noop("prefill-tables")
GONE = gettext_noop("The story is gone.")
BEGUN_MEANWHILE = gettext_noop("Not asked: this story has a table by now, or somebody has begun or drafted one.")
TAKEN_MEANWHILE = gettext_noop(
    "The draft is not used: this story has a table by now, or somebody has begun or drafted one."
)


def table_request(story: Story, room: int, orders: Sequence[str]) -> Request:
    """Return the request for a draft of the story's table; `room` is the number of tokens for reasoning, `orders` are
    those of the project's schema."""
    return drafting_request(story=story.text, orders=orders, reasoning_tokens=room)


def _stories(items: Iterable[Item]) -> QuerySet[Story]:
    return Story.objects.filter(uid__in=[item.key for item in items]).select_related("project")


class TableDraftHandler(JobHandler):
    """Ask for the table of each story, and keep the rows of answers as what experts may begin with."""

    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        stories = {story.uid: story for story in _stories(items)}
        open_ = without_table(stories.values())
        requests: dict[int, Request | str] = {}
        for item in items:
            story = stories.get(item.key)
            if story is None:
                requests[item.pk] = GONE
            elif story.pk not in open_:
                requests[item.pk] = BEGUN_MEANWHILE
            else:
                room = item.job.params["reasoning_tokens"]
                requests[item.pk] = table_request(story, room, story.project.schema.orders)
        return requests

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        # Locked, so that nobody begins a table while its draft is written.
        rows = _stories(item for item, _ in answered)
        stories = {story.uid: story for story in rows.select_for_update(of=("self",)).order_by("pk")}
        open_ = without_table(stories.values())
        received: dict[int, Received] = {}
        for item, call in answered:
            story = stories.get(item.key)
            if story is None:
                received[item.pk] = Received(ItemState.FAILED, GONE)
                continue
            received[item.pk] = _take(item, call, story, is_open=story.pk in open_)
            if received[item.pk].state == ItemState.DONE:
                open_.discard(story.pk)
        return received


def _take(item: Item, call: Call, story: Story, *, is_open: bool) -> Received:
    """Keep the readable rows of an answer, and say what became of it."""
    if call.state in NOT_PARSED:
        return Received(ItemState.UNREADABLE, call.problem or gettext_noop("The model refused to answer."))
    drafted = read_draft(call.answer, story.text, story.project.schema.orders)
    if not drafted.rows:
        return Received(ItemState.UNREADABLE, f"{call.problem} {drafted.problem}".strip())
    if not is_open:
        return Received(ItemState.UNREADABLE, TAKEN_MEANWHILE)
    source, now = f"{item.endpoint.name} ({call.answered_by or call.model})"[:200], timezone.now()
    SuggestedRow.objects.bulk_create(
        SuggestedRow(
            story=story, number=number, actor=row.actor, belief=row.belief, order_text=row.order, source=source,
            call=call, created_at=now,
        )
        for number, row in enumerate(drafted.rows, 1)
    )  # fmt: skip
    return Received(ItemState.DONE, drafted.problem)


def register_handler() -> None:
    register(HANDLER, TableDraftHandler())
