"""Effect of models' drafts on belief tables: tables begun with one compared with tables written blind."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation.access import UserRequest, project_access
from annotation.models import Role
from annotation.services.draft_effect import effect_of
from core.views.charts import no_intervals


@require_GET
def draft_effect(request: UserRequest, slug: str) -> HttpResponse:
    """Show the effect of models' drafts on belief tables."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    report = effect_of(access.project)
    rows = report["effect"]["measures"] if report["effect"] else []
    for row in rows:
        row["kinds"] = ("number", "signed") if row["measure"] in ("rows", "minutes") else ("share", "shift")
    arms = [(_("Draft shown"), report["arms"]["shown"]), (_("Blind"), report["arms"]["blind"])]
    lacking = no_intervals(row[name] for row in rows for name in ("shown", "blind", "difference"))
    context = {"report": report, "arms": arms, "measures": rows, "lacking": lacking}
    return render(request, "annotation/prefill/draft_effect.html", access.context | context)
