"""The calibration report of a judge version: agreement with people, pictures first, and the rows behind every figure;
and the panel of several judges."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import UserRequest
from benchmark.domain.tables import Column
from benchmark.models import Run
from benchmark.views.downloads import table_response
from benchmark.views.tables import Address, files_of, page_table
from core.catalogues.sentences import translated as in_language
from core.views.charts import PERCENT, Row, dot_chart
from core.views.pages import Context
from core.wording import counted
from judge.access import calibrated_study, closed_in_study
from judge.domain.calibration.agreement import Agreement, Calibration, count_name
from judge.domain.calibration.panels import FEWEST
from judge.domain.calibration.tables import Row as JudgedRow
from judge.domain.calibration.tables import Table, group_of, matched
from judge.domain.corrections import differing_text
from judge.models import AlignmentStudy
from judge.services.alignment_report import accepted_of
from judge.services.calibration import (
    LONGEST_REASON,
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
from judge.services.calibration_tables import COUNTS, JUDGES, RIVALS, report_tables
from judge.services.panels import kept_panel, panel_tables
from judge.services.settled_tables import rows_of
from judge.services.settling import Refused
from judge.services.studies import cluster_of

PAGE = 50


@require_http_methods(["GET", "POST"])
def calibration(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """The report of one version of a judge over a study; `judge` chooses among the versions that judged its tables. A
    POST keeps that it is the one that is used, and why, unless the choice is no longer the one that was `seen`."""
    access, study = calibrated_study(request.user, slug, uid)
    kept = reports_of(study)
    given: dict[str, str] = {}
    if request.method == "POST":
        given = {name: request.POST.get(name, "") for name in ("judge", "reason", "seen")}
        judge = next((brief for brief in kept.judges if brief.version == given["judge"]), None)
        try:
            if judge is None:
                raise Refused(_("No judge of that version judged tables of this study."))
            reason, seen = given["reason"], given["seen"]
            choose_calibrated(by=request.user, study=study, judge=judge, reason=reason, now=timezone.now(), seen=seen)
        except Refused as error:  # the page then shows the present choice
            messages.error(request, str(error))
        else:
            messages.success(request, _("The choice and its reason are kept."))
            return redirect(f"{reverse('judge:calibration', args=[slug, uid])}?{urlencode({'judge': judge.version})}")
    context: Context = {"study": study, "judges": kept.judges, "settled": kept.settled, "refused": given}
    if kept.judges:
        asked = given.get("judge", "") if given else request.GET.get("judge", "")
        context |= _page(slug, study, kept, _chosen(asked, study, kept, strict=not given))
        context |= {"seen": study.choice} | ({"reason": given["reason"]} if given else {})
    return render(request, "judge/calibration/report.html", access.context | context)


def _chosen(version: str, study: AlignmentStudy, kept: StudyReports, *, strict: bool = True) -> CalibrationReport:
    """Return the version that is asked for, else the one that was chosen by the study, else of those that have
    verdicts, and judged most of the aligned tables, the one that agrees most with people. Raises Http404 for an unknown
    version if `strict`."""
    chosen = next((report for report in kept.reports if version and report.judge.version == version), None)
    if version and strict and not chosen:
        raise Http404(_("No judge of that version judged tables of this study."))

    def rank(report: CalibrationReport) -> tuple[bool, bool, int, float]:
        judge, agreement = report.judge, report.calibration.overall.by_story.value
        return judge.version == study.judge_version, judge.compared_rows > 0, judge.tables, agreement or 0.0

    return chosen or max(kept.reports, key=rank)


def _page(slug: str, study: AlignmentStudy, kept: StudyReports, report: CalibrationReport) -> Context:
    """Return the context of the chosen version: its plots and its tables."""
    judge, words, measured, selection = report.judge, words_of(study), report.calibration, report.selection
    here = reverse("judge:calibration_rows", args=[slug, study.uid]) + f"?judge={judge.version}"
    address = _files("judge:calibration_table", slug, study, f"judge={judge.version}")
    left_out = {COUNTS, *([] if selection.rivals else [RIVALS]), *([] if len(kept.reports) > 1 else [JUDGES])}
    return {
        "report": report,
        "judge": judge,
        "overall": measured.overall,
        "words": words,
        "differs": differing_text(report.differing.p or 0.0) if report.differing.warns else "",
        "charts": [_scores(report, words), *_agreements(measured, words)],
        "tables": [
            page_table(name, make(), href=partial(_row_link, here), files=files_of("table", name, address))
            for name, make in report_tables(kept, report, words).items()
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
            (row, row["rows"] > 0 or not row["count"].isdecimal() or int(row["count"]) <= study.most_links)
            for row in measured.human_counts
        ],
        "reason": study.judge_reason if judge.version == study.judge_version else "",
        "longest": LONGEST_REASON,
        "here": here,
    }


def _files(view: str, slug: str, study: AlignmentStudy, query: str) -> Address:
    return lambda _kind, name, suffix: f"{reverse(view, args=[slug, study.uid, name, suffix])}?{query}"


def _row_link(here: str, row: Any, column: Column) -> str:
    """Return the address of the rows of a cell that names a group or a model."""
    if column.key == "group" and row["key"]:
        return f"{here}&{urlencode({row['key']: row['group'] or ''})}"
    return f"{here}&{urlencode({'model': row['model']})}" if column.key == "model" else ""


def _agreements(measured: Calibration, words: CalibrationWords) -> list[Any]:
    """Return a plot of agreement per grouping that has rows."""
    titles = {
        "category": _("Agreement by category"),
        "model": _("Agreement by evaluated model"),
        **{grouping.key: in_language(grouping.title) for grouping in words.groupings},
        "side": _("Agreement by table"),
    }

    def row(name: str, agreement: Agreement) -> Row:
        estimate = agreement.by_story
        return Row(label=name, first=estimate, bounds=estimate.bounds, n=counted(agreement.tables, "table"))

    return [
        dot_chart(
            titles[key],
            [row(*group) for group in groups.items()],
            notation=PERCENT,
            holds=(1.0,),
            heads=(_("Agreement"),),
        )
        for key, groups in measured.by.items()
        if key in titles and (any(groups) if key not in ("category", "model", "side") else groups)
    ]


def _scores(report: CalibrationReport, words: CalibrationWords) -> Any:
    """Return the plot of corrected scores next to those of the judge alone."""
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
def rows(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """The rows behind a figure: those of a group, of a cell of the confusion, that flipped, or on which people and the
    judge differ. Tables of stories on which the reader has open work are withheld."""
    access, study = calibrated_study(request.user, slug, uid)
    kept = reports_of(study)
    if not kept.judges:
        return redirect("judge:calibration", slug, uid)
    judge = _chosen(request.GET.get("judge", ""), study, kept).judge
    judges, settled = calibrated(study, only=judge.version)
    closed = closed_in_study(access, study)
    readable = {table.key for table in settled if table.number not in closed}
    tables = [table for study_judge in judges for table in study_judge.joined.tables if table.key in readable]
    disputed = rows_of(tables, settled, _filter(request, words_of(study)))
    context = {
        "study": study,
        "judge": judge,
        "page": Paginator(disputed, PAGE).get_page(request.GET.get("page")),
        "rows": len(disputed),
        "query": urlencode([(key, value) for key, value in request.GET.items() if key != "page"]),
        "withheld": len(settled) - len(readable),
    }
    return render(request, "judge/calibration/rows.html", access.context | context)


def _filter(request: UserRequest, words: CalibrationWords) -> Callable[[Table, JudgedRow], bool]:
    asked = request.GET
    keys = ("category", "model", "side", *(grouping.key for grouping in words.groupings))
    groups = {key: asked[key] for key in keys if key in asked}

    def keep(table: Table, row: JudgedRow) -> bool:
        human, judge = row.verdicts
        return (
            all(group_of(key, table, row) == value for key, value in groups.items())
            and ("flipped" not in asked or len({matched(count) for count in row.passes} - {None}) > 1)
            and ("differing" not in asked or human != judge or human is None)
            and asked.get("people", count_name(row.human)) == count_name(row.human)
            and asked.get("said", count_name(row.judge)) == count_name(row.judge)
        )

    return keep


@require_GET
def table_file(request: UserRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    """A table of the report, or the judges of the study next to each other, as a file."""
    _access, study = calibrated_study(request.user, slug, uid)
    kept = reports_of(study)
    if not kept.judges:
        return redirect("judge:calibration", slug, uid)  # which says why there is no table
    tables = report_tables(kept, _chosen(request.GET.get("judge", ""), study, kept), words_of(study))
    return table_response(tables, table, data, f"{slug}-calibration-{uid}-{table}")


@require_GET
def panel(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """A panel of the selected judges, by default of all; with `own` each also votes on its own family."""
    access, study = calibrated_study(request.user, slug, uid)
    judges = reports_of(study).judges
    chosen = _selected(request, judges)
    runs = Run.objects.listed().filter(project=study.project_id, uid__in=study.came_of.runs).order_by("-id")
    context: Context = {
        "study": study,
        "judges": [(brief, brief in chosen) for brief in judges],
        "fewest": FEWEST,
        "origin": next(iter(runs.values_list("uid", flat=True)), ""),
    }
    if len(chosen) >= FEWEST:
        report = kept_panel(study, chosen, apart="own" not in request.GET)
        own = [("own", "1")] if "own" in request.GET else []
        query = urlencode([*(("judge", brief.version) for brief in chosen), *own])
        address = _files("judge:calibration_panel_table", slug, study, query)
        context |= {
            "report": report,
            "families": sorted(report["families"].items()),
            "over": cluster_of(study),
            "tables": [
                page_table(name, make(), files=files_of("table", name, address))
                for name, make in panel_tables(report, words_of(study)).items()
            ],
        }
    return render(request, "judge/calibration/panel.html", access.context | context)


@require_GET
def panel_file(request: UserRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    """A table of the panel of the selected judges as a file."""
    _access, study = calibrated_study(request.user, slug, uid)
    chosen = _selected(request, reports_of(study).judges)
    if len(chosen) < FEWEST:
        return redirect("judge:calibration_panel", slug, uid)  # which says why there is no table
    report = kept_panel(study, chosen, apart="own" not in request.GET)
    return table_response(panel_tables(report, words_of(study)), table, data, f"{slug}-calibration-{uid}-{table}")


def _selected(request: UserRequest, judges: list[JudgeBrief]) -> list[JudgeBrief]:
    versions = request.GET.getlist("judge")
    return [brief for brief in judges if brief.version in versions] if versions else judges
