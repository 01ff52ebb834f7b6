"""Several judges of a study together, and two versions of one side by side."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from benchmark.models import Run
from benchmark.services.calibrated_panels import PanelReport, kept_bridge, kept_panel
from benchmark.services.calibrating import JudgeBrief, briefs_of
from benchmark.services.calibration_words import CalibrationWords, words_of
from benchmark.views.calibration import AgreementRow, study_for_admins
from judge.domain.calibration.panels import FEWEST
from judge.models import AlignmentStudy
from judge.services.cluster_names import cluster_of


@require_GET
def panel(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """A panel of the ticked judges, of all where none is; `own` lets each vote on its own family, too."""
    access, study = study_for_admins(request, slug, uid)
    judges = briefs_of(study)
    ticked = request.GET.getlist("judge")
    chosen = [one for one in judges if one.version in ticked] if ticked else judges
    context: dict[str, Any] = {"study": study, "judges": [(one, one in chosen) for one in judges], "fewest": FEWEST}
    context["origin"] = _origin(study)
    if len(chosen) >= FEWEST:
        context |= _panel(kept_panel(study, chosen, apart="own" not in request.GET), words_of(study))
        context["over"] = cluster_of(study)
    return render(request, "benchmark/calibration/panel.html", access.context | context)


def _panel(report: PanelReport, words: CalibrationWords) -> dict[str, Any]:
    columns = [(one.judge.name, report.panel.columns[one.judge.version]) for one in report.judges]
    columns += [(_("Majority"), report.panel.majority), (_("Weighted by calibration"), report.panel.weighted)]
    return {
        "report": report,
        "words": words,
        "rows": [AgreementRow.make(name, of, words) for name, of in columns],
        "families": sorted(report.families.items()),
        "no_preference": dict.fromkeys(filter(None, (one.preference.preference.reason for one in report.judges))),
    }


@require_GET
def bridge(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """What changes from one version of a judge, `old`, to another, `new`, on the tables that both judged."""
    access, study = study_for_admins(request, slug, uid)
    judges = briefs_of(study)
    context: dict[str, Any] = {"study": study, "judges": judges, "origin": _origin(study), "words": words_of(study)}
    if len(judges) > 1:
        first, second = _newest(judges)
        old, new = _version(request, "old", judges) or first, _version(request, "new", judges) or second
        context |= {"old": old, "new": new}
        if old is not new:
            context["report"] = kept_bridge(study, old, new)
    return render(request, "benchmark/calibration/bridge.html", access.context | context)


def _origin(study: AlignmentStudy) -> str:
    """The uid of a run of whose answers people aligned tables, empty where none is here any more."""
    runs = Run.objects.listed().filter(project=study.project_id, uid__in=study.origin.get("runs", []))
    return next(iter(runs.order_by("-id").values_list("uid", flat=True)), "")


def _version(request: HttpRequest, name: str, judges: list[JudgeBrief]) -> JudgeBrief | None:
    """The judge that is asked for, None where none is. Raises Http404."""
    if asked := request.GET.get(name):
        if found := next((one for one in judges if one.version == asked), None):
            return found
        raise Http404("No judge of that version judged tables of this study.")
    return None


def _newest(judges: list[JudgeBrief]) -> tuple[JudgeBrief, JudgeBrief]:
    """The two newest versions of one judge, of the judge whose version is the newest; where each judge has one version
    the two newest judges. The older stands first, by the run that each began with."""
    began = dict(Run.objects.filter(uid__in=[one.runs[0] for one in judges]).values_list("uid", "pk"))
    ordered = sorted(judges, key=lambda one: began[one.runs[0]], reverse=True)
    for new in ordered:
        if older := [one for one in ordered[ordered.index(new) + 1 :] if one.judge == new.judge]:
            return older[0], new
    return ordered[1], ordered[0]
