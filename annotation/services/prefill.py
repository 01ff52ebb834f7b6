"""Pre-filling: a model labels the propositions of stories, one call a story; annotators verify.

A cell that has a vote, and a suggestion that anybody can have seen, are never changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.domain.labelling import Example, Row, labelling_request, prompts_of, read_labels
from annotation.domain.sample_corpus import sample_records
from annotation.domain.schema import Schema
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Assignment, Prefill, Project, Proposition, Story, Suggestion, User
from annotation.services import audit
from annotation.services.prefill_scope import PrefillRefused, Scope, check_labels, open_cells, scope_of
from core.texts import canonical
from workers.domain.pricing import estimated_tokens
from workers.models import Call, Endpoint, Item, ItemState
from workers.providers.contract import Request
from workers.services.handlers import JobHandler, Received, register
from workers.services.jobs import JobRefused, start_job

PURPOSE = "prefill"
EXAMPLE_ROWS = 5
NOTHING_OPEN = "Every cell of these stories has a vote or a suggestion already, or they have no propositions."
CLOSED_MEANWHILE = "Not asked: every cell of this story has a vote or a suggestion by now."


@dataclass(frozen=True, slots=True)
class Estimate:
    """The size and cost of a round: stories with open cells, calls, tokens and dollars at most (None: the price is unknown). `left_out` says in one sentence which
    stories another round asks for already; it is empty where there are none."""

    stories: int
    cells: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    left_out: str = ""


def start_prefill(
    *,
    by: User | None,
    project: Project,
    endpoint: Endpoint,
    stories: Sequence[Story],
    level: int,
    now: datetime,
    budget: Decimal | None = None,
    batch: bool = False,
    reasoning_tokens: int | None = None,
) -> Prefill:
    """Start a round for the stories that have open cells and that no other round asks for.

    `reasoning_tokens` are the room that each answer has beside its text, None for the endpoint's own.

    Raises PrefillRefused where there are none, or the endpoint cannot do it.
    """
    check_labels(endpoint)
    prompts = prompts_of(project.schema)
    try:
        with transaction.atomic():
            Project.objects.select_for_update().get(
                pk=project.pk
            )  # so that the second of two concurrent rounds sees the first
            asked_stories = _stories_to_ask(scope_of(project=project, stories=stories))
            job = start_job(
                by=by.username if by else "",
                purpose=PURPOSE,
                title=f"Pre-fill {project.name} with {endpoint.name}",
                items=[(endpoint, "", story.uid) for story in asked_stories],
                now=now,
                params={
                    "project": project.slug,
                    "level": level,
                    "prompt": prompts,
                    "reasoning_tokens": _room(endpoint, reasoning_tokens),
                },
                budget=budget,
                batch=batch,
            )
            prefill = Prefill.objects.create(
                project=project, job=job, endpoint=endpoint, level=level, prompt=prompts, created_by=by
            )
            details = {"model": endpoint.name, "level": level, "stories": len(asked_stories)}
            audit.record(by=by, project=project, action="prefill.started", target=prefill.uid, **details)
    except JobRefused as error:
        raise PrefillRefused(str(error)) from error
    return prefill


def _room(endpoint: Endpoint, chosen: int | None) -> int:
    return endpoint.reasoning_tokens if chosen is None else chosen


def _stories_to_ask(scope: Scope) -> list[Story]:
    if not scope.stories:
        raise PrefillRefused(f"Nothing else is open: {scope.left_out}" if scope.left_out else NOTHING_OPEN)
    return scope.stories


def estimate(
    *,
    project: Project,
    endpoint: Endpoint,
    stories: Sequence[Story],
    level: int,
    batch: bool = False,
    reasoning_tokens: int | None = None,
) -> Estimate:
    """Return the size and cost of what `start_prefill` would ask. Reads every story once; the tokens are estimated on the high side.

    Raises PrefillRefused where the endpoint cannot label.
    """
    check_labels(endpoint)
    schema = project.schema
    cells, inputs, outputs, cost = 0, 0, 0, Decimal(0)
    scope = scope_of(project=project, stories=stories)
    rows_of = _rows_by_story(scope.stories)
    for story in scope.stories:
        request = _request(story, rows_of[story.pk], schema, level, {}, _room(endpoint, reasoning_tokens))
        body = canonical(
            {"messages": [[message.role, message.content] for message in request.messages], "schema": request.schema}
        )
        cells += len(scope.cells[story.pk])
        tokens = estimated_tokens(body)
        inputs += tokens
        outputs += request.max_tokens
        cost += endpoint.prices.at_most(tokens, request.max_tokens, batch=batch) or 0
    is_priced = endpoint.prices.are_known or not scope.stories
    return Estimate(len(scope.stories), cells, inputs, outputs, cost if is_priced else None, scope.left_out)


class PrefillHandler(JobHandler):
    """Ask for each story, and turn answers into suggestions."""

    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        stories = {
            story.uid: story
            for story in Story.objects.filter(uid__in=[item.key for item in items]).select_related(
                "category", "project"
            )
        }
        rows_of, open_ = _rows_by_story(stories.values()), open_cells(list(stories.values()))
        requests: dict[int, Request | str] = {}
        for item in items:
            story = stories.get(item.key)
            if story is None or not rows_of[story.pk]:
                requests[item.pk] = "The story is gone, or it has no propositions."
                continue
            if not open_.get(story.pk):
                requests[item.pk] = CLOSED_MEANWHILE
                continue
            schema = story.project.schema
            counts = _sample_counts(schema)
            params = item.job.params
            room = params.get("reasoning_tokens", 0)
            requests[item.pk] = _request(story, rows_of[story.pk], schema, params["level"], counts, room)
        return requests

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        uids = [item.key for item, _ in answered]
        stories = {story.uid: story for story in Story.objects.filter(uid__in=uids).select_related("project")}
        rows_of, open_ = _rows_by_story(stories.values()), open_cells(list(stories.values()))
        suggestions: list[Suggestion] = []
        received: dict[int, Received] = {}
        for item, call in answered:
            story = stories.get(item.key)
            if story is None:
                received[item.pk] = Received(ItemState.FAILED, "The story is gone.")
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
        if call.state in ("refused", "unusable"):
            return Received(ItemState.UNUSABLE, call.problem or "The model refused to answer.")
        read = read_labels(call.answer, _numbered(rows), schema)
        source = f"{item.endpoint.name} ({call.answered_by or call.model})"[:200]
        if not any(read.labels.values()):
            return Received(ItemState.UNUSABLE, f"{call.problem} {read.problem}".strip())
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
        return Received(ItemState.DONE if used else ItemState.UNUSABLE, " ".join(filter(None, remarks)))


def _closed(open_: Set[tuple[int, str]], cells: int) -> str:
    """Return a remark on an answer that could only be used in part; empty where every cell was open."""
    if len(open_) == cells:
        return ""
    return f"{len(open_)} of {cells} cells were still open; the others keep the vote or suggestion that they have."


@transaction.atomic
def discard_unseen(*, by: User | None, project: Project) -> int:
    """Delete the suggestions of stories that nobody has opened with them yet; returns how many. To try another model."""
    seen = Assignment.objects.filter(story=OuterRef("proposition__table__story"), arms_drawn_at__isnull=False)
    unseen = Suggestion.objects.filter(proposition__table__story__project=project).exclude(Exists(seen))
    count = Suggestion.objects.filter(pk__in=list(unseen.values_list("pk", flat=True))).delete()[0]
    if count:
        audit.record(by=by, project=project, action="prefill.discarded", suggestions=count)
    return count


def _rows_by_story(stories: Collection[Story]) -> dict[int, list[Proposition]]:
    rows: dict[int, list[Proposition]] = defaultdict(list)
    live = Proposition.objects.live_gold().filter(table__story__in=[story.pk for story in stories])
    for row in live.select_related("table").order_by("position"):
        rows[row.table.story_id].append(row)
    return rows


def _numbered(rows: Sequence[Proposition]) -> list[Row]:
    return [Row(at, row.actor, row.belief) for at, row in enumerate(rows, 1)]


def _request(story: Story, rows: Sequence[Proposition], schema: Schema, level: int, counts, room: int) -> Request:
    category = story.category.name
    example = example_of(category, schema, story.text) if level == 4 else None
    return labelling_request(
        story=story.text,
        category=category,
        rows=_numbered(rows),
        schema=schema,
        level=level,
        example=example,
        counts=counts,
        reasoning_tokens=room,
    )


@lru_cache(64)
def example_of(category: str, schema: Schema, not_this: str) -> Example | None:
    """Return a worked example from the sample corpus, of the same category and never the story that is asked about. None for a
    schema that the sample is not labelled by."""
    if schema != DEFAULT_SCHEMA:
        return None
    for record in sample_records():
        if record["story_category"] == category and record["story"] != not_this:
            chosen = enumerate(record["beliefs"][:EXAMPLE_ROWS], 1)
            return Example(
                record["story"],
                tuple((Row(at, belief["actor"], belief["belief"]), belief["labels"]) for at, belief in chosen),
            )
    return None


@lru_cache(8)
def _sample_counts(schema: Schema) -> dict[str, dict[str, int]]:
    """Return how often each label occurs in the sample corpus, for the majority baseline. Empty for a schema that the sample
    is not labelled by."""
    if schema != DEFAULT_SCHEMA:
        return {}
    counts: dict[str, dict[str, int]] = {key: defaultdict(int) for key in schema.keys}
    for record in sample_records():
        for belief in record["beliefs"]:
            for key, label in belief["labels"].items():
                counts[key][label] += 1
    return {key: dict(by_label) for key, by_label in counts.items()}


def register_handler() -> None:
    register(PURPOSE, PrefillHandler())
