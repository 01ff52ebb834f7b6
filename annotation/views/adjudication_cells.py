"""The cells of the adjudication pages: who sees which votes, in which order, and what the pages' script saves."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import ProjectAccess, UserRequest, project_access, proposition_in_gold, unfinished
from annotation.domain.resolution import shuffled
from annotation.domain.schema import Dimension
from annotation.forms.adjudication import (
    ActionForm,
    CaseForm,
    CellIn,
    DecisionForm,
    DecisionsIn,
    StoriesIn,
    TakenBack,
    UndoForm,
)
from annotation.forms.values import MAX_REASON
from annotation.models import (
    CellComment,
    ErrorTag,
    GoldLabel,
    Method,
    Proposition,
    Role,
    Story,
    User,
    adjudication_queue,
)
from annotation.services import adjudication as service
from annotation.services import claims
from annotation.services.decisions import last_action
from annotation.views.saving import saved
from core.plain import Json
from core.views.pages import Context

MOST_CELLS = 40
"""Cells that an answer shows as they stand then; a page that took more back is loaded again."""
TAGS = list(enumerate(ErrorTag.choices, 1))
Place = tuple[Proposition, Dimension]


def cells_of(
    access: ProjectAccess, places: Sequence[Place], *, requested: Collection[str] | None = None
) -> list[Context]:
    """Return cells as an expert sees them, in five statements whatever their number.

    Votes are chips in an order that is drawn for the cell; they have names once it is decided, and a cell on which the
    expert voted has none. Cells to decide, decided ones and those that are `requested` (None: all) are shown in full.
    """
    propositions = {row.pk for row, _ in places}
    rows = GoldLabel.objects.filter(proposition__in=propositions).select_related("decided_by")
    labels = {(gold.proposition_id, gold.dimension): gold for gold in rows}
    voted, votes = adjudication_queue.voted_on(access.user, propositions), adjudication_queue.votes_on(propositions)
    names = names_of(annotator for cast in votes.values() for annotator, _ in cast)
    remarks = CellComment.objects.filter(proposition__in=propositions)
    comments = Counter(remarks.values_list("proposition_id", "dimension"))
    cells = []
    for row, dimension in places:
        key, uid = (row.pk, dimension.key), f"{row.uid}-{dimension.key}"
        gold: Any = labels.get(key)
        imported = (row.imported_labels or {}).get(dimension.key) or ""
        without_votes = "imported" if imported else "unlabelled"
        unsettled = "waiting" if key in votes else without_votes
        state = unsettled if gold is None else "disturbed" if gold.disturbed else gold.method
        decided, todo = gold is not None and gold.method == Method.ADJUDICATED, state in {"open", "disturbed"}
        own, hidden = decided and gold.decided_by_id == access.user.pk, gold is None or key in voted
        cast = [] if hidden else votes.get(key, [])
        asked_for = state in {"unanimous", "majority", "imported"} and uid in (requested or ())
        cells.append({
            "id": uid, "proposition": row, "dimension": dimension, "gold": gold, "state": state, "imported": imported,
            "label": gold.label if gold else imported, "comments": comments[key], "voted": key in voted,
            "decided": decided, "decided_by_user": own, "todo": todo, "for_me": todo and key not in voted,
            "in_full": todo or decided or requested is None or asked_for, "needs_reason": not todo and not own,
            "votes": sorted((label, names.get(annotator, "")) for annotator, label in cast) if decided else [],
            "chips": _chips(row, dimension, [label for _, label in cast], gold.label if decided else None),
        })  # fmt: skip
    return cells


def _chips(row: Proposition, dimension: Dimension, votes: list[str], chosen: str | None) -> list[Json]:
    """Return the labels that were voted for, and then the others, with their digits and meanings."""
    counts = Counter(shuffled(votes, f"{row.uid}:{dimension.key}"))
    meanings = {definition.value: definition.meaning for definition in dimension.labels}
    return [
        {
            "label": label, "count": counts[label], "digit": dimension.digit(label) if label in meanings else "",
            "meaning": meanings.get(label, ""), "chosen": label == chosen,
        }
        for label in dict.fromkeys([*counts, *dimension.values])
    ]  # fmt: skip


def names_of(users: Iterable[int]) -> dict[int, str]:
    return {user.pk: user.shown_name for user in User.objects.filter(pk__in=set(users))}


# --- forms: without JavaScript, and by htmx --------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def decide(request: UserRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """Take or take back a decision; answer with the cell as it then stands, as a GET does."""
    undo = "undo" in request.POST
    form = UndoForm(request.POST) if undo else DecisionForm(request.POST)

    def act(gold_row: Proposition, **fields: Any) -> None:
        now = timezone.now()
        claims.keep_up(by=request.user, story=gold_row.table.story, now=now)
        change = service.undo_decision if undo else service.adjudicate
        change(by=request.user, proposition=gold_row, now=now, **fields)

    return _acted(request, slug, proposition, dimension, form, act)


@require_POST
def file_case(request: UserRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """File a cell for the guideline, or take it off that list."""

    def act(gold_row: Proposition, **fields: Any) -> None:
        service.file_case(by=request.user, proposition=gold_row, **fields)

    return _acted(request, slug, proposition, dimension, CaseForm(request.POST), act)


def _acted(
    request: UserRequest, slug: str, proposition: str, dimension: str, form: ActionForm, act: Callable[..., None]
) -> HttpResponse:
    """Answer htmx with the cell as a fragment; without htmx, go back to the story with the sentence on top."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row, problem, status = proposition_in_gold(access, proposition, dimension), "", 200
    if request.method == "POST" and not form.is_valid():
        problem, status = form.problem, 422
    elif request.method == "POST":
        try:
            act(row, dimension=dimension, **form.cleaned_data)
        except service.AdjudicationRefused as error:
            problem, status = str(error), 409 if isinstance(error, service.DecidedMeanwhile) else 422
    back = _address(access, row.table.story, f"{row.uid}-{dimension}")
    if not request.htmx:
        if problem:
            messages.error(request, problem)
        return redirect(back)
    if row.table.story_id in unfinished(access):
        return HttpResponse(status=204, headers={"HX-Redirect": back})
    # What was typed survives an answer that did not take it in.
    stays = problem or "filed" in request.POST
    typed = {name: request.POST.get(name, "")[:MAX_REASON] for name in ("reason", "error_tag")} if stays else None
    (cell,) = cells_of(access, [(row, access.project.schema[dimension])])
    return HttpResponse(_html(request, access, cell, problem=problem, typed=typed), status=status)


