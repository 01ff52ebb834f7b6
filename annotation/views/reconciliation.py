"""Two drafts of a story's table in pairs of rows, and what the page's script calls."""

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, UserRequest, open_work
from annotation.forms.drafts import DecisionsIn, LinkIn
from annotation.models import DraftRow, Pair, Story, User
from annotation.services import reconciliation as service
from annotation.services.belief_tables import kept_by
from annotation.services.drafts import Refused, mark_of_row
from annotation.services.open_work import Work
from annotation.views.drafts import for_experts, row_states, script_settings, undo_response
from annotation.views.saving import saved
from core.plain import Json

_KINDS = (
    ("reworded", gettext_lazy("Reworded"), gettext_lazy("The same actor, similar words.")),
    ("order", gettext_lazy("Order differs"), gettext_lazy("The same words; another order, or none from one of them.")),
    ("only-a", gettext_lazy("Only A"), gettext_lazy("B did not write it.")),
    ("only-b", gettext_lazy("Only B"), gettext_lazy("A did not write it.")),
    ("new", gettext_lazy("Added here"), gettext_lazy("Neither wrote it.")),
    ("same", gettext_lazy("Same"), gettext_lazy("Both wrote it; it is kept.")),
)
_URLS = {"save": "save_pairs", "rows": "pair_rows", "link": "link_pairs", "undo": "undo_pairs"}


@require_http_methods(["GET", "POST"])
@for_experts
def reconcile(request: UserRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    """The pairs of two drafts that are handed in; before that the expert's own draft, and once they are settled the
    origin of each row. A POST opens them, agrees, makes the gold table or opens the pairs again."""
    if request.method == "POST":
        return _do(request, access, story)
    state = service.state_of(story=story, expert=request.user)
    rows = list(service.pairs_of(story))
    if not state.ready or (state.has_gold and not rows):
        return redirect("annotation:draft", access.project.slug, story.uid)
    settled = []
    for pair in rows if state.has_gold else ():
        remark = pair.gold_remark
        # What became of a model's row in each draft.
        marks = {
            f"{side}_mark": mark_of_row(row).value if row is not None and row.suggested_id else ""
            for side, row in (("a", pair.a), ("b", pair.b))
        }
        settled.append({"row": pair, "remark": remark.label if remark else "", "kind": pair.kind.value, **marks})
    context = {
        "story": story,
        "navigation": "annotation:tables",
        "state": state,
        "own_orders": access.project.schema.own_orders,
        "kinds": _KINDS,
        "writers": [_name(draft.author) for draft in state.submitted],
        # who still labels the story is not told a label of it
        "shows_order": story.pk not in open_work(access, before=Work.TABLE),
        "why_kept": kept_by(story) if state.has_gold else "",
        "rows": settled,
        "settings": None,
    }
    if state.opened and not state.has_gold:
        context["settings"] = script_settings(access, story, **_URLS) | {"pairs": _pairs(story, state)}
    return render(request, "annotation/tables/reconcile.html", access.context | context)


def _do(request: UserRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    on: Json = {"by": request.user, "story": story}
    now, number, done = timezone.now(), story.number, ""
    try:
        if "open" in request.POST:
            service.open_pairs(**on, now=now)
        elif "agree" in request.POST:
            service.agree(**on, now=now if request.POST["agree"] == "1" else None)
        elif "reopen" in request.POST:
            service.reopen(**on)
            done = gettext("The reconciliation of story {number} is open again.").format(number=number)
        elif "finish" in request.POST:
            count = service.finish(**on, now=now)
            done = ngettext(
                "Story {number} has its gold table: {count} row.",
                "Story {number} has its gold table: {count} rows.",
                count,
            ).format(number=number, count=count)
    except Refused as error:
        messages.error(request, str(error))
    if done:
        messages.success(request, done)
    return redirect("annotation:reconcile", access.project.slug, story.uid)


def _name(person: User | None) -> str:
    return person.shown_name if person is not None else "somebody"


def _pairs(story: Story, state: service.State) -> Json:
    """Return all pairs as they stand, and who agreed to them; none before the pairs are open."""
    if not state.opened:
        return {"rows": [], "agreed": [], "i_agree": False}
    return {
        "rows": [_pair(pair) for pair in service.pairs_of(story)],
        "agreed": [_name(draft.author) for draft in state.submitted if draft.agreed_at],
        "i_agree": bool(state.own_draft and state.own_draft.agreed_at),
    }


def _pair(pair: Pair) -> Json:
    """Return a pair as it stands, and who decided it."""

    def words(row: DraftRow | None) -> Json | None:
        return {**row.words._asdict(), "remark": row.remark} if row else None

    [entry] = row_states({pair.uid: pair.state})
    by = _name(pair.decided_by) if pair.decided_by else ""
    return entry | {"kind": pair.kind.value, "a": words(pair.a), "b": words(pair.b), "by": by, "gone": pair.gone}


@require_GET
@for_experts
def pair_rows(request: UserRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    """All pairs as they stand, none before they are open: the other expert may be at work on them."""
    state = service.state_of(story=story, expert=request.user)
    return JsonResponse(_pairs(story, state) | {"opened": state.opened, "settled": state.has_gold})


@require_POST
@for_experts
def save_pairs(request: UserRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    """Save decisions on pairs, all or none; the answer has each pair as it stands, and who was quicker."""

    def save(posted: DecisionsIn) -> Json:
        decisions = [entry.change for entry in posted.changes]
        decided = service.decide(by=request.user, story=story, decisions=decisions, now=timezone.now())
        rows = []
        for decision, (pair, quicker) in zip(decisions, decided, strict=True):
            key, moment = decision.idempotency_key, decision.changed_at.isoformat()
            rows.append(_pair(pair) | {"idempotency_key": key, "changed_at": moment, "quicker": quicker})
        return {"saved": rows}

    return saved(request, DecisionsIn, save, made=gettext("made these decisions"), refused=Refused)


@require_POST
@for_experts
def link_pairs(request: UserRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    """Link two rows, or separate one; the answer has all pairs."""

    def save(posted: LinkIn) -> Json:
        key, now = posted.idempotency_key, timezone.now()
        service.link(by=request.user, story=story, first=posted.row, second=posted.other, key=key, now=now)
        return _pairs(story, service.state_of(story=story, expert=request.user))

    return saved(request, LinkIn, save, made=gettext("linked these rows"), refused=Refused)


@require_GET
@for_experts
def undo_pairs(request: UserRequest, access: ProjectAccess, story: Story) -> HttpResponse:
    """The pairs as they were before this person's last action (with `?redo=1`: last undo); null for none, 400 with the
    sentence where they were linked or separated and changed since."""
    try:
        return undo_response(service.last_step(story=story, by=request.user, redo="redo" in request.GET))
    except Refused as error:
        return JsonResponse({"error": str(error)}, status=400)
