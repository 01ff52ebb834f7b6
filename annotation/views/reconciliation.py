from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from annotation.access import project_access, story_of
from annotation.domain.reconciliation import Lane
from annotation.forms.reconciliation import LanesForm
from annotation.models import Role
from annotation.services import reconciliation as service

_TITLES = {
    Lane.SAME: ("Same", "Both wrote it."),
    Lane.REWORDED: ("Reworded", "The same actor, similar words."),
    Lane.ONLY_A: ("Only A", "B did not write it."),
    Lane.ONLY_B: ("Only B", "A did not write it."),
}


def reconcile(request: HttpRequest, slug: str, story: str) -> HttpResponse:
    """Two drafts that are handed in side by side, and the gold table on POST; before that the expert's own draft."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    state = service.state_of(story=row, expert=request.user)
    if state.has_gold or not state.ready:
        return redirect("annotation:draft", slug, story)
    service.open_lanes(state=state, now=timezone.now())
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
