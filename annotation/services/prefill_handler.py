"""The job handler of pre-filling: builds the request of each story and turns answers into suggestions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from django.utils import timezone

from annotation.domain.labelling import Example, labelling_request, read_labels
from annotation.domain.sample_corpus import SCHEMA, sample_records
from annotation.domain.schema import Schema
from annotation.domain.tasks import Row
from annotation.models import Proposition, Story, Suggestion
from annotation.services.prefill_scope import Cell, open_cells
from core.messages import Sentence, gettext_noop
from workers.models import NOT_PARSED, Call, Item, ItemState
from workers.providers.contract import Request
from workers.services.handlers import JobHandler, Received, register

HANDLER = gettext_noop("prefill")
CLOSED_MEANWHILE = gettext_noop("Not asked: every cell of this story has a vote or a suggestion by now.")
EXAMPLE_ROWS = 5


def rows_by_story(stories: Collection[Story]) -> dict[int, list[Proposition]]:
    """Return by story id the live propositions of the gold table, in table order."""
    rows: dict[int, list[Proposition]] = defaultdict(list)
    live = Proposition.objects.live_gold().filter(table__story__in=[story.pk for story in stories])
    for row in live.select_related("table").order_by("position"):
        rows[row.table.story_id].append(row)
    return rows


def _numbered(rows: Sequence[Proposition]) -> list[Row]:
    return [Row(at, row.actor, row.belief) for at, row in enumerate(rows, 1)]


def story_request(
    story: Story,
    rows: Sequence[Proposition],
    level: int,
    room: int,
    counts: Mapping[str, Mapping[str, int]] | None = None,
) -> Request:
    """Return the request for the labels of one story. `room` is the number of tokens for reasoning, `counts` are label
    counts for the majority baseline."""
    category, schema = story.category.name, story.project.schema
    return labelling_request(
        story=story.text, category=category, rows=_numbered(rows), schema=schema, level=level,
        example=example_of(category, schema, story.text) if level == 4 else None, counts=counts, reasoning_tokens=room,
    )  # fmt: skip


@lru_cache(64)
def example_of(category: str, schema: Schema, not_this: str) -> Example | None:
    """Return a worked example from the sample corpus, of the same category and never the story that is asked about.
    Returns None for a schema that the sample is not labelled by."""
    for record in sample_records() if schema == SCHEMA else ():
        if record.story_category == category and record.story != not_this:
            chosen = enumerate(record.beliefs[:EXAMPLE_ROWS], 1)
            return Example(
                record.story, tuple((Row(at, belief.actor, belief.belief), belief.labels) for at, belief in chosen)
            )
    return None


@lru_cache(8)
def sample_counts(schema: Schema) -> dict[str, dict[str, int]]:
    """Return the number of times that each label occurs in the sample corpus, by dimension, for the majority baseline.
    Empty for a schema that the sample is not labelled by."""
    if schema != SCHEMA:
        return {}
    counts: dict[str, dict[str, int]] = {key: defaultdict(int) for key in schema.keys}
    for record in sample_records():
        for belief in record.beliefs:
            for key, label in belief.labels.items():
                counts[key][label] += 1
    return {key: dict(by_label) for key, by_label in counts.items()}


def _loaded(items: Sequence[Item]) -> tuple[dict[str, Story], dict[int, list[Proposition]], dict[int, set[Cell]]]:
    """Return the items' stories by uid, with their rows and their open cells by id."""
    uids = [item.key for item in items]
    rows = Story.objects.filter(uid__in=uids).select_related("category", "project")
    stories = {story.uid: story for story in rows}
    return stories, rows_by_story(stories.values()), open_cells(list(stories.values()))


class PrefillHandler(JobHandler):
    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        stories, rows_of, open_ = _loaded(items)
        requests: dict[int, Request | str] = {}
        for item in items:
            story = stories.get(item.key)
            if story is None or not rows_of[story.pk]:
                requests[item.pk] = gettext_noop("The story is gone, or it has no propositions.")
            elif not open_.get(story.pk):
                requests[item.pk] = CLOSED_MEANWHILE
            else:
                params, counts = item.job.params, sample_counts(story.project.schema)
                requests[item.pk] = story_request(
                    story, rows_of[story.pk], params["level"], params["reasoning_tokens"], counts
                )
        return requests

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        stories, rows_of, open_ = _loaded([item for item, _ in answered])
        suggestions: list[Suggestion] = []
        received: dict[int, Received] = {}
        for item, call in answered:
            story = stories.get(item.key)
            if story is None:
                received[item.pk] = Received(ItemState.FAILED, gettext_noop("The story is gone."))
            else:
                left = open_.get(story.pk, set())
                received[item.pk] = _take(item, call, rows_of[story.pk], story.project.schema, left, suggestions)
        Suggestion.objects.bulk_create(suggestions, ignore_conflicts=True)
        return received


def _take(
    item: Item, call: Call, rows: Sequence[Proposition], schema: Schema, left: set[Cell], suggestions: list[Suggestion]
) -> Received:
    """Append usable labels to `suggestions` and remove their cells from `left`, the open cells of the story."""
    if call.state in NOT_PARSED:
        return Received(ItemState.UNREADABLE, call.problem or gettext_noop("The model refused to answer."))
    read = read_labels(call.answer, _numbered(rows), schema)
    if not any(read.labels.values()):
        return Received(ItemState.UNREADABLE, f"{call.problem} {read.problem}".strip())
    source, before = f"{item.endpoint.name} ({call.answered_by or call.model})"[:200], set(left)
    same = {"source": source, "call": call, "created_at": timezone.now()}
    for at, row in enumerate(rows, 1):
        for key, label in read.labels[at].items():
            if (row.pk, key) in before:
                left.discard((row.pk, key))
                suggestions.append(Suggestion(proposition=row, dimension=key, label=label, **same))
    cells, closed = len(rows) * len(schema.keys), ""
    if len(before) < cells:
        closed = Sentence(
            "{open} of {cells} cells were still open; the others keep the vote or suggestion that they have.",
            open=len(before), cells=cells,
        )  # fmt: skip
    state = ItemState.DONE if len(left) < len(before) else ItemState.UNREADABLE
    return Received(state, " ".join(filter(None, [read.problem, closed])))


def register_handler() -> None:
    register(HANDLER, PrefillHandler())
