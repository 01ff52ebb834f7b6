"""Pre-filling: a model labels the propositions of stories, one call a story; annotators verify.

A cell that has a vote, and a suggestion that anybody can have seen, are never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.domain.labelling import prompts_of
from annotation.models import Assignment, Prefill, Project, Story, Suggestion, User
from annotation.services import audit
from annotation.services.prefill_handler import HANDLER
from annotation.services.prefill_requests import rows_by_story, story_request
from annotation.services.prefill_scope import PrefillRefused, Scope, check_labels, scope_of
from core.texts import canonical
from workers.domain.pricing import estimated_tokens
from workers.models import Endpoint
from workers.services.jobs import JobRefused, start_job

NOTHING_OPEN = "Every cell of these stories has a vote or a suggestion already, or they have no propositions."


@dataclass(frozen=True, slots=True)
class Estimate:
    """The size and cost of a round: stories with open cells, calls, tokens and dollars at most (None: the price is
    unknown). `left_out` says in one sentence which stories another round asks for already; it is empty where there are
    none."""

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
    try:
        with transaction.atomic():
            # Locked, so that the second of two concurrent rounds sees the first.
            Project.objects.select_for_update().get(pk=project.pk)
            asked_stories = _stories_to_ask(scope_of(project=project, stories=stories))
            job = start_job(
                by=by.username if by else "",
                handler=HANDLER,
                title=f"Pre-fill {project.name} with {endpoint.name}",
                items=[(endpoint, "", story.uid) for story in asked_stories],
                now=now,
                params=_params(project, level, _room(endpoint, reasoning_tokens)),
                budget=budget,
                batch=batch,
            )
            prefill = Prefill.objects.create(
                project=project, job=job, endpoint=endpoint, level=level, prompt=job.params["prompt"], created_by=by
            )
            details = {"model": endpoint.name, "level": level, "stories": len(asked_stories)}
            audit.record(by=by, project=project, action="prefill.started", target=prefill.uid, **details)
    except JobRefused as error:
        raise PrefillRefused(str(error)) from error
    return prefill


def _params(project: Project, level: int, room: int) -> dict[str, Any]:
    prompts = prompts_of(project.schema)
    return {"project": project.slug, "level": level, "prompt": prompts, "reasoning_tokens": room}


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
    """Return the size and cost of what `start_prefill` would ask. Reads every story once; the tokens are estimated on
    the high side.

    Raises PrefillRefused where the endpoint cannot label.
    """
    check_labels(endpoint)
    schema = project.schema
    cells, inputs, outputs, cost = 0, 0, 0, Decimal(0)
    scope = scope_of(project=project, stories=stories)
    rows_of = rows_by_story(scope.stories)
    for story in scope.stories:
        request = story_request(story, rows_of[story.pk], schema, level, {}, _room(endpoint, reasoning_tokens))
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


@transaction.atomic
def discard_unseen(*, by: User | None, project: Project) -> int:
    """Delete the suggestions of stories that nobody has opened with them yet; returns how many. To try another
    model."""
    seen = Assignment.objects.filter(story=OuterRef("proposition__table__story"), arms_drawn_at__isnull=False)
    unseen = Suggestion.objects.filter(proposition__table__story__project=project).exclude(Exists(seen))
    count = Suggestion.objects.filter(pk__in=list(unseen.values_list("pk", flat=True))).delete()[0]
    if count:
        audit.record(by=by, project=project, action="prefill.discarded", suggestions=count)
    return count