def _html(request: UserRequest, access: ProjectAccess, cell: Context, **more: Any) -> str:
    context = access.context | {"cell": cell, "tags": TAGS} | more
    return render_to_string("annotation/adjudication/_cell.html", context, request)


def _address(access: ProjectAccess, story: Story, cell: str) -> str:
    return f"{reverse('annotation:adjudicate', args=[access.project.slug, story.uid])}?cell={cell}#{cell}"


# --- what the script saves -------------------------------------------------------------------------------------------


@require_POST
def save_decisions(request: UserRequest, slug: str) -> JsonResponse:
    """Save decisions of one expert, all or none; the answer has each cell as it then stands."""
    access = project_access(request.user, slug, role=Role.EXPERT)

    def save(posted: DecisionsIn) -> Json:
        now, rows = timezone.now(), _propositions(access, posted.changes)
        for story in {row.table.story for row in rows.values()}:
            claims.keep_up(by=request.user, story=story, now=now)
        with transaction.atomic():
            for change in posted.changes:
                decision = change.model_dump(exclude={"proposition", "idempotency_key", "changed_at"})
                service.adjudicate(by=request.user, proposition=rows[change.proposition], now=now, **decision)
        cells = _cells_on_page(request, access, rows, posted.changes)
        for cell, change in zip(cells, posted.changes, strict=True):
            cell |= {"idempotency_key": change.idempotency_key, "changed_at": change.changed_at.isoformat()}
        return {"saved": cells, "warnings": {}}

    return saved(request, DecisionsIn, save, made=gettext("made these decisions"), refused=service.AdjudicationRefused)


