"""Pre-filling: a model labels the propositions of stories or drafts their belief tables, one call a story; people
verify.

A cell that has a vote, a table that somebody has begun, and a suggestion that anybody can have seen, are never changed.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext

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
from annotation.services import audit
from annotation.services.prefill_rounds import HANDLERS, PrefillRefused, check_able, scope_of
from core.plain import Json, plain
from core.texts import canonical
from workers.domain.pricing import estimated_tokens
from workers.models import Endpoint
from workers.providers.contract import Request
from workers.services.jobs import JobRefused, start_job
from workers.services.progress import Progress, Shortfall, progress_of_all, shortfalls_of


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

    `level` is that of the prompt for labels, None for tables. `reasoning_tokens` is the room that each answer has for
    reasoning, None for the endpoint's own. Raises PrefillRefused if no story is open, or the endpoint cannot do it.
    """
    check_able(endpoint, kind)
    handler = HANDLERS[kind]
    prompt, room = handler.prompt(project), endpoint.reasoning_tokens if reasoning_tokens is None else reasoning_tokens
    try:
        with transaction.atomic():
            # Locked, so that the second of two concurrent rounds sees the first.
            Project.objects.select_for_update().get(pk=project.pk)
            scope = scope_of(project=project, stories=stories, kind=kind)
            if not scope.stories:
                left_out = gettext("Nothing else is open: {left_out}").format(left_out=scope.left_out)
                raise PrefillRefused(left_out if scope.left_out else handler.nothing_open)
            job = start_job(
                by=by.username if by else "",
                handler=handler.name,
                title=handler.title.format(project=project.name, endpoint=endpoint.name),
                items=[(endpoint, "", story.uid) for story in scope.stories],
                now=now,
                params={"project": project.slug, "level": level, "prompt": prompt, "reasoning_tokens": room},
                budget=budget,
                batch=batch,
            )
            prefill = Prefill.objects.create(
                project=project, job=job, endpoint=endpoint, kind=kind, level=level, prompt=prompt, created_by=by
            )
            details = {"model": endpoint.name, "kind": str(kind), "level": level, "stories": len(scope.stories)}
            audit.record(by=by, project=project, action="prefill.started", target=prefill.uid, **details)
    except JobRefused as error:
        raise PrefillRefused(str(error)) from error
    return prefill


def estimate(
    *,
    project: Project,
    endpoint: Endpoint,
    stories: Sequence[Story],
    level: int | None = None,
    kind: str = RoundKind.LABELS,
    batch: bool = False,
    reasoning_tokens: int | None = None,
) -> Json:
    """Return the size and cost of what `start_prefill` would ask: {stories, cells (open ones, none where tables are
    drafted), input_tokens, output_tokens, cost (dollars at most, None for an unknown price), left_out: a sentence on
    the stories that another round asks for, or ""}. Reads every story once; the tokens are estimated on the high side.
    Raises PrefillRefused if the endpoint cannot do it."""
    check_able(endpoint, kind)
    inputs, outputs, cost = 0, 0, Decimal(0)
    scope = scope_of(project=project, stories=stories, kind=kind)
    room = endpoint.reasoning_tokens if reasoning_tokens is None else reasoning_tokens
    loaded = HANDLERS[kind].load(scope.stories)
    for story in scope.stories:
        request = HANDLERS[kind].request(story, loaded, level, room)
        assert isinstance(request, Request), "the stories are open"
        messages = [[message.role, message.content] for message in request.messages]
        tokens = estimated_tokens(canonical({"messages": messages, "schema": request.schema}))
        inputs += tokens
        outputs += request.max_tokens
        cost += endpoint.prices.at_most(tokens, request.max_tokens, batch=batch) or 0
    is_priced = endpoint.prices.are_known or not scope.stories
    cells = sum(len(scope.cells[story.pk]) for story in scope.stories)
    return {
        "stories": len(scope.stories),
        "cells": cells,
        "input_tokens": inputs,
        "output_tokens": outputs,
        "cost": cost if is_priced else None,
        "left_out": scope.left_out,
    }


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
        details: Json = {"suggestions": count - dropped, "tables": tables}
        audit.record(by=by, project=project, action="prefill.discarded", **details)
    return count


def progress_of_rounds(rounds: Sequence[Prefill]) -> list[tuple[Json, Shortfall]]:
    """Return the progress of each round as commands print it and the API answers with it, and what the round lacks. The
    number of queries is constant."""
    jobs = [prefill.job for prefill in rounds]
    progress = progress_of_all(jobs)
    lacks = shortfalls_of({job: progress[job.pk].total for job in jobs})
    return [(_progress(row, progress[row.job_id], lacks[row.job_id]), lacks[row.job_id]) for row in rounds]


def _progress(prefill: Prefill, progress: Progress, shortfall: Shortfall) -> Json:
    values = {
        "round": prefill.uid, "job": prefill.job.uid, "state": prefill.job.standing,
        "failures": shortfall.failures, "unreadable_answers": shortfall.unreadable, "held_back": progress.held_back,
        "items": progress.ended_items, "calls": progress.calls, "tokens": progress.tokens,
    }  # fmt: skip
    return {name: plain(value) for name, value in values.items()} | progress.money.as_json
