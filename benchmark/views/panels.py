"""Several judges of a study together, and two versions of one side by side."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from benchmark.models import Run
from benchmark.services.bridge_tables import CHANGE, VERDICTS, bridge_tables
from benchmark.services.calibrated_panels import PanelReport, kept_bridge, kept_panel
from benchmark.services.calibrating import JudgeBrief, briefs_of
from benchmark.services.calibration_words import CalibrationWords, words_of
from benchmark.services.panel_tables import AGREEMENT, PREFERENCE, WEIGHTS, panel_tables, votes_of
from benchmark.views.calibration import AgreementRow, study_for_admins
from benchmark.views.downloads import table_response
from benchmark.views.files import files_of
from core.catalogues.sentences import translated as in_language
from core.views.pages import Context
from judge.domain.calibration.panels import FEWEST
from judge.models import AlignmentStudy
from judge.services.cluster_names import cluster_of


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
    return render(request, "benchmark/calibration/panel.html", access.context | context)


@require_GET
def panel_file(request: HttpRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    """A table of the panel of the judges that are ticked, as a file."""
    _access, study = study_for_admins(request, slug, uid)
    chosen = _ticked(request, briefs_of(study))
    if len(chosen) < FEWEST:
        return redirect("benchmark:calibration_panel", slug, uid)  # which says why there is no table
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
    return f"{reverse(f'benchmark:{view}', args=[slug, uid, name, suffix])}?{query}"


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


@require_GET
def bridge(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Return what changes from one version of a judge, `old`, to another, `new`, on the tables that both judged."""
    access, study = study_for_admins(request, slug, uid)
    judges = briefs_of(study)
    context: Context = {"study": study, "judges": judges, "origin": _origin(study), "words": words_of(study)}
    if len(judges) > 1:
        old, new = _asked(request, judges)
        context |= {"old": old, "new": new}
        if old is not new:
            context["report"] = kept_bridge(study, old, new)
            query = urlencode([("old", old.version), ("new", new.version)])
            address = partial(_file, "calibration_bridge_table", slug, uid, query)
            context["files"] = {name: files_of("table", name, address) for name in (CHANGE, VERDICTS)}
    return render(request, "benchmark/calibration/bridge.html", access.context | context)


@require_GET
def bridge_file(request: HttpRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    """A table of what changes from `old` to `new`, as a file."""
    _access, study = study_for_admins(request, slug, uid)
    judges = briefs_of(study)
    old, new = _asked(request, judges) if len(judges) > 1 else (None, None)
    if old is None or new is None or old is new or not (report := kept_bridge(study, old, new)).tables:
        return redirect("benchmark:calibration_bridge", slug, uid)  # which says why there is no table
    return table_response(bridge_tables(report, words_of(study)), table, data, f"{slug}-calibration-{uid}-{table}")


def _asked(request: HttpRequest, judges: list[JudgeBrief]) -> tuple[JudgeBrief, JudgeBrief]:
    """The two versions that are asked for, the newest ones where none is."""
    first, second = _newest(judges)
    return _version(request, "old", judges) or first, _version(request, "new", judges) or second


def _origin(study: AlignmentStudy) -> str:
    """The uid of a run of whose answers people aligned tables, empty where none is here any more."""
    runs = Run.objects.listed().filter(project=study.project_id, uid__in=study.came_of.runs)
    return next(iter(runs.order_by("-id").values_list("uid", flat=True)), "")


def _version(request: HttpRequest, name: str, judges: list[JudgeBrief]) -> JudgeBrief | None:
    """The judge that is asked for, None where none is. Raises Http404."""
    if asked := request.GET.get(name):
        if judge := next((brief for brief in judges if brief.version == asked), None):
            return judge
        raise Http404("No judge of that version judged tables of this study.")
    return None


def _newest(judges: list[JudgeBrief]) -> tuple[JudgeBrief, JudgeBrief]:
    """The two newest versions of one judge, of the judge whose version is the newest; where each judge has one version
    the two newest judges. The older stands first, by the run that each began with."""
    began = dict(Run.objects.filter(uid__in=[brief.runs[0] for brief in judges]).values_list("uid", "pk"))
    ordered = sorted(judges, key=lambda brief: began[brief.runs[0]], reverse=True)
    for new in ordered:
        if older := [brief for brief in ordered[ordered.index(new) + 1 :] if brief.judge == new.judge]:
            return older[0], new
    return ordered[1], ordered[0]