@require_http_methods(["GET", "POST"])
def undo_decisions(request: UserRequest, slug: str) -> JsonResponse:
    """The cells that this expert's last action decided and that can be taken back, the first of them in words; null for
    none. A POST takes back those that it names, all or none."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    if request.method == "GET":
        labels = list(last_action(by=request.user, project=access.project))
        if not labels:
            return JsonResponse({"undo": None})
        first = labels[0]
        story = first.proposition.table.story
        undo = {
            "cells": [
                {"proposition": gold.proposition.uid, "dimension": gold.dimension, "revision": gold.revision}
                for gold in labels
            ],
            "label": first.label,
            "story": story.number,
            "dimension": access.project.schema[first.dimension].name,
            "url": _address(access, story, f"{first.proposition.uid}-{first.dimension}"),
        }
        return JsonResponse({"undo": undo})

    def take_back(posted: TakenBack) -> Json:
        rows = _propositions(access, posted.cells)
        cells = {(rows[cell.proposition].pk, cell.dimension): cell.revision for cell in posted.cells}
        service.undo_decisions(by=request.user, project=access.project, cells=cells, now=timezone.now())
        few = posted.cells if len(posted.cells) <= MOST_CELLS else []
        return {"cells": _cells_on_page(request, access, rows, few)}

    return saved(
        request, TakenBack, take_back, made=gettext("made these decisions"), refused=service.AdjudicationRefused
    )


@require_POST
def keep_claims(request: UserRequest, slug: str) -> JsonResponse:
    """Claim the stories that an expert opened, or keep those that they work on; the answer names the claims of
    others."""
    access = project_access(request.user, slug, role=Role.EXPERT)

    def keep(posted: StoriesIn) -> Json:
        stories = dict(access.project.stories.filter(uid__in=posted.stories).values_list("id", "uid"))
        back = access.project if posted.opened else None
        others = claims.claim(by=request.user, stories=stories, now=timezone.now(), gives_back=back)
        return {"others": {stories[story]: claim.expert.shown_name for story, claim in others.items()}}

    return saved(request, StoriesIn, keep, made=gettext("opened these stories"), refused=service.AdjudicationRefused)


def _propositions(access: ProjectAccess, cells: Iterable[CellIn]) -> dict[str, Proposition]:
    """Return the propositions of the cells by uid. Raises AdjudicationRefused if one is in no gold table, or a
    dimension is none of the project's."""
    uids = {cell.proposition for cell in cells}
    rows = Proposition.objects.live_gold().filter(table__story__project=access.project, uid__in=uids)
    by_uid = {row.uid: row for row in rows.select_related("table__story")}
    for row in by_uid.values():
        row.table.story.project = access.project
    if uids - set(by_uid):
        raise service.AdjudicationRefused(gettext("This proposition is no longer in its story's table."))
    if unknown := {cell.dimension for cell in cells} - set(access.project.schema.keys):
        raise service.AdjudicationRefused(
            gettext("{unknown!r} is not a dimension of this project.").format(unknown=unknown.pop())
        )
    return by_uid


def _cells_on_page(
    request: UserRequest, access: ProjectAccess, rows: Mapping[str, Proposition], cells: Sequence[CellIn]
) -> list[Json]:
    """Return {proposition, dimension, html} of the cells; without html if the expert still labels the story."""
    hidden, schema = unfinished(access), access.project.schema
    places = [(rows[cell.proposition], schema[cell.dimension]) for cell in cells]
    shown = cells_of(access, [place for place in places if place[0].table.story_id not in hidden])
    html = {cell["id"]: _html(request, access, cell) for cell in shown}
    return [
        {
            "proposition": cell.proposition,
            "dimension": cell.dimension,
            "html": html.get(f"{cell.proposition}-{cell.dimension}", ""),
        }
        for cell in cells
    ]
