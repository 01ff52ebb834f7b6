"""Pre-filling: a model labels the propositions of stories or drafts their belief tables, one call a story; people
verify.

A cell that has a vote, a table that somebody has begun, and a suggestion that anybody can have seen, are never changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext, gettext_lazy

from annotation.domain import drafting
from annotation.domain.labelling import prompts_of
from annotation.models import (
    Assignment,
    BeliefTable,
    Prefill,
    Project,
    RoundKind,
    Story,
    SuggestedRow,
    Suggestion,
    User,
)
from annotation.services import audit, prefill_handler, table_drafting
from annotation.services.prefill_params import RoundParams
from annotation.services.prefill_requests import rows_by_story, story_request
from annotation.services.prefill_scope import PrefillRefused, Scope, check_able, scope_of
from core.messages import gettext_noop
from core.texts import canonical
from workers.domain.pricing import estimated_tokens
from workers.models import Endpoint
from workers.providers.contract import Request
from workers.services.jobs import JobRefused, start_job

NOTHING_OPEN = {
    RoundKind.LABELS: gettext_lazy(
        "Every cell of these stories has a vote or a suggestion already, or they have no propositions."
    ),
    RoundKind.TABLES: gettext_lazy(
        "Every one of these stories has a table already, or somebody has begun or drafted one."
    ),
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """The size and cost of a round: stories, open cells (none where tables are drafted), tokens and dollars at most
    (None: the price is unknown). `left_out` says in one sentence which stories another round asks for already; it is
    empty where there are none."""

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
    level: int | None = None,
    now: datetime,
    kind: str = RoundKind.LABELS,
    budget: Decimal | None = None,
    batch: bool = False,
    reasoning_tokens: int | None = None,
) -> Prefill:
    """Start a round for the stories that have open cells, or no table, and that no other round asks for.

    `level` is that of the prompt for labels, and None for tables. `reasoning_tokens` are the room that each answer has
    beside its text, None for the endpoint's own.

    Raises PrefillRefused where there are none, or the endpoint cannot do it.
    """
    check_able(endpoint, kind)
    room = _room(endpoint, reasoning_tokens)
    params = RoundParams(project=project.slug, level=level, prompt=_prompt(project, kind), reasoning_tokens=room)
    try:
        with transaction.atomic():
            # Locked, so that the second of two concurrent rounds sees the first.
            Project.objects.select_for_update().get(pk=project.pk)
            asked_stories = _stories_to_ask(scope_of(project=project, stories=stories, kind=kind), kind)
            job = start_job(
                by=by.username if by else "",
                handler=_HANDLERS[RoundKind(kind)],
                title=_TITLES[RoundKind(kind)].format(project=project.name, endpoint=endpoint.name),
                items=[(endpoint, "", story.uid) for story in asked_stories],
                now=now,
                params=params.as_json(),
                budget=budget,
                batch=batch,
            )
            prefill = Prefill.objects.create(
                project=project, job=job, endpoint=endpoint, kind=kind, level=level, prompt=params.prompt,
                created_by=by,
            )  # fmt: skip
            details = {"model": endpoint.name, "kind": str(kind), "level": level, "stories": len(asked_stories)}
            audit.record(by=by, project=project, action="prefill.started", target=prefill.uid, **details)
    except JobRefused as error:
        raise PrefillRefused(str(error)) from error
    return prefill


_HANDLERS = {RoundKind.LABELS: prefill_handler.HANDLER, RoundKind.TABLES: table_drafting.HANDLER}
_TITLES = {
    RoundKind.LABELS: gettext_noop("Pre-fill {project} with {endpoint}"),
    RoundKind.TABLES: gettext_noop("Draft tables of {project} with {endpoint}"),
}


def _prompt(project: Project, kind: str) -> str:
    return prompts_of(project.schema) if kind == RoundKind.LABELS else drafting.PROMPT


def _room(endpoint: Endpoint, chosen: int | None) -> int:
    return endpoint.reasoning_tokens if chosen is None else chosen


def _stories_to_ask(scope: Scope, kind: str) -> list[Story]:
    if not scope.stories:
        raise PrefillRefused(
            gettext("Nothing else is open: {left_out}").format(left_out=scope.left_out)
            if scope.left_out
            else NOTHING_OPEN[RoundKind(kind)]
        )
    return scope.stories


def estimate(
    *,
    project: Project,
    endpoint: Endpoint,
    stories: Sequence[Story],
    level: int | None = None,
    kind: str = RoundKind.LABELS,
    batch: bool = False,
    reasoning_tokens: int | None = None,
) -> Estimate:
    """Return the size and cost of what `start_prefill` would ask. Reads every story once; the tokens are estimated on
    the high side.

    Raises PrefillRefused where the endpoint cannot do it.
    """
    check_able(endpoint, kind)
    inputs, outputs, cost = 0, 0, Decimal(0)
    scope = scope_of(project=project, stories=stories, kind=kind)
    for request in _requests(project, scope, kind, level, _room(endpoint, reasoning_tokens)):
        body = canonical(
            {"messages": [[message.role, message.content] for message in request.messages], "schema": request.schema}
        )
        tokens = estimated_tokens(body)
        inputs += tokens
        outputs += request.max_tokens
        cost += endpoint.prices.at_most(tokens, request.max_tokens, batch=batch) or 0
    is_priced = endpoint.prices.are_known or not scope.stories
    cells = sum(len(scope.cells[story.pk]) for story in scope.stories) if scope.cells else 0
    return Estimate(len(scope.stories), cells, inputs, outputs, cost if is_priced else None, scope.left_out)


def _requests(project: Project, scope: Scope, kind: str, level: int | None, room: int) -> Iterator[Request]:
    """Yield the request for each story of the scope."""
    if level is None or kind == RoundKind.TABLES:
        yield from (table_drafting.table_request(story, room, project.schema.orders) for story in scope.stories)
        return
    schema, rows_of = project.schema, rows_by_story(scope.stories)
    for story in scope.stories:
        yield story_request(story, rows_of[story.pk], schema, level, {}, room)


@transaction.atomic
def discard_unseen(*, by: User | None, project: Project) -> int:
    """Delete the suggested labels, and the rows of drafted tables, of stories that nobody has opened with them yet;
    returns how many. To try another model."""
    seen = Assignment.objects.filter(story=OuterRef("proposition__table__story"), arms_drawn_at__isnull=False)
    unseen = Suggestion.objects.filter(proposition__table__story__project=project).exclude(Exists(seen))
    count = Suggestion.objects.filter(pk__in=list(unseen.values_list("pk", flat=True))).delete()[0]
    # Locked, so that nobody opens a table with a draft that is about to go.
    drafted = Story.objects.filter(project=project, suggested_rows__number=1).order_by("pk")
    list(drafted.select_for_update(of=("self",)).values_list("pk"))
    drawn = BeliefTable.objects.filter(story=OuterRef("story"), arm_drawn_at__isnull=False)
    rows = SuggestedRow.objects.filter(story__project=project).exclude(Exists(drawn))
    tables = rows.filter(number=1).count()
    count += (dropped := SuggestedRow.objects.filter(pk__in=list(rows.values_list("pk", flat=True))).delete()[0])
    if count:
        details = {"suggestions": count - dropped, "tables": tables}
        audit.record(by=by, project=project, action="prefill.discarded", **details)
    return count
