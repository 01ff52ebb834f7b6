"""The annotator's pages: the list of their stories, the labelling grid, and what the grid calls."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotation.access import project_access, seat_of
from annotation.domain.schema import SCHEMAS, cross_check
from annotation.forms.grid import CommentForm, FlagForm
from annotation.models import Assignment, CellComment, FlagKind, Proposition, PropositionFlag, Vote, workload
from annotation.services import remarks
from annotation.services.votes import Refused, save_votes, undo_last
from annotation.views.vote_json import client_key, read_changes, read_object


@require_GET
def work(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug)
    rows = workload.of_annotator(access.project, request.user, len(SCHEMAS[access.project.schema_version].dimensions))
    context = {
        "rows": rows,
        "next": next((row for row in rows if not row["finished"] and row["cells"]), None),
        "done": sum(min(row["done"], row["cells"]) for row in rows),
        "cells": sum(row["cells"] for row in rows),
    }
    return render(request, "annotation/grid/work.html", access.context | context)


@require_GET
def grid(request: HttpRequest, slug: str, story: str) -> HttpResponse:
    access = project_access(request.user, slug)
    seat = seat_of(request.user, slug, story)
    schema = SCHEMAS[access.project.schema_version]
    propositions = list(Proposition.objects.gold_of(seat.story))
    rows = _rows(request.user, propositions, schema)
    cells = len(rows) * len(schema.dimensions)
    context = {
        "story": seat.story,
        "dimensions": schema.dimensions,
        "rows": rows,
        "cells": cells,
        "done": sum(bool(cell["label"]) for row in rows for cell in row["cells"]),
        "next_url": _next_url(seat, slug),
        "settings": _settings(seat, slug, schema),
    }
    return render(request, "annotation/grid/grid.html", access.context | context)


def _rows(user, propositions: list[Proposition], schema) -> list[dict]:
    """Only the user's own labels, flags and threads; nothing here depends on what other annotators did."""
    labels = {
        (proposition, dimension): label
        for proposition, dimension, label in Vote.objects.cast()
        .filter(annotator=user, proposition__in=propositions)
        .values_list("proposition_id", "dimension", "label")
    }
    threads = set(
        CellComment.objects.filter(thread_of=user, proposition__in=propositions).values_list(
            "proposition_id", "dimension"
        )
    )
    flagged = set(
        PropositionFlag.objects.filter(author=user, proposition__in=propositions).values_list(
            "proposition_id", flat=True
        )
    )
    rows = []
    for proposition in propositions:
        own = {key: labels.get((proposition.pk, key), "") for key in schema.keys}
        cells = [
            {"dimension": dimension, "label": own[dimension.key], "thread": (proposition.pk, dimension.key) in threads}
            for dimension in schema.dimensions
        ]
        rows.append(
            {
                "proposition": proposition,
                "cells": cells,
                "flagged": proposition.pk in flagged,
                "warnings": [warning.message for warning in cross_check(proposition.actor, own)],
            }
        )
    return rows


def _settings(seat: Assignment, slug: str, schema) -> dict:
    """What the grid's script needs: addresses, the schema, the clock of the server."""
    story = seat.story.uid
    cell = {"slug": slug, "story": story, "proposition": "PROPOSITION", "dimension": "DIMENSION"}
    row = {"slug": slug, "story": story, "proposition": "PROPOSITION"}
    return {
        "queue": f"credence:{seat.annotator_id}:{story}",
        "now": timezone.now().isoformat(),
        "speedFloor": seat.story.project.speed_floor_ms,
        "urls": {
            "save": reverse("annotation:save_votes", args=[slug, story]),
            "undo": reverse("annotation:undo_vote", args=[slug, story]),
            "comments": reverse("annotation:comments", kwargs=cell),
            "flag": reverse("annotation:flag", kwargs=row),
            "guideline": reverse("annotation:guideline", args=[slug, "dimension"]).replace(
                "/dimension/", "/DIMENSION/"
            ),
            "login": reverse("login"),
        },
        "dimensions": [
            {
                "key": one.key,
                "name": one.name,
                "question": one.question,
                "labels": [
                    {"value": label.value, "meaning": label.meaning, "digit": one.digit(label.value)}
                    for label in one.labels
                ],
            }
            for one in schema.dimensions
        ],
    }


