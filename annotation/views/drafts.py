"""The editor of an expert's own draft of a belief table, and what its script calls."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, project_access, story_of
from annotation.domain.drafts import LONGEST, RowState
from annotation.domain.schema import orders_text
from annotation.domain.tables import likely_actors
from annotation.forms.drafts import RowChangesIn
from annotation.models import BeliefTable, Role, Story
from annotation.services import drafts as service
from annotation.services.reconciliation import state_of
from annotation.views.saving import saved
from core.plain import Json, plain


@require_http_methods(["GET", "POST"])
def draft(request: HttpRequest, slug: str, story: str) -> HttpResponse:
    """The editor; a POST hands the table in, or takes it back."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    if request.method == "POST":
        return _handed(request, access, row)
    service.draw_for(story=row, expert=request.user, now=timezone.now())
    state = state_of(story=row, expert=request.user)
    own = service.own_draft(story=row, expert=request.user)
    closed = service.closed_to(story=row, expert=request.user, draft=own)
    begun, rows = service.begun_with(own), list(service.live_rows(own).select_related("suggested"))
    context = {
        "story": row,
        "navigation": "annotation:tables",
        "state": state,
        "own_orders": access.project.schema.own_orders,
        "closed": closed,
        "rows": [{"row": draft_row, "mark": service.mark_of_row(draft_row).value} for draft_row in rows],
        "begun": begun,
        "deleted": service.deleted_rows(rows, begun) if begun else [],
        "can_reconcile": state.handed_in and state.ready and not state.has_gold,
        "can_take_back": state.handed_in and not service.why_not_back(story=row, table=own),
        "settings": None if closed else _settings(access, row, own, rows, begun),
    }
    return render(request, "annotation/tables/draft.html", access.context | context)


def _handed(request: HttpRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    slug, row_count = access.project.slug, request.POST.get("rows", "")
    try:
        if "take_back" in request.POST:
            service.take_back(by=request.user, story=story)
            messages.success(request, gettext("Your table is yours again: hand it in when it is ready."))
            return redirect("annotation:draft", slug, story.uid)
        rows = int(row_count) if row_count.isdecimal() and len(row_count) < 6 else None
        service.hand_in(by=request.user, story=story, now=timezone.now(), rows=rows)
    except service.Refused as error:
        messages.error(request, str(error))
        return redirect("annotation:draft", slug, story.uid)
    if access.project.table_experts == 1:  # else the page itself says that it is handed in
        messages.success(request, gettext("Your table of story {number} is handed in.").format(number=story.number))
    return redirect("annotation:draft", slug, story.uid)


def _settings(
    access: ProjectAccess, story: Story, own: BeliefTable | None, rows: list, begun: service.Begun | None
) -> dict:
    """Return what the editor's script needs: rows with their warnings, names to complete, addresses, the clock, and the
    model's draft where the expert began with one."""
    place = [access.project.slug, story.uid]
    return {
        **script_settings(access, story),
        "rows": [_row(row.uid, service.state_of_row(row)) for row in rows],
        "model": _model(begun),
        "warnings": _warnings(own, story) if own else {},
        "urls": {
            "save": reverse("annotation:save_draft", args=place),
            "undo": reverse("annotation:undo_draft", args=place),
            "next": next_address(access, story),
            "versions": reverse("annotation:draft_versions", args=place),
            "login": reverse("login"),
        },
    }


def _row(uid: str, state: RowState) -> Json:
    return {"row": uid, "state": plain(state)}


def _model(begun: service.Begun | None) -> dict | None:
    """Return the model's rows by the rows of the draft that began as them."""
    if begun is None:
        return None
    rows = {
        uid: {"number": row.number, "actor": row.actor, "belief": row.belief, "order": row.order_text}
        for uid, row in begun.rows.items()
    }
    return {"source": begun.source, "rows": rows}


def _warnings(table, story: Story) -> dict[str, list[dict]]:
    warnings = service.warnings_of(table, story)
    return {
        uid: [{"field": warning.field, "text": warning.text} for warning in warned] for uid, warned in warnings.items()
    }


@require_POST
def save_draft(request: HttpRequest, slug: str, story: str) -> JsonResponse:
    """Save changes of the expert's own draft, all or none; the answer has every row as it stands, and all warnings."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)

    def save(posted: RowChangesIn) -> dict:
        changes = [entry.change for entry in posted.changes]
        stored = service.save_rows(by=request.user, story=row, changes=changes, now=timezone.now())
        table = service.own_draft(story=row, expert=request.user)
        times = {change.idempotency_key: change.changed_at.isoformat() for change in changes}
        answer = [
            _row(stored_row.row, stored_row.state)
            | {"idempotency_key": stored_row.idempotency_key, "changed_at": times[stored_row.idempotency_key]}
            | ({"copy": _row(*stored_row.copy)} if stored_row.copy else {})
            for stored_row in stored
        ]
        return {"saved": answer, "warnings": _warnings(table, row)}

    return saved(request, RowChangesIn, save, made=gettext("wrote these rows"), refused=service.Refused)


@require_GET
def undo_draft(request: HttpRequest, slug: str, story: str) -> JsonResponse:
    """The rows as they were before the expert's last action, to be sent like any other change; null for none. With
    `?redo=1` the rows as they were before the last undo."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    table = service.own_draft(story=story_of(access, story), expert=request.user)
    step = service.last_step(table=table, redo="redo" in request.GET)
    if step is None:
        return JsonResponse({"undo": None})
    action, rows = step
    return JsonResponse({"undo": {"action": action, "rows": [_row(uid, state) for uid, state in rows.items()]}})


@require_GET
def draft_versions(request: HttpRequest, slug: str, story: str) -> JsonResponse:
    """The moments that the draft can go back to, or with `?version=` its rows at one of them."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    table = service.own_draft(story=story_of(access, story), expert=request.user)
    version_id = request.GET.get("version", "")
    if not version_id:
        versions = service.versions_of(table)
        return JsonResponse({"versions": [{"id": pk, "at": at.isoformat(), "rows": rows} for pk, at, rows in versions]})
    if table is None or not version_id.isdecimal() or len(version_id) > 18:
        raise Http404(gettext("There is no such version."))
    rows = service.rows_at(table, int(version_id))
    return JsonResponse({"rows": [_row(uid, state) for uid, state in rows.items()]})


def script_settings(access: ProjectAccess, story: Story) -> Json:
    """Return whose rows they are, of which story, the clock, names to complete, and what a row may hold."""
    orders = access.project.schema.orders
    return {
        "annotator": access.user.pk,
        "story": story.uid,
        "now": timezone.now().isoformat(),
        "names": likely_actors(story.text),
        "orders": orders,
        "orders_told": orders_text(orders),
        "longest": LONGEST,
    }


def next_address(access: ProjectAccess, story: Story) -> str:
    """Return the address of the table that comes after this story's."""
    return f"{reverse('annotation:next_table', args=[access.project.slug])}?after={story.uid}"
