"""Effect of models' drafts on belief tables: tables begun with one against tables written blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation.access import project_access
from annotation.domain.anchoring.tables import Measured
from annotation.models import Role
from annotation.services.draft_effect import ArmTables, effect_of
from annotation.views.estimate_texts import EstimateText, number_text, share_text, shift_text
from core.views.charts import no_intervals


@require_GET
def draft_effect(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what models' drafts did to belief tables."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    report = effect_of(access.project)
    measures = [MeasureOnPage.of(row) for row in report.effect.measures] if report.effect else []
    arms = [ArmOnPage(_("Draft shown"), report.arms.shown), ArmOnPage(_("Blind"), report.arms.blind)]
    context = {
        "report": report,
        "arms": arms,
        "measures": measures,
        "lacking": no_intervals(estimate.estimate for row in measures for estimate in row.estimates),
    }
    return render(request, "annotation/prefill/draft_effect.html", access.context | context)


@dataclass(frozen=True, slots=True)
class ArmOnPage:
    """The tables of an arm, under its name on the page."""

    name: str
    tables: ArmTables


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOnPage:
    """A row of the table of measures: its estimates shown, blind and their difference."""

    description: str
    estimates: Sequence[EstimateText]
    p_adjusted: float | None
    effect: bool | None
    effect_reason: str | None

    @classmethod
    def of(cls, row: Measured) -> MeasureOnPage:
        return cls(
            description=row.told,
            estimates=_texts(row),
            p_adjusted=row.p_adjusted,
            effect=row.effect,
            effect_reason=row.effect_reason,
        )


def _texts(row: Measured) -> list[EstimateText]:
    if row.measure in ("rows", "minutes"):
        return [number_text(row.shown), number_text(row.blind), number_text(row.difference, signed=True)]
    return [share_text(row.shown), share_text(row.blind), shift_text(row.difference)]
