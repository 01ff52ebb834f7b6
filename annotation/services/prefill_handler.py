"""The job handler of pre-filling: builds the request of each story and turns answers into suggestions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from django.utils import timezone

from annotation.domain.labelling import read_labels
from annotation.domain.schema import Schema
from annotation.models import Proposition, Story, Suggestion
from annotation.services.prefill_params import RoundParams
from annotation.services.prefill_requests import numbered, rows_by_story, sample_counts, story_request
from annotation.services.prefill_scope import open_cells
from core.messages import Sentence, gettext_noop
from workers.models import NOT_PARSED, Call, Item, ItemState
from workers.providers.contract import Request
from workers.services.handlers import JobHandler, Received, register

HANDLER = gettext_noop("prefill")
CLOSED_MEANWHILE = gettext_noop("Not asked: every cell of this story has a vote or a suggestion by now.")


class PrefillHandler(JobHandler):
    """Ask for each story, and turn answers into suggestions."""

    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        stories = {
            story.uid: story
            for story in Story.objects.filter(uid__in=[item.key for item in items]).select_related(
                "category", "project"
            )
        }
        rows_of, open_ = rows_by_story(stories.values()), open_cells(list(stories.values()))
        requests: dict[int, Request | str] = {}
        for item in items:
            story = stories.get(item.key)
            if story is None or not rows_of[story.pk]:
                requests[item.pk] = gettext_noop("The story is gone, or it has no propositions.")
                continue
            if not open_.get(story.pk):
                requests[item.pk] = CLOSED_MEANWHILE
                continue
            schema = story.project.schema
            counts = sample_counts(schema)
            params = RoundParams.of(item.job)
            requests[item.pk] = story_request(
                story, rows_of[story.pk], schema, params.label_level, counts, params.reasoning_tokens
            )
        return requests

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        uids = [item.key for item, _ in answered]
        stories = {story.uid: story for story in Story.objects.filter(uid__in=uids).select_related("project")}
        rows_of, open_ = rows_by_story(stories.values()), open_cells(list(stories.values()))
        suggestions: list[Suggestion] = []
        received: dict[int, Received] = {}
        for item, call in answered:
            story = stories.get(item.key)
            if story is None:
                received[item.pk] = Received(ItemState.FAILED, gettext_noop("The story is gone."))
                continue
            received[item.pk] = self._take(
                item, call, rows_of[story.pk], story.project.schema, open_.get(story.pk, set()), suggestions
            )
        Suggestion.objects.bulk_create(suggestions, ignore_conflicts=True)
        return received

    def _take(
        self,
        item: Item,
        call: Call,
        rows: Sequence[Proposition],
        schema: Schema,
        open_cells_left: set[tuple[int, str]],
        suggestions: list[Suggestion],
    ) -> Received:
        """Append usable labels to `suggestions` and remove their cells from `open_cells_left`."""
        if call.state in NOT_PARSED:
            return Received(ItemState.UNREADABLE, call.problem or gettext_noop("The model refused to answer."))
        read = read_labels(call.answer, numbered(rows), schema)
        source = f"{item.endpoint.name} ({call.answered_by or call.model})"[:200]
        if not any(read.labels.values()):
            return Received(ItemState.UNREADABLE, f"{call.problem} {read.problem}".strip())
        before = set(open_cells_left)
        for at, row in enumerate(rows, 1):
            for key, label in read.labels[at].items():
                if (row.pk, key) in before:
                    open_cells_left.discard((row.pk, key))
                    suggestions.append(
                        Suggestion(
                            proposition=row,
                            dimension=key,
                            label=label,
                            source=source,
                            call=call,
                            created_at=timezone.now(),
                        )
                    )
        remarks = [read.problem, _closed(before, len(rows) * len(schema.keys))]
        used = len(open_cells_left) < len(before)
        return Received(ItemState.DONE if used else ItemState.UNREADABLE, " ".join(filter(None, remarks)))


def _closed(open_: Set[tuple[int, str]], cells: int) -> str:
    """Return a remark on an answer that could only be used in part; empty where every cell was open."""
    if len(open_) == cells:
        return ""
    return Sentence(
        "{open} of {cells} cells were still open; the others keep the vote or suggestion that they have.",
        open=len(open_),
        cells=cells,
    )


def register_handler() -> None:
    register(HANDLER, PrefillHandler())
