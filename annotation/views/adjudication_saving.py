"""Views that the script of the adjudication pages calls: saving decisions, taking them back, keeping claims up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import ProjectAccess, project_access, unfinished
from annotation.forms.decisions import CellIn, DecisionIn, DecisionsIn, StoriesIn, TakenBack
from annotation.models import ErrorTag, GoldLabel, Proposition, Role
from annotation.services import adjudication as service
from annotation.services import claims
from annotation.services.last_decisions import last_action
from annotation.views.adjudication_cells import CellReader
from annotation.views.saving import CellFragment, DecidedCell, LastAction, SavedCell, SavedChanges, saved
from core.plain import plain

MOST_CELLS = 40
"""Cells that an answer shows as they stand then; a page that took more back is loaded anew."""


@dataclass(frozen=True, slots=True)
class _CellsNow:
    cells: Sequence[CellFragment]


@dataclass(frozen=True, slots=True)
class _Others:
    """Who else decides in stories, by their uid."""

    others: Mapping[str, str]


@require_POST
def save_decisions(request: HttpRequest, slug: str) -> JsonResponse:
    """Save decisions of one expert, all or none; the answer has each cell as it then stands."""
    access = project_access(request.user, slug, role=Role.EXPERT)

    def save(posted: DecisionsIn) -> SavedChanges:
        now = timezone.now()
        rows = _propositions(access, posted.changes)
        for story in {row.table.story for row in rows.values()}:
            claims.keep_up(by=request.user, story=story, now=now)
        with transaction.atomic():
            for change in posted.changes:
                _adjudicate(access, rows[change.proposition], change, now)
        cells = _cells_on_page(request, access, rows, posted.changes)
        return SavedChanges([
            SavedCell(
                cell.proposition, cell.dimension, cell.html, change.idempotency_key, change.changed_at.isoformat()
            )
            for change, cell in zip(posted.changes, cells, strict=True)
        ])  # fmt: skip

    return saved(request, DecisionsIn, save, made=gettext("made these decisions"), refused=service.AdjudicationRefused)


def _adjudicate(access: ProjectAccess, row: Proposition, decision: DecisionIn, now: datetime) -> None:
    service.adjudicate(
        by=access.user,
        proposition=row,
        dimension=decision.dimension,
        label=decision.label,
        revision=decision.revision,
        now=now,
        row=decision.row,
        reason=decision.reason,
        error_tag=decision.error_tag,
        replaces=decision.replaces,
    )


@require_http_methods(["GET", "POST"])
def undo_decisions(request: HttpRequest, slug: str) -> JsonResponse:
    """The decisions that this expert took last and can take back, null for none; a POST takes back those that it
    names, all or none."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    if request.method == "GET":
        return JsonResponse({"undo": plain(_last(access))})

    def take_back(posted: TakenBack) -> _CellsNow:
        rows = _propositions(access, posted.cells)
        cells = {(rows[cell.proposition].pk, cell.dimension): cell.revision for cell in posted.cells}
        service.undo_decisions(by=request.user, project=access.project, cells=cells, now=timezone.now())
        few = posted.cells if len(posted.cells) <= MOST_CELLS else []
        return _CellsNow(_cells_on_page(request, access, rows, few))

    return saved(
        request, TakenBack, take_back, made=gettext("made these decisions"), refused=service.AdjudicationRefused
    )


@require_POST
def keep_claims(request: HttpRequest, slug: str) -> JsonResponse:
    """Keep the claims of an expert who is at work on these stories; the answer names those of others."""
    access = project_access(request.user, slug, role=Role.EXPERT)

    def keep(posted: StoriesIn) -> _Others:
        stories = dict(access.project.stories.filter(uid__in=posted.stories).values_list("id", "uid"))
        others = claims.renew(by=request.user, stories=stories, now=timezone.now())
        return _Others({stories[story]: claim.expert.shown_name for story, claim in others.items()})

    return saved(request, StoriesIn, keep, made=gettext("opened these stories"), refused=service.AdjudicationRefused)


def _propositions(access: ProjectAccess, cells: Iterable[CellIn]) -> dict[str, Proposition]:
    """Return the propositions of the cells by uid. Raises AdjudicationRefused where one is none of the gold tables, or
    a dimension none of the project's."""
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
) -> list[CellFragment]:
    """Return the cells as the page shows them; without their content where the expert still labels the story."""
    hidden = unfinished(access)
    listed = list({cell.proposition: rows[cell.proposition] for cell in cells}.values())
    reader = CellReader(access, [row for row in listed if row.table.story_id not in hidden])
    return [
        CellFragment(
            cell.proposition,
            cell.dimension,
            "" if row.table.story_id in hidden else cell_on_page(request, access, reader, row, cell.dimension),
        )
        for cell, row in ((cell, rows[cell.proposition]) for cell in cells)
    ]


def cell_on_page(
    request: HttpRequest, access: ProjectAccess, reader: CellReader, row: Proposition, dimension: str, **more: Any
) -> str:
    """Return a cell as a fragment of the page, in full whatever its state."""
    cell = reader.cell(row, access.project.schema[dimension])
    cell.requested = True
    context = {"cell": cell, "tags": list(enumerate(ErrorTag.choices, 1))}
    return render_to_string("annotation/adjudication/_cell.html", access.context | context | more, request)


def _last(access: ProjectAccess) -> LastAction | None:
    events = last_action(by=access.user, project=access.project)
    if not events:
        return None
    rows = GoldLabel.objects.filter(proposition__in={event.proposition_id for event in events})
    revisions = {
        (row, dimension): revision
        for row, dimension, revision in rows.values_list("proposition", "dimension", "revision")
    }
    first = events[-1]  # the newest is in front
    story, cell = first.proposition.table.story, f"{first.proposition.uid}-{first.dimension}"
    return LastAction(
        cells=[
            DecidedCell(event.proposition.uid, event.dimension, revisions[event.proposition_id, event.dimension])
            for event in events
        ],
        label=first.after,
        story=story.number,
        dimension=access.project.schema[first.dimension].name,
        url=f"{reverse('annotation:adjudicate', args=[access.project.slug, story.uid])}?cell={cell}#{cell}",
    )
