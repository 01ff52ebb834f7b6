"""Effect of models' drafts on belief tables: tables begun with one compared with tables written blind."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation.access import project_access
from annotation.domain.anchoring.tables import Measured
from annotation.models import Role
from annotation.services.draft_effect import effect_of
from annotation.views.estimate_texts import number_text, share_text, shift_text
from core.views.charts import no_intervals
from core.views.pages import Context


@require_GET
def draft_effect(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the effect of models' drafts on belief tables."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    report = effect_of(access.project)
    measures = [
        {"row": row, "estimates": _texts(row)} for row in (report["effect"].measures if report["effect"] else ())
    ]
    arms = [(_("Draft shown"), report["arms"]["shown"]), (_("Blind"), report["arms"]["blind"])]
    rows = [measure["row"] for measure in measures]
    lacking = no_intervals(estimate for row in rows for estimate in (row.shown, row.blind, row.difference))
    context = {"report": report, "arms": arms, "measures": measures, "lacking": lacking}
    return render(request, "annotation/prefill/draft_effect.html", access.context | context)


def _texts(row: Measured) -> list[Context]:
    if row.measure in ("rows", "minutes"):
        return [number_text(row.shown), number_text(row.blind), number_text(row.difference, signed=True)]
    return [share_text(row.shown), share_text(row.blind), shift_text(row.difference)]
