"""The labelling grid of one story, and what its script calls."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from annotation.access import UserRequest, assignment_of, project_access, story_of
from annotation.domain.schema import Schema, cross_check
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.forms.votes import MAX_DURATION_MS, CommentForm, FlagForm, GridChangesIn
from annotation.models import (
    Assignment,
    CellComment,
    FlagKind,
    Invitation,
    Proposition,
    PropositionFlag,
    User,
    Vote,
    workload,
)
from annotation.services import remarks
from annotation.services.arms import Suggested, awaits_draw, draw_for, shown_to
from annotation.services.votes import Refused, last_undoable, save_votes
from annotation.views.saving import saved
from core.idempotency.forms import made_once

MANY_COLUMNS = 10
_MODULES = ("grid/queue", "grid/saving", "grid/cells", "grid/panel", "grid/keys", "mentions")


@require_http_methods(["GET", "POST"])
def grid(request: UserRequest, slug: str, story: str) -> HttpResponse:
    """The grid of a story. One with suggestions is first opened by a POST, which draws the annotator's arms."""
    access = project_access(request.user, slug)
    assignment = assignment_of(request.user, slug, story)
    if request.method == "POST":
        draw_for(assignment=assignment, now=timezone.now())
        return HttpResponse(status=204, headers={"HX-Refresh": "true"}) if request.htmx else redirect(request.path)
    if awaits_draw(assignment):
        return render(request, "annotation/grid/begin.html", access.context | {"story": assignment.story})
    schema = access.project.schema
    propositions = list(Proposition.objects.gold_of(assignment.story))
    votes = list(Vote.objects.filter(annotator=request.user, proposition__in=propositions))
    cast = [(vote.proposition_id, vote.dimension) for vote in votes if vote.label]
    suggestions = shown_to(assignment=assignment, ids={row.uid: row.pk for row in propositions}, voted=cast)
    rows = _rows(request.user, propositions, votes, schema, suggestions)
    context = {
        "story": story_of(access, story),
        "dimensions": [
            {"dimension": dimension, "options": [(dimension.digit(label.value), label) for label in dimension.labels]}
            for dimension in schema.dimensions
        ],
        "columns": "" if schema == DEFAULT_SCHEMA else "many" if len(schema.keys) > MANY_COLUMNS else "few",
        "rows": rows,
        "cells": len(rows) * len(schema.dimensions),
        "done": sum(bool(cell["label"]) for row in rows for cell in row["cells"]),
        "suggests": bool(suggestions) or bool(assignment.arms_drawn_at),
        "settings": _settings(assignment, slug, votes),
        "modules": [f"annotation/{name}" for name in _MODULES],
    }
    return render(request, "annotation/grid/grid.html", access.context | context)


def _rows(
    user: User,
    propositions: list[Proposition],
    votes: list[Vote],
    schema: Schema,
    suggestions: Mapping[tuple[int, str], Suggested],
) -> list[dict[str, Any]]:
    """Return the rows of the grid with only the user's own labels, flags and threads; nothing here depends on what
    other annotators did."""
    labels = {(vote.proposition_id, vote.dimension): vote.label for vote in votes}
    threads = _threads(user, propositions)
    flags: dict[int, str] = {}
    for flag in PropositionFlag.objects.filter(author=user, proposition__in=propositions).order_by("created_at"):
        flags[flag.proposition_id] = flag.outcome or "open"
    rows = []
    for proposition in propositions:
        labels_by_key = {key: labels.get((proposition.pk, key), "") for key in schema.keys}
        warnings = cross_check(schema, proposition.actor, labels_by_key)
        warned = {warning.dimension for warning in warnings}
        cells = [
            {
                "dimension": dimension,
                "label": labels_by_key[dimension.key],
                "thread": threads.get((proposition.pk, dimension.key), ""),
                "warned": dimension.key in warned,
                "suggested": suggestions.get((proposition.pk, dimension.key)),
            }
            for dimension in schema.dimensions
        ]
        about = {"flag": flags.get(proposition.pk, ""), "warnings": warnings}
        rows.append({"proposition": proposition, "cells": cells, **about})
    return rows


def _threads(user: User, propositions: list[Proposition]) -> dict[tuple[int, str], str]:
    """Cell → "own" or "reply", by who wrote the last comment of the user's thread."""
    comments = CellComment.objects.filter(thread_of=user, proposition__in=propositions).order_by("created_at", "id")
    return {
        (proposition, dimension): "own" if author == user.pk else "reply"
        for proposition, dimension, author in comments.values_list("proposition_id", "dimension", "author_id")
    }


def _settings(assignment: Assignment, slug: str, votes: list[Vote]) -> dict[str, Any]:
    """Return what the grid's script needs: who and where, addresses, and the clocks of the server and of the newest
    vote."""
    story = assignment.story.uid
    place = {"slug": slug, "story": story, "proposition": "PROPOSITION"}
    guideline = reverse("annotation:guideline", args=[slug, "dimension"])
    newest = max((vote.changed_at for vote in votes), default=None)
    return {
        "annotator": assignment.annotator_id,
        "story": story,
        "now": timezone.now().isoformat(),
        "newest": newest.isoformat() if newest else None,
        "speedFloor": assignment.story.project.speed_floor_ms,
        "longestDuration": MAX_DURATION_MS,
        "urls": {
            "save": reverse("annotation:save_votes", args=[slug, story]),
            "undo": reverse("annotation:undo_vote", args=[slug, story]),
            "next": f"{reverse('annotation:next_story', args=[slug])}?after={story}",
            "comments": reverse("annotation:comments", kwargs={**place, "dimension": "DIMENSION"}),
            "flag": reverse("annotation:flag", kwargs=place),
            "guideline": guideline.replace("/dimension/", "/DIMENSION/"),
            "login": reverse("login"),
        },
    }