def _next_url(seat: Assignment, slug: str) -> str:
    rows = Assignment.objects.active().filter(annotator_id=seat.annotator_id, story__project=seat.story.project)
    after = rows.filter(story__number__gt=seat.story.number).order_by("story__number").values_list("story__uid")
    found = after.first()
    return reverse("annotation:grid", args=[slug, found[0]]) if found else reverse("annotation:work", args=[slug])


@require_POST
def save(request: HttpRequest, slug: str, story: str) -> JsonResponse:
    seat = seat_of(request.user, slug, story)
    try:
        changes = read_changes(request.body)
        saved = save_votes(by=request.user, seat=seat, changes=changes, now=timezone.now())
    except Refused as error:
        return JsonResponse({"error": str(error)}, status=400)
    uids = {one.proposition for one in saved}
    answer = {"saved": [_as_json(one) for one in saved], "warnings": _warnings(request.user, uids)}
    return JsonResponse(answer)


@require_POST
def undo(request: HttpRequest, slug: str, story: str) -> JsonResponse:
    seat = seat_of(request.user, slug, story)
    try:
        key = client_key(read_object(request.body))
    except Refused as error:
        return JsonResponse({"error": str(error)}, status=400)
    saved = undo_last(by=request.user, seat=seat, client_key=key, now=timezone.now())
    if saved is None:
        return JsonResponse({"saved": [], "warnings": {}})
    return JsonResponse({"saved": [_as_json(saved)], "warnings": _warnings(request.user, {saved.proposition})})


def _as_json(saved) -> dict:
    return {
        "client_key": saved.client_key,
        "proposition": saved.proposition,
        "dimension": saved.dimension,
        "label": saved.label,
        "applied": saved.applied,
    }


def _warnings(user, uids: set[str]) -> dict[str, list[str]]:
    """Cross-check messages by proposition, from the user's own labels."""
    own: dict[str, tuple[str, dict]] = {}
    rows = Vote.objects.cast().filter(annotator=user, proposition__uid__in=uids)
    for uid, actor, dimension, label in rows.values_list(
        "proposition__uid", "proposition__actor", "dimension", "label"
    ):
        own.setdefault(uid, (actor, {}))[1][dimension] = label
    found = {uid: [one.message for one in cross_check(actor, labels)] for uid, (actor, labels) in own.items()}
    return {uid: found.get(uid, []) for uid in uids}


def _proposition(seat: Assignment, uid: str) -> Proposition:
    found = Proposition.objects.gold_of(seat.story).filter(uid=uid).first()
    if found is None:
        raise Http404("There is no such proposition in this story.")
    return found


def comments(request: HttpRequest, slug: str, story: str, proposition: str, dimension: str) -> HttpResponse:
    seat = seat_of(request.user, slug, story)
    row = _proposition(seat, proposition)
    schema = SCHEMAS[seat.story.project.schema_version]
    if dimension not in schema:
        raise Http404("There is no such dimension.")
    form = CommentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        text = form.cleaned_data["text"]
        remarks.add_comment(by=request.user, proposition=row, dimension=dimension, text=text, thread_of=request.user)
        form = CommentForm()
    thread = CellComment.objects.filter(proposition=row, dimension=dimension, thread_of=request.user)
    context = {
        "form": form,
        "thread": thread.select_related("author"),
        "proposition": row,
        "dimension": schema[dimension],
        "action": request.path,
    }
    return render(request, "annotation/grid/_comments.html", context)


def flag(request: HttpRequest, slug: str, story: str, proposition: str) -> HttpResponse:
    seat = seat_of(request.user, slug, story)
    row = _proposition(seat, proposition)
    form = FlagForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            kind = FlagKind(form.cleaned_data["kind"])
            remarks.flag(by=request.user, proposition=row, kind=kind, remark=form.cleaned_data["remark"])
            form = FlagForm()
        except remarks.RemarkRefused as error:
            form.add_error("remark", str(error))
    context = {
        "form": form,
        "flags": row.flags.filter(author=request.user),
        "proposition": row,
        "action": request.path,
    }
    return render(request, "annotation/grid/_flag.html", context)
