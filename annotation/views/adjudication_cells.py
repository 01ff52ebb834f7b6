"""The cells of the adjudication pages: who sees which votes, in which order, and what the pages' script saves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import ProjectAccess, project_access, proposition_of, unfinished
from annotation.domain.ordering import shuffled
from annotation.domain.schema import Dimension
from annotation.forms.adjudication import CaseForm, DecisionForm, UndoForm
from annotation.forms.decisions import CellIn, DecisionsIn, StoriesIn, TakenBack
from annotation.forms.values import MAX_REASON
from annotation.models import ErrorTag, GoldLabel, Method, Proposition, Role, TableKind, User, Vote, adjudication_queue
from annotation.services import adjudication as service
from annotation.services import claims
from annotation.services.decisions import last_action
from annotation.views.saving import saved
from core.plain import Json

MOST_CELLS = 40
"""Cells that an answer shows as they stand then; a page that took more back is loaded again."""


@dataclass(slots=True)
class Cell:
    """One cell as an expert sees it. `votes` are (label, name) pairs, names empty until the cell is decided, and left
    out of a cell on which the expert voted. `cast` are their labels in the order that is drawn for the cell."""

    proposition: Proposition
    dimension: Dimension
    gold: GoldLabel | None
    voted: bool
    votes: list[tuple[str, str]]
    cast: list[str]
    expert: User
    imported: str = ""
    waiting: bool = False
    comments: int = 0
    requested: bool = False

    @property
    def id(self) -> str:
        return f"{self.proposition.uid}-{self.dimension.key}"

    @property
    def state(self) -> str:
        if self.gold is not None:
            return "disturbed" if self.gold.disturbed else self.gold.method
        return "waiting" if self.waiting else "imported" if self.imported else "unlabelled"

    @property
    def decided(self) -> bool:
        return self.gold is not None and self.gold.method == Method.ADJUDICATED

    @property
    def todo(self) -> bool:
        return self.state in {"open", "disturbed"}

    @property
    def for_me(self) -> bool:
        return self.todo and not self.voted

    @property
    def in_full(self) -> bool:
        """Whether the cell is shown in full; others are one line of context."""
        return self.todo or self.decided or self.requested

    @property
    def decided_by_user(self) -> bool:
        return self.decided and self.gold.decided_by_id == self.expert.pk

    @property
    def label(self) -> str:
        return self.gold.label if self.gold else self.imported

    @property
    def needs_reason(self) -> bool:
        return not self.todo and not self.decided_by_user

    @property
    def chips(self) -> list[Json]:
        return [self._chip(label, count) for label, count in Counter(self.cast).items()]

    @property
    def others(self) -> list[Json]:
        return [self._chip(label, 0) for label in self.dimension.values if label not in self.cast]

    def _chip(self, label: str, count: int) -> Json:
        meanings = {definition.value: definition.meaning for definition in self.dimension.labels}
        return {
            "label": label,
            "count": count,
            "digit": self.dimension.digit(label) if label in meanings else "",
            "meaning": meanings.get(label, ""),
            "chosen": self.decided and label == self.gold.label,
        }


class CellReader:
    """Reads the cells of some propositions, in five statements whatever their number."""

    def __init__(self, access: ProjectAccess, propositions: Sequence[Proposition]) -> None:
        self.access = access
        rows = GoldLabel.objects.filter(proposition__in=propositions).select_related("decided_by")
        self.gold = {(gold.proposition_id, gold.dimension): gold for gold in rows}
        self.voted = adjudication_queue.voted_on(access.user, propositions)
        self.votes: dict[tuple[int, str], list[tuple[int, str]]] = defaultdict(list)
        cast = Vote.objects.cast().filter(proposition__in=propositions).order_by("annotator_id")
        for pk, key, *vote in cast.values_list("proposition_id", "dimension", "annotator_id", "label"):
            self.votes[pk, key].append(tuple(vote))
        self.names = names_of(annotator for votes in self.votes.values() for annotator, _ in votes)
        self.comments = adjudication_queue.comment_counts(propositions)

    def cell(self, proposition: Proposition, dimension: Dimension, *, requested: str = "") -> Cell:
        key = proposition.pk, dimension.key
        gold, voted, votes = self.gold.get(key), key in self.voted, self.votes.get(key, [])
        cast: list[str] = []
        named: list[tuple[str, str]] = []
        if gold is not None and not voted:
            cast = shuffled([label for _, label in votes], f"{proposition.uid}:{dimension.key}")
            named = sorted((label, self.names.get(annotator, "")) for annotator, label in votes)
            if gold.method == Method.OPEN:
                named = [(label, "") for label in cast]
        cell = Cell(
            proposition=proposition, dimension=dimension, gold=gold, voted=voted, votes=named, cast=cast,
            expert=self.access.user, imported=(proposition.imported_labels or {}).get(dimension.key) or "",
            waiting=gold is None and key in self.votes, comments=self.comments.get(key, 0),
        )  # fmt: skip
        cell.requested = requested == cell.id and cell.state in {"unanimous", "majority", "imported"}
        return cell


def names_of(users: Iterable[int]) -> dict[int, str]:
    return {user.pk: user.shown_name for user in User.objects.filter(pk__in=set(users))}


def proposition_in_gold(access: ProjectAccess, uid: str, dimension: str) -> Proposition:
    """Return a proposition of a gold table. Raises Http404 for removed ones, experts' drafts and unknown dimensions."""
    row = proposition_of(access, uid)
    live = row.table.kind == TableKind.GOLD and row.removed_at is None
    if not live or dimension not in access.project.schema:
        raise Http404(gettext("There is no such cell."))
    return row


