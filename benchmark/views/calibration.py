"""The calibration report of a judge version: what it says beside what people say, pictures first, and the rows behind
every figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import ProjectAccess, project_access
from annotation.models import Role
from annotation.templatetags.agreement_figures import coefficient_interval, percent_interval
from benchmark.services.calibrating import (
    MORE,
    NARROW,
    CalibrationReport,
    StudyJudge,
    calibrated,
    report_of,
    selection_of,
)
from core.views.charts import PERCENT, Estimate, Row, dot_chart
from judge.access import StudyAccess, aligns_still
from judge.domain.calibration.agreement import Agreement, Figure
from judge.domain.calibration.corrected import Corrected
from judge.domain.calibration.report import count_name
from judge.domain.calibration.rows import Row as JudgedRow
from judge.domain.calibration.rows import Table, matched
from judge.models import AlignmentStudy
from judge.services.calibrating import rows_of
from judge.services.studies import LONGEST_REASON, Refused, choose_judge

PAGE = 50
GROUPS: Mapping[str, Callable[[Table, JudgedRow], str]] = {
    "category": lambda table, _row: table.category,
    "model": lambda table, _row: table.model,
    "role": lambda _table, row: row.role,
    "side": lambda _table, row: row.side.value,
    "order": lambda _table, row: row.order,
}
"""What rows are grouped by, and the group of a row."""


@require_http_methods(["GET", "POST"])
def calibration(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """The report of one version of a judge over a study; `judge` chooses among the versions that judged its tables. A
    POST keeps that it is the one that is used, and why."""
    access, study = _study(request, slug, uid)
    judges, settled = calibrated(study)
    if request.method == "POST":
        return _choice_kept(request, slug, study, judges)
    context: dict[str, Any] = {"study": study, "judges": judges, "settled": len(settled)}
    if judges:
        judge = _chosen(request, study, judges)
        report, selection = report_of(judge, seed=study.seed), selection_of(judges, judge, seed=study.seed)
        context |= _report(report) | {
            "judge": judge,
            "selection": selection,
            "reason": study.judge_reason if judge.version == study.judge_version else selection.reason,
            "longest": LONGEST_REASON,
            "here": reverse("benchmark:calibration_rows", args=[slug, uid]) + f"?judge={judge.version}",
        }
    return render(request, "benchmark/calibration/report.html", access.context | context)


@require_GET
def rows(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """The rows behind a figure: those of a group, of a cell of the confusion, that flipped, or on which people and the
    judge differ."""
    access, study = _study(request, slug, uid)
    judges, settled = calibrated(study)
    if not judges:
        return redirect("benchmark:calibration", slug, uid)
    judge = _chosen(request, study, judges)
    found = rows_of(judge.joined.tables, settled, _kept(request))
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    query = urlencode([(key, value) for key, value in request.GET.items() if key != "page"])
    context = {"study": study, "judge": judge, "page": page, "rows": len(found), "query": query}
    return render(request, "benchmark/calibration/rows.html", access.context | context)


def _study(request: HttpRequest, slug: str, uid: str) -> tuple[ProjectAccess, AlignmentStudy]:
    """Only admins see whose tables they are, and none who still aligns some of them."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    study = get_object_or_404(AlignmentStudy, project=access.project, uid=uid)
    if aligns_still(StudyAccess(access, study)):
        raise PermissionDenied(
            _("You still align in this study; finish first, since the report says whose tables they are.")
        )
    return access, study


def _choice_kept(request: HttpRequest, slug: str, study: AlignmentStudy, judges: list[StudyJudge]) -> HttpResponse:
    version = request.POST.get("judge", "")
    judge = next((one for one in judges if one.version == version), None)
    if judge is None:
        messages.error(request, _("No judge of that version judged tables of this study."))
        return redirect("benchmark:calibration", slug, study.uid)
    reason = request.POST.get("reason", "")
    try:
        choose_judge(by=request.user, study=study, version=version, name=judge.name, reason=reason, now=timezone.now())
        messages.success(request, _("The choice and its reason are kept."))
    except Refused as error:
        messages.error(request, str(error))
    return redirect(f"{reverse('benchmark:calibration', args=[slug, study.uid])}?judge={version}")