@require_POST
def save(request: UserRequest, slug: str, story: str) -> JsonResponse:
    """Save the changes of one annotator, all or none."""
    assignment = assignment_of(request.user, slug, story)
    schema = assignment.story.project.schema

    def save_all(posted: GridChangesIn) -> dict[str, Any]:
        votes = save_votes(by=request.user, assignment=assignment, changes=posted.changes, now=timezone.now())
        return {
            "saved": [
                {
                    "idempotency_key": vote.idempotency_key,
                    "proposition": vote.proposition,
                    "dimension": vote.dimension,
                    "label": vote.label,
                    "applied": vote.applied,
                    "changed_at": vote.changed_at.isoformat(),
                    **({"revealed": [vote.revealed.label, vote.revealed.source]} if vote.revealed else {}),
                }
                for vote in votes
            ],
            "warnings": {  # of the cross-checks of each proposition, from the user's own labels
                uid: [
                    {"dimension": warning.dimension, "message": warning.message}
                    for warning in cross_check(schema, vote.actor, vote.row)
                ]
                for uid, vote in {vote.proposition: vote for vote in votes}.items()
            },
        }

    return saved(request, GridChangesIn, save_all, made=gettext("made these votes"), refused=Refused, schema=schema)


@require_GET
def undo(request: UserRequest, slug: str, story: str) -> JsonResponse:
    """The change that takes the annotator's last vote in this story back, to be sent like any other; null for none."""
    assignment = assignment_of(request.user, slug, story)
    event = last_undoable(by=request.user, assignment=assignment)
    if event is None:
        return JsonResponse({"undo": None})
    change = {
        "proposition": event.proposition.uid,
        "dimension": event.dimension,
        "label": event.previous,
        "undoes": event.idempotency_key,
        "changed_at": event.changed_at.isoformat(),
    }
    return JsonResponse({"undo": change})


def _proposition(assignment: Assignment, uid: str) -> Proposition:
    row = Proposition.objects.gold_of(assignment.story).filter(uid=uid).first()
    if row is None:
        raise Http404(gettext("There is no such proposition in this story."))
    return row


@require_http_methods(["GET", "POST"])
def comments(request: UserRequest, slug: str, story: str, proposition: str, dimension: str) -> HttpResponse:
    """The thread between this annotator and the experts about one cell, as a side panel."""
    assignment = assignment_of(request.user, slug, story)
    row = _proposition(assignment, proposition)
    schema = assignment.story.project.schema
    if dimension not in schema:
        raise Http404(gettext("There is no such dimension."))
    form = CommentForm(request.POST or None)
    sent = request.method == "POST" and form.is_valid()
    if sent:
        text, user = form.cleaned_data["text"], request.user
        add = partial(remarks.add_comment, by=user, proposition=row, dimension=dimension, text=text, thread_of=user)
        made_once(request, lambda: add().uid)
        form = CommentForm()
    thread = CellComment.objects.filter(proposition=row, dimension=dimension, thread_of=request.user)
    context = {"form": form, "thread": thread.select_related("author"), "proposition": row}
    context |= {"dimension": schema[dimension], "action": request.path}
    response = render(request, "annotation/grid/_comments.html", context)
    return trigger_client_event(response, "credence:commented") if sent else response


@require_http_methods(["GET", "POST"])
def flag(request: UserRequest, slug: str, story: str, proposition: str) -> HttpResponse:
    """Say that a proposition itself is wrong, and show what became of that, as a side panel."""
    assignment = assignment_of(request.user, slug, story)
    row = _proposition(assignment, proposition)
    form = FlagForm(request.POST or None)
    sent = False
    if request.method == "POST" and form.is_valid():
        try:
            kind = FlagKind(form.cleaned_data["kind"])
            remark = form.cleaned_data["remark"]
            made_once(request, lambda: remarks.flag(by=request.user, proposition=row, kind=kind, remark=remark).uid)
            form, sent = FlagForm(), True
        except remarks.RemarkRefused as error:
            form.add_error("remark", str(error))
    flags = row.flags.filter(author=request.user)
    context = {"form": form, "flags": flags, "proposition": row, "action": request.path}
    response = render(request, "annotation/grid/_flag.html", context)
    return trigger_client_event(response, "credence:flagged") if sent else response


PAGE = 50


@require_GET
def work(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug)
    schema = access.project.schema
    works = workload.of_annotator(access.project, request.user)
    context = {
        "page": Paginator(works, PAGE).get_page(request.GET.get("page")),
        "next": workload.next_unfinished(works),
        "finished": sum(work.finished for work in works),
        "stories": len(works),
        "done": sum(min(work.done, work.cells) for work in works),
        "cells": sum(work.cells for work in works),
        "replies": [
            {"comment": comment, "dimension": schema[comment.dimension]}
            for comment in workload.replies_to(access.project, request.user)
            if comment.dimension in schema
        ],
        "invitations": Invitation.objects.waiting_for(request.user, timezone.now()),
        "outcomes": workload.decided_flags_of(access.project, request.user),
    }
    return render(request, "annotation/grid/work.html", access.context | context)


@require_GET
def next_story(request: UserRequest, slug: str) -> HttpResponse:
    """Open the next story with unlabelled cells, in story order after the one named by `after`, or the list."""
    access = project_access(request.user, slug)
    works = workload.of_annotator(access.project, request.user)
    after = next((work.story.number for work in works if work.story.uid == request.GET.get("after")), None)
    following = workload.next_unfinished(works, after=after)
    if following is None or following.story.number == after:
        if works and following is None:
            messages.success(request, gettext("Every story that was given to you is labelled."))
        return redirect("annotation:work", slug)
    return redirect("annotation:grid", slug, following.story.uid)