def cell_on_page(
    request: HttpRequest, access: ProjectAccess, reader: CellReader, row: Proposition, dimension: str, **more: Any
) -> str:
    """Return a cell as a fragment of the page, in full whatever its state."""
    cell = reader.cell(row, access.project.schema[dimension])
    cell.requested = True
    context = {"cell": cell, "tags": list(enumerate(ErrorTag.choices, 1))}
    return render_to_string("annotation/adjudication/_cell.html", access.context | context | more, request)


@require_http_methods(["GET", "POST"])
def decide(request: HttpRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """Take or take back a decision; answer with the cell as it then stands, as a GET does."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_in_gold(access, proposition, dimension)
    if request.method == "GET":
        return _answer(request, access, row, dimension)
    undo = "undo" in request.POST
    form = UndoForm(request.POST) if undo else DecisionForm(request.POST)
    if not form.is_valid():
        problem = gettext("Reload the page, then take the decision back.") if undo else form.problem
        return _answer(request, access, row, dimension, problem, 422)
    place = {"by": request.user, "proposition": row, "dimension": dimension, "now": timezone.now()}
    try:
        (service.undo_decision if undo else service.adjudicate)(**place, **form.cleaned_data)
    except service.AdjudicationRefused as error:
        status = 409 if isinstance(error, service.DecidedMeanwhile) else 422
        return _answer(request, access, row, dimension, str(error), status)
    return _answer(request, access, row, dimension)


@require_POST
def file_case(request: HttpRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """File a cell for the guideline, or take it off that list."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_in_gold(access, proposition, dimension)
    form = CaseForm(request.POST)
    if not form.is_valid():
        return _answer(request, access, row, dimension, gettext("Say whether to file the case or to remove it."), 422)
    try:
        service.file_case(by=request.user, proposition=row, dimension=dimension, filed=form.cleaned_data["filed"])
    except service.AdjudicationRefused as error:
        return _answer(request, access, row, dimension, str(error), 422)
    return _answer(request, access, row, dimension)


def _answer(request, access: ProjectAccess, row: Proposition, dimension: str, problem: str = "", status: int = 200):
    """Answer htmx with the cell as a fragment; without htmx, go back to the story with the sentence on top."""
    story = row.table.story
    back = _address(access, story, f"{row.uid}-{dimension}")
    if not request.htmx:
        if problem:
            messages.error(request, problem)
        return redirect(back)
    if story.pk in unfinished(access):
        return HttpResponse(status=204, headers={"HX-Redirect": back})
    # What was typed survives an answer that did not take it in.
    stays = problem or "filed" in request.POST
    typed = {name: request.POST.get(name, "")[:MAX_REASON] for name in ("reason", "error_tag")} if stays else None
    cell = cell_on_page(request, access, CellReader(access, [row]), row, dimension, problem=problem, typed=typed)
    return HttpResponse(cell, status=status)


def _address(access: ProjectAccess, story, cell: str) -> str:
    return f"{reverse('annotation:adjudicate', args=[access.project.slug, story.uid])}?cell={cell}#{cell}"


@require_POST
def save_decisions(request: HttpRequest, slug: str) -> JsonResponse:
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
        keys = (
            {"idempotency_key": change.idempotency_key, "changed_at": change.changed_at.isoformat()}
            for change in posted.changes
        )
        return {"saved": [cell | key for cell, key in zip(cells, keys, strict=True)], "warnings": {}}

    return saved(request, DecisionsIn, save, made=gettext("made these decisions"), refused=service.AdjudicationRefused)


@require_http_methods(["GET", "POST"])
def undo_decisions(request: HttpRequest, slug: str) -> JsonResponse:
    """The decisions that this expert took last and can take back, null for none; a POST takes back those that it
    names, all or none."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    if request.method == "GET":
        return JsonResponse({"undo": _last(access)})

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
def keep_claims(request: HttpRequest, slug: str) -> JsonResponse:
    """Keep the claims of an expert who is at work on these stories; the answer names those of others."""
    access = project_access(request.user, slug, role=Role.EXPERT)

    def keep(posted: StoriesIn) -> Json:
        stories = dict(access.project.stories.filter(uid__in=posted.stories).values_list("id", "uid"))
        others = claims.renew(by=request.user, stories=stories, now=timezone.now())
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
    request: HttpRequest, access: ProjectAccess, rows: dict[str, Proposition], cells: Iterable[CellIn]
) -> list[Json]:
    """Return {proposition, dimension, html} of the cells; without html if the expert still labels the story."""
    hidden = unfinished(access)
    listed = {cell.proposition: rows[cell.proposition] for cell in cells}.values()
    reader = CellReader(access, [row for row in listed if row.table.story_id not in hidden])
    fragments = []
    for cell in cells:
        row = rows[cell.proposition]
        is_hidden = row.table.story_id in hidden
        html = "" if is_hidden else cell_on_page(request, access, reader, row, cell.dimension)
        fragments.append({"proposition": cell.proposition, "dimension": cell.dimension, "html": html})
    return fragments


def _last(access: ProjectAccess) -> Json | None:
    """Return the cells that the expert's last action decided with their revisions, the first of them in words, and the
    address where it is taken back."""
    events = last_action(by=access.user, project=access.project)
    if not events:
        return None
    rows = GoldLabel.objects.filter(proposition__in={event.proposition_id for event in events})
    revisions = {(pk, key): at for pk, key, at in rows.values_list("proposition", "dimension", "revision")}
    first = events[-1]  # the newest is in front
    story = first.proposition.table.story
    return {
        "cells": [
            {
                "proposition": event.proposition.uid,
                "dimension": event.dimension,
                "revision": revisions[event.proposition_id, event.dimension],
            }
            for event in events
        ],
        "label": first.after,
        "story": story.number,
        "dimension": access.project.schema[first.dimension].name,
        "url": _address(access, story, f"{first.proposition.uid}-{first.dimension}"),
    }
