"""The editor of an expert's own draft of a belief table, and what its script calls."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, UserRequest, project_access, story_of
from annotation.domain.drafts import LONGEST
from annotation.domain.schema import orders_text
from annotation.domain.tables import likely_actors
from annotation.forms.drafts import RowChangesIn
from annotation.models import Role, Story
from annotation.services import drafts as service
from annotation.services.reconciliation import state_of
from annotation.views.saving import saved
from core.plain import Json, plain


def for_experts(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Call a view on the table of a story, which is for experts, with the project's access and the story."""

    @wraps(view)
    def open_to_experts(request: UserRequest, slug: str, story: str) -> HttpResponse:
        access = project_access(request.user, slug, role=Role.EXPERT)
        return view(request, access, story_of(access, story))

    return open_to_experts


@require_http_methods(["GET", "POST"])
@for_experts
def draft(request: UserRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    """The editor; a POST hands the table in, or takes it back."""
    if request.method == "POST":
        return _handed(request, access, story)
    service.draw_for(story=story, expert=request.user, now=timezone.now())
    state = state_of(story=story, expert=request.user)
    own = service.own_draft(story=story, expert=request.user)
    closed = service.closed_to(story=story, draft=own)
    begun, rows = service.begun_with(own), list(service.live_rows(own).select_related("suggested"))
    model = None
    if begun is not None:
        source = next((row.source for row in begun.values()), "")
        numbered = {uid: {"number": row.number, **row.words._asdict()} for uid, row in begun.items()}
        model = {"source": source, "rows": numbered}
    context = {
        "story": story,
        "navigation": "annotation:tables",
        "state": state,
        "own_orders": access.project.schema.own_orders,
        "closed": closed,
        "rows": [{"row": row, "mark": service.mark_of_row(row).value} for row in rows],
        "begun": model,
        "deleted": service.deleted_rows(rows, begun) if begun else [],
        "can_reconcile": state.handed_in and state.ready and not state.has_gold,
        "can_take_back": state.handed_in and not service.why_not_back(story=story, table=own),
        "settings": None,
    }
    if not closed:
        urls = {"save": "save_draft", "undo": "undo_draft", "versions": "draft_versions"}
        states, warnings = {row.uid: row.state for row in rows}, service.warnings_of(own, story)
        context["settings"] = script_settings(access, story, **urls) | {
            "rows": row_states(states), "model": model, "warnings": warnings,
        }  # fmt: skip
    return render(request, "annotation/tables/draft.html", access.context | context)


def _handed(request: UserRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    row_count = request.POST.get("rows", "")
    try:
        if "take_back" in request.POST:
            service.take_back(by=request.user, story=story)
            messages.success(request, gettext("Your table is yours again: hand it in when it is ready."))
        else:
            rows = int(row_count) if row_count.isdecimal() and len(row_count) < 6 else None
            service.hand_in(by=request.user, story=story, now=timezone.now(), rows=rows)
            if access.project.table_experts == 1:  # else the page itself says that it is handed in
                text = gettext("Your table of story {number} is handed in.")
                messages.success(request, text.format(number=story.number))
    except service.Refused as error:
        messages.error(request, str(error))
    return redirect("annotation:draft", access.project.slug, story.uid)


def row_states(states: Mapping[str, object]) -> list[Json]:
    """Return rows and their states as the scripts of the editor and of reconciliation have them."""
    return [{"row": uid, "state": plain(state)} for uid, state in states.items()]


def undo_response(step: tuple[str, Mapping[str, object]] | None) -> JsonResponse:
    return JsonResponse({"undo": step and {"action": step[0], "rows": row_states(step[1])}})


@require_POST
@for_experts
def save_draft(request: UserRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    """Save changes of the expert's own draft, all or none; the answer has every row as it stands, and all warnings."""

    def save(posted: RowChangesIn) -> Json:
        changes = [entry.change for entry in posted.changes]
        stored = service.save_rows(by=request.user, story=story, changes=changes, now=timezone.now())
        times = {change.idempotency_key: change.changed_at.isoformat() for change in changes}
        answer: list[Json] = []
        for change, (state, copy) in zip(changes, stored, strict=True):
            key, [entry] = change.idempotency_key, row_states({change.row: state})
            copied = {"copy": row_states(dict([copy]))[0]} if copy else {}
            answer.append(entry | {"idempotency_key": key, "changed_at": times[key]} | copied)
        table = service.own_draft(story=story, expert=request.user)
        return {"saved": answer, "warnings": service.warnings_of(table, story)}

    return saved(request, RowChangesIn, save, made=gettext("wrote these rows"), refused=service.Refused)


@require_GET
@for_experts
def undo_draft(request: UserRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    """The rows as they were before the expert's last action, to be sent like any other change; null for none. With
    `?redo=1` the rows as they were before the last undo."""
    table = service.own_draft(story=story, expert=request.user)
    return undo_response(service.last_step(table=table, redo="redo" in request.GET))


@require_GET
@for_experts
def draft_versions(request: UserRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    """The moments that the draft can go back to, or with `?version=` its rows at one of them."""
    table = service.own_draft(story=story, expert=request.user)
    version_id = request.GET.get("version", "")
    if not version_id:
        versions = service.versions_of(table)
        return JsonResponse({"versions": [{"id": pk, "at": at.isoformat(), "rows": rows} for pk, at, rows in versions]})
    if table is None or not version_id.isdecimal() or len(version_id) > 18:
        raise Http404(gettext("There is no such version."))
    return JsonResponse({"rows": row_states(service.rows_at(table, int(version_id)))})


def script_settings(access: ProjectAccess, story: Story, **addresses: str) -> dict[str, Any]:
    """Return whose rows they are, of which story, the clock, names to complete, what a row may hold, and addresses,
    which are given by the names of their views."""
    orders, place = access.project.schema.orders, [access.project.slug, story.uid]
    return {
        "annotator": access.user.pk,
        "story": story.uid,
        "now": timezone.now().isoformat(),
        "names": likely_actors(story.text),
        "orders": orders,
        "orders_told": orders_text(orders),
        "longest": LONGEST,
        "urls": {
            "next": f"{reverse('annotation:next_table', args=[access.project.slug])}?after={story.uid}",
            "login": reverse("login"),
            **{name: reverse(f"annotation:{view}", args=place) for name, view in addresses.items()},
        },
    }