def _chosen(request: HttpRequest, study: AlignmentStudy, judges: list[StudyJudge]) -> StudyJudge:
    """The version that is asked for, else the one that was chosen by the study, else the one that judged most of the
    aligned tables. Raises Http404."""
    if version := request.GET.get("judge"):
        if found := next((judge for judge in judges if judge.version == version), None):
            return found
        raise Http404("No judge of that version judged tables of this study.")
    return max(judges, key=lambda judge: (judge.version == study.judge_version, len(judge.joined.tables)))


def _kept(request: HttpRequest) -> Callable[[Table, JudgedRow], bool]:
    asked = request.GET
    groups = {name: asked[name] for name in GROUPS if name in asked}
    counts = asked.get("people"), asked.get("said")

    def keep(table: Table, row: JudgedRow) -> bool:
        if any(GROUPS[name](table, row) != value for name, value in groups.items()):
            return False
        if "flipped" in asked and len({matched(count) for count in row.passes} - {None}) < 2:
            return False
        if "differing" in asked and matched(row.human) == matched(row.judge) is not None:
            return False
        own = count_name(row.human), count_name(row.judge)
        return all(count in (None, of) for count, of in zip(counts, own, strict=True))

    return keep


def _report(report: CalibrationReport) -> dict[str, Any]:
    found, overall = report.calibration, report.calibration.overall
    names = {
        "category": (_("Agreement by category"), found.by_category),
        "model": (_("Agreement by evaluated model"), found.by_model),
        "role": (_("Agreement by actor role"), found.by_role),
        "order": (_("Agreement by order"), {name: of for name, of in found.by_order.items() if name}),
        "side": (_("Agreement by table"), found.by_side),
    }
    groups = [(key, title, of) for key, (title, of) in names.items() if of]
    return {
        "report": report,
        "overall": overall,
        "figures": _figures(overall),
        "charts": [_scores(report), *(_agreements(title, of) for _key, title, of in groups)],
        "groups": [
            (key, title, [(name, of, _figures(of)) for name, of in each.items()]) for key, title, each in groups
        ],
        "confusion": _confusion(found.confusion),
        "more": MORE,
        "narrow": NARROW,
    }


def _figures(of: Agreement) -> list[dict[str, Any]]:
    shares = (
        (_("Agreement by story"), of.by_story),
        (_("Agreement by row"), of.by_row),
        (_("Sensitivity"), of.sensitivity),
        (_("Specificity"), of.specificity),
    )
    rows = [
        {"name": name, "figure": figure, "share": True, "ends": percent_interval(figure.interval)}
        for name, figure in shares
    ]
    ends = coefficient_interval(of.kappa.interval)
    return [*rows, {"name": _("Cohen’s κ"), "figure": of.kappa, "share": False, "ends": ends}]


def _estimate(figure: Figure) -> Estimate:
    return {"value": figure.value, "interval": figure.interval, "reason": figure.reason}


def _agreements(title: str, of: Mapping[str, Agreement]) -> Any:
    rows = [
        Row(
            label=name,
            first=_estimate(one.by_story),
            bounds=one.by_story.bounds,
            n=_("{n} tables").format(n=one.tables),
        )
        for name, one in of.items()
    ]
    return dot_chart(title, rows, notation=PERCENT, holds=(1.0,), heads=(_("Agreement"),))


def _scores(report: CalibrationReport) -> Any:
    """Corrected F1 beside what the judge alone gives."""
    rows = [
        Row(
            label=one.model,
            first=_corrected(one.f1),
            second={"value": one.f1.judged, "interval": None},
            bounds=one.f1.bounds,
            n=_("{n} aligned stories").format(n=one.f1.aligned),
        )
        for one in report.models
    ]
    heads = _("Corrected"), _("Judge alone")
    return dot_chart(_("F1 of extraction"), rows, notation=PERCENT, heads=heads, noun="F1")


def _corrected(score: Corrected) -> Estimate:
    return {"value": score.value, "interval": score.interval, "reason": score.reason}


def _confusion(cells: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    """The MatchCounts as a table: people down, the judge across."""
    down, across = (sorted({cell[at] for cell in cells}) for at in range(2))
    return {
        "across": across,
        "rows": [(one, [(other, cells.get((one, other), 0)) for other in across]) for one in down],
    }
