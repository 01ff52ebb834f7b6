"""Two drafts of a story's table beside each other, and what the page's script calls."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, open_work, project_access, story_of
from annotation.forms.lanes import DecisionsIn, LinkIn
from annotation.models import DraftRow, LaneRow, Role, Story
from annotation.services import reconciliation as service
from annotation.services.belief_tables import kept_by
from annotation.services.drafts import mark_of_row
from annotation.services.open_work import Work
from annotation.views.drafts import next_address, script_settings
from annotation.views.saving import saved
from core.plain import Json, plain

_LANES = (
    ("reworded", gettext_lazy("Reworded"), gettext_lazy("The same actor, similar words.")),
    ("order", gettext_lazy("Order differs"), gettext_lazy("The same words; another order, or none from one of them.")),
    ("only-a", gettext_lazy("Only A"), gettext_lazy("B did not write it.")),
    ("only-b", gettext_lazy("Only B"), gettext_lazy("A did not write it.")),
    ("new", gettext_lazy("Added here"), gettext_lazy("Neither wrote it.")),
    ("same", gettext_lazy("Same"), gettext_lazy("Both wrote it; it is kept.")),
)


@require_http_methods(["GET", "POST"])
def reconcile(request: HttpRequest, slug: str, story: str) -> HttpResponse:
    """The lanes of two drafts that are handed in; before that the expert's own draft, and once they are settled where
    each row comes from. A POST opens them, agrees, makes the gold table or opens the lanes again."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    if request.method == "POST":
        return _do(request, access, row)
    state = service.state_of(story=row, expert=request.user)
    rows = list(service.lanes_of(row))
    if not state.ready or (state.has_gold and not rows):
        return redirect("annotation:draft", slug, story)
    context = {
        "story": row,
        "navigation": "annotation:tables",
        "state": state,
        "own_orders": access.project.schema.own_orders,
        "lanes": _LANES,
        "writers": [_name(draft.author) for draft in state.submitted],
        # who still labels the story is not told a label of it
        "shows_order": row.pk not in open_work(access, before=Work.TABLE),
        "why_kept": kept_by(row) if state.has_gold else "",
        "rows": [_entry_of(lane_row) for lane_row in rows] if state.has_gold else [],
        "settings": _settings(access, row, state) if state.opened and not state.has_gold else None,
    }
    return render(request, "annotation/tables/reconcile.html", access.context | context)


