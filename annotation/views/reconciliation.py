from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from annotation.access import project_access, story_of
from annotation.domain.reconciliation import Lane
from annotation.forms.reconciliation import DraftForm, LanesForm, as_text
from annotation.models import Role
from annotation.services import reconciliation as service

_TITLES = {
    Lane.SAME: ("Same", "Both wrote it."),
    Lane.REWORDED: ("Reworded", "The same actor, similar words."),
    Lane.ONLY_A: ("Only A", "B did not write it."),
    Lane.ONLY_B: ("Only B", "A did not write it."),
}


def reconcile(request: HttpRequest, slug: str, story: str) -> HttpResponse:
    """The expert's own draft until two are handed in; then both side by side, and the gold table on POST."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    state = service.state_of(story=row, expert=request.user)
    if state.has_gold or not state.ready:
        return render(request, "annotation/corpus/draft.html", access.context | _draft(row, state))
    form = LanesForm(request.POST if request.method == "POST" else None, pairs=service.lanes_of(state))
    if request.method == "POST" and form.is_valid():
        try:
            service.build_gold(by=request.user, story=row, rows=form.consensus(), now=timezone.now())
        except service.Refused as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Story {row.number} has its gold table.")
            return redirect("annotation:story", slug, story)
    rows = form.rows()
    sections = [
        {"lane": lane.value, "title": title, "text": text, "rows": [row for row in rows if row["pair"].lane == lane]}
        for lane, (title, text) in _TITLES.items()
    ]
    a, b = (table.author.shown_name if table.author else "someone" for table in state.submitted)
    context = {"story": row, "form": form, "sections": sections, "a": a, "b": b}
    return render(request, "annotation/corpus/lanes.html", access.context | context)


def draft(request: HttpRequest, slug: str, story: str) -> HttpResponse:
    """Save the expert's own draft, or hand it in."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    if request.method != "POST":
        return redirect("annotation:reconcile", slug, story)
    form, submit = DraftForm(request.POST), "submit" in request.POST
    if form.is_valid():
        rows = form.cleaned_data["rows"]
        try:
            service.save_draft(by=request.user, story=row, rows=rows, submit=submit, now=timezone.now())
        except service.Refused as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "Your table is handed in." if submit else f"Saved: {len(rows)} rows.")
            return redirect("annotation:reconcile", slug, story)
    state = service.state_of(story=row, expert=request.user)
    return render(request, "annotation/corpus/draft.html", access.context | _draft(row, state, form))


def _draft(story, state: service.State, form: DraftForm | None = None) -> dict:
    rows = service.rows_of(state.own_draft)
    return {
        "story": story,
        "state": state,
        "rows": rows,
        "form": form or DraftForm(initial={"rows": as_text(rows)}),
        "closed": not state.handed_in and state.others >= service.DRAFTS,
    }
