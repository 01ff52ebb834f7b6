"""The calibration report of a judge version: what it says beside what people say, pictures first, and the rows behind
every figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import ProjectAccess, project_access
from annotation.models import Role
from benchmark.domain.tables import Column
from benchmark.models import Run
from benchmark.views.downloads import table_response
from benchmark.views.tables import Href, files_of, no_link, page_table
from core.catalogues.sentences import translated as in_language
from core.views.charts import PERCENT, Row, dot_chart
from core.views.pages import Context
from core.wording import counted
from judge.access import calibrated_study, closed_in_study
from judge.domain.calibration.agreement import Calibration, count_name
from judge.domain.calibration.panels import FEWEST
from judge.domain.calibration.selection import Selection
from judge.domain.calibration.tables import Row as JudgedRow
from judge.domain.calibration.tables import Table, matched
from judge.domain.corrections import differing_text
from judge.models import AlignmentStudy
from judge.services.alignment_report import accepted_of
from judge.services.calibration import (
    NARROW,
    CalibrationReport,
    CalibrationWords,
    JudgeBrief,
    StudyReports,
    calibrated,
    choose_calibrated,
    reports_of,
    self_test_of,
    words_of,
)
from judge.services.calibration_tables import (
    COUNTS,
    JUDGES,
    RIVALS,
    grouped,
    report_tables,
)
from judge.services.panels import kept_panel, panel_tables
from judge.services.settled_tables import rows_of
from judge.services.settling import Refused, Superseded
from judge.services.studies import LONGEST_REASON, cluster_of

PAGE = 50
GROUPS: Mapping[str, Callable[[Table, JudgedRow], str]] = {
    "category": lambda table, _row: table.category,
    "model": lambda table, _row: table.model,
    "side": lambda _table, row: row.side.value,
}
"""Groupings of rows whatever their suite is, each with the group of a row."""


@require_http_methods(["GET", "POST"])
def calibration(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """The report of one version of a judge over a study; `judge` chooses among the versions that judged its tables. A
    POST keeps that it is the one that is used, and why, unless another choice than the one that was `seen` is kept."""
    access, study = study_for_admins(request, slug, uid)
    kept = reports_of(study)
    given: dict[str, str] = {}
    if request.method == "POST":
        given = {name: request.POST.get(name, "") for name in ("judge", "reason", "seen")}
        if _choice_kept(request, study, kept.judges, given):
            return redirect(f"{reverse('judge:calibration', args=[slug, uid])}?{urlencode({'judge': given['judge']})}")
    context: Context = {"study": study, "judges": kept.judges, "settled": kept.settled, "refused": given}
    if kept.judges:
        asked = given.get("judge", "") if given else request.GET.get("judge", "")
        context |= _page(slug, study, kept, _chosen(asked, study, kept, strict=not given))
        context |= {"reason": given["reason"], "seen": given["seen"]} if given else {"seen": study.choice}
    return render(request, "judge/calibration/report.html", access.context | context)


def _page(slug: str, study: AlignmentStudy, kept: StudyReports, chosen: Chosen) -> Context:
    """Return the context of the chosen version: what was found, its plots and its tables."""
    report, selection = chosen
    judge, words, measured = report.judge, words_of(study), report.calibration
    here = reverse("judge:calibration_rows", args=[slug, study.uid]) + f"?judge={judge.version}"
    address = partial(_file, slug, study.uid, judge.version)
    tables = report_tables(kept, report, selection, words)
    left_out = {COUNTS, *([] if selection.rivals else [RIVALS]), *([] if len(kept.reports) > 1 else [JUDGES])}
    return {
        "report": report,
        "judge": judge,
        "overall": measured.overall,
        "words": words,
        "differs": differing_text(report.differing.p or 0.0) if report.differing.warns else "",
        "charts": [_scores(report, words), *_agreements(measured, words)],
        "tables": [
            page_table(name, make(), href=_row_links(here), files=files_of("table", name, address))
            for name, make in tables.items()
            if name not in left_out
        ],
        "confusion": _confusion(measured.confusion),
        "count_files": files_of("table", COUNTS, address),
        "narrow": NARROW,
        "self_test": self_test_of(judge),
        "gone": bool(study.judge_version) and all(brief.version != study.judge_version for brief in kept.judges),
        "selection": selection,
        "accepted": accepted_of(study),
        "human_counts": [
            (share, share.rows > 0 or not share.count.isdecimal() or int(share.count) <= study.most_links)
            for share in measured.human_counts
        ],
        "reason": study.judge_reason if judge.version == study.judge_version else "",
        "longest": LONGEST_REASON,
        "here": here,
    }


def _row_links(here: str) -> Href:
    """Return the link of a cell that names a group or a model: its rows."""

    def href(row: Any, column: Column) -> str:
        if column.key == "group" and row["key"]:
            return f"{here}&{urlencode({row['key']: row['group'] or ''})}"
        return f"{here}&{urlencode({'model': row['model']})}" if column.key == "model" else ""

    return href


@require_GET
def rows(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """The rows behind a figure: those of a group, of a cell of the confusion, that flipped, or on which people and the
    judge differ. Tables of stories that the reader has open work on are left out."""
    access, study = study_for_admins(request, slug, uid)
    kept = reports_of(study)
    if not kept.judges:
        return redirect("judge:calibration", slug, uid)
    judge = _chosen(request.GET.get("judge", ""), study, kept)[0].judge
    judges, settled = calibrated(study, only=judge.version)
    closed = closed_in_study(access, study)
    readable = {table.key for table in settled if table.number not in closed}
    tables = [table for study_judge in judges for table in study_judge.joined.tables if table.key in readable]
    disputed = rows_of(tables, settled, _kept(request, words_of(study)))
    page = Paginator(disputed, PAGE).get_page(request.GET.get("page"))
    query = urlencode([(key, value) for key, value in request.GET.items() if key != "page"])
    context = {"study": study, "judge": judge, "page": page, "rows": len(disputed), "query": query}
    context["withheld"] = len(settled) - len(readable)
    return render(request, "judge/calibration/rows.html", access.context | context)


@require_GET
def table_file(request: HttpRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    """A table of the report, or the judges of the study beside each other, as a file."""
    _access, study = study_for_admins(request, slug, uid)
    kept = reports_of(study)
    if not kept.judges:
        return redirect("judge:calibration", slug, uid)  # which says why there is no table
    report, selection = _chosen(request.GET.get("judge", ""), study, kept)
    tables = report_tables(kept, report, selection, words_of(study))
    return table_response(tables, table, data, f"{slug}-calibration-{uid}-{table}")


def _file(slug: str, uid: str, version: str, _kind: str, name: str, suffix: str) -> str:
    return f"{reverse('judge:calibration_table', args=[slug, uid, name, suffix])}?judge={version}"


def study_for_admins(request: HttpRequest, slug: str, uid: str) -> tuple[ProjectAccess, AlignmentStudy]:
    """Return the study for an admin of its project, who sees whose tables they are. Raises PermissionDenied for who
    still aligns some of them."""
    study = calibrated_study(request.user, slug, uid)
    return project_access(request.user, slug, role=Role.ADMIN), study


def _choice_kept(request: HttpRequest, study: AlignmentStudy, judges: list[JudgeBrief], given: dict[str, str]) -> bool:
    """Keep the choice, and say so; else say why not. Who is told of another choice has `seen` it then."""
    judge = next((brief for brief in judges if brief.version == given["judge"]), None)
    if judge is None:
        messages.error(request, _("No judge of that version judged tables of this study."))
        return False
    try:
        choose_calibrated(
            by=request.user, study=study, judge=judge, reason=given["reason"], now=timezone.now(), seen=given["seen"]
        )
    except Superseded as error:
        messages.error(request, str(error))
        given["seen"] = study.choice
        return False
    except Refused as error:
        messages.error(request, str(error))
        return False
    messages.success(request, _("The choice and its reason are kept."))
    return True


Chosen = tuple[CalibrationReport, Selection]


def _chosen(version: str, study: AlignmentStudy, kept: StudyReports, *, strict: bool = True) -> Chosen:
    """The version that is asked for, else the one that was chosen by the study, else of those that have verdicts, and
    judged most of the aligned tables, the one that agrees most with people. Raises Http404 for one that is not there,
    where that is `strict`."""
    if version:
        if chosen := next((pair for pair in kept.reports if pair[0].judge.version == version), None):
            return chosen
        if strict:
            raise Http404(_("No judge of that version judged tables of this study."))

    def rank(pair: tuple[CalibrationReport, Selection]) -> tuple[bool, bool, int, float]:
        judge, agreement = pair[0].judge, pair[0].calibration.overall.by_story.value
        return judge.version == study.judge_version, judge.compared_rows > 0, judge.tables, agreement or 0.0

    return max(kept.reports, key=rank)


def _kept(request: HttpRequest, words: CalibrationWords) -> Callable[[Table, JudgedRow], bool]:
    asked = request.GET
    groups = {name: asked[name] for name in GROUPS if name in asked}
    own_groups = {grouping.key: asked[grouping.key] for grouping in words.groupings if grouping.key in asked}
    counts = asked.get("people"), asked.get("said")

    def keep(table: Table, row: JudgedRow) -> bool:
        if any(GROUPS[name](table, row) != value for name, value in groups.items()):
            return False
        if any(row.groups.get(key, "") != value for key, value in own_groups.items()):
            return False
        if "flipped" in asked and len({matched(count) for count in row.passes} - {None}) < 2:
            return False
        if "differing" in asked and matched(row.human) == matched(row.judge) is not None:
            return False
        own = count_name(row.human), count_name(row.judge)
        return all(count in (None, own_count) for count, own_count in zip(counts, own, strict=True))

    return keep


def _agreements(measured: Calibration, words: CalibrationWords) -> list[Any]:
    """Return a plot of agreement per grouping that has rows."""
    titled = [
        (_("Agreement by category"), measured.by_category),
        (_("Agreement by evaluated model"), measured.by_model),
        *((in_language(grouping.title), agreements) for grouping, agreements in grouped(measured, words)),
        (_("Agreement by table"), measured.by_side),
    ]
    return [
        dot_chart(
            title,
            [
                Row(
                    label=name,
                    first=agreement.by_story,
                    bounds=agreement.by_story.bounds,
                    n=counted(agreement.tables, "table"),
                )
                for name, agreement in agreements.items()
            ],
            notation=PERCENT,
            holds=(1.0,),
            heads=(_("Agreement"),),
        )
        for title, agreements in titled
        if agreements
    ]


def _scores(report: CalibrationReport, words: CalibrationWords) -> Any:
    """The corrected score beside what the judge alone gives."""
    units = in_language(words.units)
    rows = [
        Row(
            label=model.model,
            first=model.f1,
            second=model.alone,
            bounds=model.f1.bounds,
            n=_("{n} aligned {units}").format(n=model.f1.aligned, units=units),
        )
        for model in report.models
    ]
    heads = _("Corrected"), _("Judge alone")
    return dot_chart(in_language(words.title), rows, notation=PERCENT, heads=heads, noun=in_language(words.score))


def _confusion(cells: Mapping[tuple[str, str], int]) -> Context:
    """Return the MatchCounts as a table: those of the judge `across`, and a row of counts for each of people."""
    down, across = (sorted({cell[at] for cell in cells}) for at in range(2))
    rows = [(by_people, [(by_judge, cells.get((by_people, by_judge), 0)) for by_judge in across]) for by_people in down]
    return {"across": across, "rows": rows}


@require_GET
def panel(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """A panel of the ticked judges, of all where none is; `own` lets each vote on its own family, too."""
    access, study = study_for_admins(request, slug, uid)
    judges = reports_of(study).judges
    chosen = _ticked(request, judges)
    context: Context = {
        "study": study,
        "judges": [(brief, brief in chosen) for brief in judges],
        "fewest": FEWEST,
    }
    context["origin"] = _origin(study)
    if len(chosen) >= FEWEST:
        report, words = kept_panel(study, chosen, apart="own" not in request.GET), words_of(study)
        address = partial(_panel_file, slug, uid, _query(request, chosen))
        context |= {
            "report": report,
            "families": sorted(report.families.items()),
            "over": cluster_of(study),
            "tables": [
                page_table(name, make(), href=no_link, files=files_of("table", name, address))
                for name, make in panel_tables(report, words).items()
            ],
        }
    return render(request, "judge/calibration/panel.html", access.context | context)


@require_GET
def panel_file(request: HttpRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    """A table of the panel of the judges that are ticked, as a file."""
    _access, study = study_for_admins(request, slug, uid)
    chosen = _ticked(request, reports_of(study).judges)
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


def _panel_file(slug: str, uid: str, query: str, _kind: str, name: str, suffix: str) -> str:
    return f"{reverse('judge:calibration_panel_table', args=[slug, uid, name, suffix])}?{query}"


def _origin(study: AlignmentStudy) -> str:
    """Return the uid of a run of whose answers people aligned tables; "" if none is left."""
    runs = Run.objects.listed().filter(project=study.project_id, uid__in=study.came_of.runs)
    return next(iter(runs.order_by("-id").values_list("uid", flat=True)), "")
