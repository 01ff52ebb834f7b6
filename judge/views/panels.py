"""Several judges of a study together, and two versions of one side by side."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from benchmark.models import Run
from benchmark.views.downloads import table_response
from benchmark.views.files import files_of
from core.catalogues.sentences import translated as in_language
from core.views.pages import Context
from judge.domain.calibration.panels import FEWEST
from judge.models import AlignmentStudy
from judge.services.calibration import CalibrationWords, JudgeBrief, briefs_of, words_of
from judge.services.panels import (
    AGREEMENT,
    PREFERENCE,
    WEIGHTS,
    PanelReport,
    kept_panel,
    panel_tables,
    votes_of,
)
from judge.services.studies import cluster_of
from judge.views.calibration import AgreementRow, study_for_admins


@require_GET
def panel(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """A panel of the ticked judges, of all where none is; `own` lets each vote on its own family, too."""
    access, study = study_for_admins(request, slug, uid)
    judges = briefs_of(study)
    chosen = _ticked(request, judges)
    context: Context = {
        "study": study,
        "judges": [(brief, brief in chosen) for brief in judges],
        "fewest": FEWEST,
    }
    context["origin"] = _origin(study)
    if len(chosen) >= FEWEST:
        report = kept_panel(study, chosen, apart="own" not in request.GET)
        context |= _panel(report, words_of(study)) | {"over": cluster_of(study)}
        address = partial(_file, "calibration_panel_table", slug, uid, _query(request, chosen))
        context["files"] = {
            name: files_of("table", table, address)
            for name, table in (("agreement", AGREEMENT), ("weights", WEIGHTS), ("preference", PREFERENCE))
        }
    return render(request, "judge/calibration/panel.html", access.context | context)


@require_GET
def panel_file(request: HttpRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    """A table of the panel of the judges that are ticked, as a file."""
    _access, study = study_for_admins(request, slug, uid)
    chosen = _ticked(request, briefs_of(study))
    if len(chosen) < FEWEST:
        return redirect("judge:calibration_panel", slug, uid)  # which says why there is no table
    report = kept_panel(study, chosen, apart="own" not in request.GET)
    return table_response(panel_tables(report, words_of(study)), table, data, f"{slug}-calibration-{uid}-{table}")


def _ticked(request: HttpRequest, judges: list[JudgeBrief]) -> list[JudgeBrief]:
    """The judges that are ticked, all where none is."""
    ticked = request.GET.getlist("judge")
    return [brief for brief in judges if brief.version in ticked] if ticked else judges


def _query(request: HttpRequest, chosen: list[JudgeBrief]) -> str:
    own = [("own", "1")] if "own" in request.GET else []
    return urlencode([*(("judge", brief.version) for brief in chosen), *own])


def _file(view: str, slug: str, uid: str, query: str, _kind: str, name: str, suffix: str) -> str:
    return f"{reverse(f'judge:{view}', args=[slug, uid, name, suffix])}?{query}"


def _panel(report: PanelReport, words: CalibrationWords) -> Context:
    columns = [(member.judge.name, report.panel.columns[member.judge.version]) for member in report.judges]
    columns += [(in_language(name), agreement) for name, agreement in votes_of(report)]
    return {
        "report": report,
        "words": words,
        "rows": [AgreementRow.make(name, agreement, words) for name, agreement in columns],
        "families": sorted(report.families.items()),
        "no_preference": dict.fromkeys(filter(None, (member.preference.preference.reason for member in report.judges))),
    }


def _origin(study: AlignmentStudy) -> str:
    """Return the uid of a run of whose answers people aligned tables; "" if none is left."""
    runs = Run.objects.listed().filter(project=study.project_id, uid__in=study.came_of.runs)
    return next(iter(runs.order_by("-id").values_list("uid", flat=True)), "")