def _do(request: HttpRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    by, now, slug = request.user, timezone.now(), access.project.slug
    try:
        if "open" in request.POST:
            service.open_lanes(story=story, by=by, now=now)
        elif "agree" in request.POST:
            service.agree(by=by, story=story, now=now if request.POST["agree"] == "1" else None)
        elif "reopen" in request.POST:
            service.reopen(by=by, story=story)
            messages.success(
                request, gettext("The lanes of story {number} are open again.").format(number=story.number)
            )
        elif "finish" in request.POST:
            count = service.finish(by=by, story=story, now=now)
            messages.success(
                request,
                ngettext(
                    "Story {number} has its gold table: {count} row.",
                    "Story {number} has its gold table: {count} rows.",
                    count,
                ).format(number=story.number, count=count),
            )
    except service.Refused as error:
        messages.error(request, str(error))
    return redirect("annotation:reconcile", slug, story.uid)


def _name(person) -> str:
    return person.shown_name if person is not None else "somebody"


def _entry_of(row: LaneRow) -> Json:
    """Return a row of the settled table with its remark, its lane, and how each expert's row came from a model's."""
    remark = service.remark_of(row)
    lane = service.lane_of_row(row).value
    marks = {"a_mark": _mark(row.a), "b_mark": _mark(row.b)}
    return {"row": row, "remark": remark.label if remark else "", "lane": lane, **marks}


def _mark(row: DraftRow | None) -> str:
    """Return how a row of an expert's draft came from a model's; empty for one of their own."""
    return mark_of_row(row).value if row is not None and row.suggested_id else ""


def _settings(access: ProjectAccess, story: Story, state: service.State) -> Json:
    """Return what the script of the page needs."""
    place = [access.project.slug, story.uid]
    return {
        **script_settings(access, story),
        "lanes": _lanes(story, state),
        "urls": {
            "save": reverse("annotation:save_lanes", args=place),
            "rows": reverse("annotation:lane_rows", args=place),
            "link": reverse("annotation:link_lanes", args=place),
            "undo": reverse("annotation:undo_lanes", args=place),
            "next": next_address(access, story),
            "login": reverse("login"),
        },
    }


def _lanes(story: Story, state: service.State) -> Json:
    """Return all rows as they stand, and who agreed to them; nothing before the lanes are open."""
    if not state.opened:
        return {"rows": [], "agreed": [], "i_agree": False}
    return {
        "rows": [_row(row) for row in service.lanes_of(story)],
        "agreed": [_name(draft.author) for draft in state.submitted if draft.agreed_at],
        "i_agree": bool(state.own_draft and state.own_draft.agreed_at),
    }


def _row(row: LaneRow) -> Json:
    """Return a row of the lanes as it stands, and who decided it."""
    return {
        "row": row.uid,
        "lane": service.lane_of_row(row).value,
        "a": _words(row.a),
        "b": _words(row.b),
        "state": plain(service.state_of_row(row)),
        "by": _name(row.decided_by) if row.decided_by else "",
        "gone": row.gone,
    }


def _words(row: DraftRow | None) -> Json | None:
    return row and {"actor": row.actor, "belief": row.belief, "order": row.order_text, "remark": row.remark}


@require_GET
def lane_rows(request: HttpRequest, slug: str, story: str) -> JsonResponse:
    """All rows as they stand, none before the lanes are open: the other expert may be at work on them."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    state = service.state_of(story=row, expert=request.user)
    return JsonResponse(_lanes(row, state) | {"opened": state.opened, "settled": state.has_gold})


@require_POST
def save_lanes(request: HttpRequest, slug: str, story: str) -> JsonResponse:
    """Save decisions on rows, all or none; the answer has each row as it stands, and who was quicker."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)

    def save(posted: DecisionsIn) -> Json:
        decisions = [entry.decision for entry in posted.changes]
        decided = service.decide(by=request.user, story=row, decisions=decisions, now=timezone.now())
        rows = []
        for decision, (stands, quicker) in zip(decisions, decided, strict=True):
            key, moment = decision.idempotency_key, decision.changed_at.isoformat()
            rows.append(_row(stands) | {"idempotency_key": key, "changed_at": moment, "quicker": quicker})
        return {"saved": rows}

    return saved(request, DecisionsIn, save, made=gettext("made these decisions"), refused=service.Refused)


@require_POST
def link_lanes(request: HttpRequest, slug: str, story: str) -> JsonResponse:
    """Link two rows, or separate one; the answer has all rows."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)

    def save(posted: LinkIn) -> Json:
        by, key, now = request.user, posted.idempotency_key, timezone.now()
        if posted.other is None:
            service.separate(by=by, story=row, row=posted.row, key=key, now=now)
        else:
            service.link(by=by, story=row, first=posted.row, second=posted.other, key=key, now=now)
        return _lanes(row, service.state_of(story=row, expert=request.user))

    return saved(request, LinkIn, save, made=gettext("linked these rows"), refused=service.Refused)


@require_GET
def undo_lanes(request: HttpRequest, slug: str, story: str) -> JsonResponse:
    """The rows as they were before this person's last action (with `?redo=1`: last undo); null for none, 400 with the
    sentence where they were linked or separated and changed since."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    try:
        step = service.last_step(story=story_of(access, story), by=request.user, redo="redo" in request.GET)
    except service.Refused as error:
        return JsonResponse({"error": str(error)}, status=400)
    if step is None:
        return JsonResponse({"undo": None})
    action, states = step
    rows = [{"row": uid, "state": plain(state)} for uid, state in states.items()]
    return JsonResponse({"undo": {"action": action, "rows": rows}})
