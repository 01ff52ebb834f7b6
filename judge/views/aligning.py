"""The page on which one person aligns one table, and what its script calls."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, open_work, project_access
from annotation.forms.votes import MAX_DURATION_MS
from annotation.services.open_work import Work
from annotation.views.saving import saved
from core.plain import Json, plain
from core.views.pages import Context
from judge.access import alignment_of
from judge.forms.alignments import AlignmentChangesIn
from judge.models import Alignment, AlignmentState
from judge.services import aligning
from judge.services.queue import alignments_of, next_alignment, number_of
from judge.services.refused import Refused
from judge.views.rows import proposals_of, rows_of


@require_http_methods(["GET", "POST"])
def align(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Both tables beside the story. A POST hands the table in, or takes it back."""
    access, alignment = alignment_of(request.user, slug, uid)
    if request.method == "POST":
        return _handed(request, access, alignment)
    task = alignment.task
    editable = alignment.is_open and task.study.closed_at is None
    context = {
        "alignment": number_of(alignment),
        "task": task,
        "navigation": "judge:studies",
        "editable": editable,
        "compound": task.study.most_links > 1,
        "settings": _settings(access, alignment, editable),
    }
    return render(request, "judge/align.html", access.context | context)


def _handed(request: HttpRequest, access: ProjectAccess, alignment: Alignment) -> HttpResponse:
    slug, now = access.project.slug, timezone.now()
    try:
        if "back" in request.POST:
            aligning.take_back(alignment=alignment, now=now)
        else:
            aligning.hand_in(alignment=alignment, now=now)
            return redirect(f"{reverse('judge:next', args=[slug])}?after={alignment.uid}")
    except Refused as error:
        messages.error(request, str(error))
    return redirect("judge:align", slug, alignment.uid)


def _settings(access: ProjectAccess, alignment: Alignment, editable: bool) -> Context:
    """Return what the page's script needs. Nothing here depends on what others did, or on whose table it is."""
    place = [access.project.slug, alignment.uid]
    newest = alignment.events.order_by("-changed_at").values_list("changed_at", flat=True).first()
    return {
        "annotator": access.user.pk,
        "story": alignment.uid,
        "now": timezone.now().isoformat(),
        "newest": newest.isoformat() if newest else None,
        "editable": editable,
        "most": alignment.task.study.most_links,
        "longestDuration": MAX_DURATION_MS,
        "rows": plain(rows_of(alignment.task)),
        "proposals": {} if alignment.is_blind else plain(proposals_of(alignment.task)),
        "answers": alignment.answers,
        "urls": {
            "save": reverse("judge:save", args=place),
            "answers": reverse("judge:answers", args=place),
            "undo": reverse("judge:undo", args=place),
            "next": f"{reverse('judge:next', args=place[:1])}?after={alignment.uid}",
            "login": reverse("login"),
        },
    }


@require_GET
def next_table(request: HttpRequest, slug: str) -> HttpResponse:
    """Open the next table that is to be aligned, after the one named by `after`, or the list."""
    access = project_access(request.user, slug)
    following = next_alignment(
        access.project, request.user, after=request.GET.get("after", ""), but=open_work(access, before=Work.ALIGNMENT)
    )
    if following is None:
        if alignments_of(access.project, request.user):
            sentence = _("Every table that was given to you is handed in, or waits for your labelling.")
            messages.success(request, sentence)
        return redirect("judge:studies", slug)
    return redirect("judge:align", slug, following.uid)


@require_GET
def answers(request: HttpRequest, slug: str, uid: str) -> JsonResponse:
    """The answers as they stand, for a page whose change was refused."""
    _, alignment = alignment_of(request.user, slug, uid)
    return JsonResponse({"answers": alignment.answers, "editable": alignment.state == AlignmentState.OPEN})


@require_POST
def save(request: HttpRequest, slug: str, uid: str) -> JsonResponse:
    """Save changes of rows, all or none."""
    _, alignment = alignment_of(request.user, slug, uid)

    def save_all(posted: AlignmentChangesIn) -> Json:
        changes = [entry.change for entry in posted.changes]
        aligning.save_changes(alignment=alignment, changes=changes, now=timezone.now())
        rows = [
            {"row": change.row, "idempotency_key": change.idempotency_key, "changed_at": change.changed_at.isoformat()}
            for change in changes
        ]
        return {"saved": rows, "warnings": {}}

    return saved(request, AlignmentChangesIn, save_all, made="made these links", refused=Refused)


@require_GET
def undo(request: HttpRequest, slug: str, uid: str) -> JsonResponse:
    """The rows as they were before this person's last action (with `?redo=1`: last undo); null for none."""
    _, alignment = alignment_of(request.user, slug, uid)
    step = aligning.last_step(alignment=alignment, redo="redo" in request.GET)
    if step is None:
        return JsonResponse({"undo": None})
    action, rows = step
    return JsonResponse(
        {"undo": {"action": action, "rows": [{"row": row, "answer": plain(answer)} for row, answer in rows]}}
    )
