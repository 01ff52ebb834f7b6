"""Lists of studies and of a person's own tables, and one study: its progress, agreement and what waits."""

import csv
from functools import partial
from itertools import chain
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import ProjectAccess, UserRequest, open_work, project_access
from annotation.domain.columns import Echo, defused
from annotation.models import Role, User
from annotation.services.open_work import Work
from core.idempotency.forms import made_before, made_once
from core.plain import Json
from core.statistics import Estimate
from core.views.pages import in_english
from core.wording import counted
from judge.access import aligns_still, closed_tables, study_of, visible_studies
from judge.domain.alignment import ClusterName
from judge.domain.alignment_agreement import AlignmentAgreement
from judge.forms.studies import AlignForm, GrowForm, members_of
from judge.models import AlignmentState, AlignmentStudy
from judge.services.alignment_export import COLUMNS, document_of, link_rows
from judge.services.alignment_report import (
    accepted_of,
    agreement_report,
    effect_of_proposals,
    open_tables,
    people_of,
    progress_of,
    progress_of_each,
    taken_by_others,
)
from judge.services.alignment_tables import load_tables, origin_of, units_of
from judge.services.settling import Refused, alignments_of, give_more, next_alignment, release
from judge.services.studies import close_study, cluster_of, drawn_of, grow_study, make_study, strata_of

PAGE = 50


@require_GET
def studies(request: UserRequest, slug: str) -> HttpResponse:
    """The tables that this person has to align, and for experts and admins every study with its next step."""
    access = project_access(request.user, slug)
    own, waiting = alignments_of(access.project, request.user), open_work(access, before=Work.ALIGNMENT)
    visible = list(visible_studies(access))
    progress = progress_of_each(visible)
    context = {
        "page": Paginator(own, PAGE).get_page(request.GET.get("page")),
        "own": len(own),
        "handed_in": sum(alignment.state == AlignmentState.HANDED_IN for alignment in own),
        "waiting": waiting,
        "next": next_alignment(access.project, request.user, but=waiting),
        "studies": [(visible_study, progress[visible_study.pk]) for visible_study in visible],
        "sees_studies": access.at_least(Role.EXPERT),
    }
    return render(request, "judge/studies.html", access.context | context)


@require_http_methods(["GET", "POST"])
def study(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """One study. An admin's POST closes or opens it, takes a person's open tables back, or gives free ones out."""
    access, aligned = study_of(request.user, slug, uid)
    if request.method == "POST":
        project_access(request.user, slug, role=Role.ADMIN)
        return _changed(request, aligned)
    over, (report, pairs), people = cluster_of(aligned), agreement_report(aligned), people_of(aligned)
    taken = taken_by_others(access.project, request.user, timezone.now())
    waiting = open_tables(aligned, request.user, but=open_work(access, before=Work.ALIGNED_ROWS))
    effect = effect_of_proposals(aligned)
    context = {
        "study": aligned,
        "progress": progress_of(aligned),
        "rows_left": sum(row["rows_left"] for row in people),
        "navigation": "judge:studies",
        "agreement": report,
        "estimates": _estimates(report, over),
        "over": over.plural,
        "pairs": pairs,
        "people": people,
        "members": members_of(access.project),
        "waiting": waiting,
        "open_tables": [(table, taken.get(table.task.story_id or 0, "")) for table in waiting["tables"]],
        "aligns_still": aligns_still(request.user, aligned),
        "accepted": accepted_of(aligned),
        "effect": effect
        and [
            _named(_("Proposals that people linked, where they were shown"), effect["shown"]),
            _named(_("The same pairs, where nothing was proposed"), effect["blind"]),
            _named(_("The first less the second"), effect["difference"]),
        ],
        "lacking": effect and effect["lacking"],
    }
    return render(request, "judge/study.html", access.context | context)


def _named(name: str, estimate: Estimate, *, share: bool = True) -> Json:
    """Return a row of _estimates.html; a `share` is written in per cent."""
    return {"name": name, "estimate": estimate, "share": share}


def _estimates(report: AlignmentAgreement, over: ClusterName) -> list[Json]:
    counts = report.counts.estimates
    by_story = _("The same, averaged over {units}").format(units=_(over.plural))
    return [
        _named(_("Rows with the same MatchCount"), counts["pairwise"]),
        _named(by_story, report.by_story),
        _named(_("Links: F1 of two people"), report.links),
        _named(_("Fleiss’ κ of MatchCounts"), counts["fleiss_kappa"], share=False),
        _named(_("Krippendorff’s α of MatchCounts"), counts["krippendorff_alpha"], share=False),
    ]


def _changed(request: UserRequest, aligned: AlignmentStudy) -> HttpResponse:
    now, posted = timezone.now(), request.POST
    members = {str(user.pk): user for user in User.objects.filter(memberships__project=aligned.project_id)}
    aligning = {str(user.pk): user for user in User.objects.filter(alignments__task__study=aligned)}  # also who left
    if "close" in posted:
        close_study(by=request.user, study=aligned, now=now)
        messages.success(request, _("The study is closed: nobody aligns in it until it is opened again."))
    elif "open" in posted:
        close_study(by=request.user, study=aligned, now=None)
    elif posted.get("release") in aligning:
        count = release(by=request.user, study=aligned, person=aligning[posted["release"]], now=now)
        messages.success(request, _("Open tables that were taken back: {count}.").format(count=count))
    elif people := [members[pk] for pk in posted.getlist("person") if pk in members]:
        try:
            given = made_once(request, lambda: str(give_more(by=request.user, study=aligned, annotators=people)))
            messages.success(request, _("Tables that were given out: {count}.").format(count=given))
        except Refused as error:
            messages.error(request, str(error))
    return redirect("judge:study", aligned.project.slug, aligned.uid)


@require_GET
@in_english
def download_csv(request: UserRequest, slug: str, uid: str) -> StreamingHttpResponse:
    """Every answer about every row, for admins. Its model is empty for one who still aligns in the study, and a table
    on whose story they have open work has no rows."""
    access, aligned = study_of(request.user, slug, uid, role=Role.ADMIN)
    writer = csv.writer(Echo())
    rows = link_rows(aligned, named=not aligns_still(request.user, aligned), closed=closed_tables(access, aligned))
    lines = (writer.writerow([defused(str(value)) for value in row]) for row in chain([COLUMNS], rows))
    headers = _attached(aligned, "csv")
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)


@require_GET
@in_english
def download_json(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """Send every answer about every row with the tables, the figures of agreement and where the tables come from."""
    access, aligned = study_of(request.user, slug, uid, role=Role.ADMIN)
    document = document_of(
        aligned, named=not aligns_still(request.user, aligned), closed=closed_tables(access, aligned)
    )
    return JsonResponse(document, headers=_attached(aligned, "json"))


def _attached(study: AlignmentStudy, extension: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="alignment-{study.uid}.{extension}"'}


@require_http_methods(["GET", "POST"])
def align_runs(request: UserRequest, slug: str) -> HttpResponse:
    """Choose runs, the size of the sample and people. Without "make" in the request it only counts what would be
    drawn."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    number = AlignmentStudy.objects.filter(project=access.project).count() + 1
    initial = {"runs": request.GET.getlist("run"), "name": _("Study {number}").format(number=number)}
    form = AlignForm(request.POST or None, project=access.project, initial=initial)
    context: dict[str, Any] = {"form": form, "navigation": "judge:studies"}
    if request.method == "POST" and form.is_valid():
        try:
            if "make" in request.POST:
                return redirect("judge:study", slug, made_once(request, partial(_made, request, access, form)))
            units = units_of(form.cleaned_data["runs"], split=form.cleaned_data["split"])
            context["strata"] = strata_of(units, drawn_of(units, form.plan.total, form.plan.seed))
        except Refused as error:
            if uid := made_before(request):
                return redirect("judge:study", slug, uid)
            form.add_error(None, str(error))
    return render(request, "judge/new_study.html", access.context | context)


def _made(request: UserRequest, access: ProjectAccess, form: AlignForm) -> str:
    runs, split = list(form.cleaned_data["runs"]), form.cleaned_data["split"]
    made = make_study(
        by=request.user,
        project=access.project,
        plan=form.plan,
        units=units_of(runs, split=split),
        load=partial(load_tables, project=access.project),
        annotators=list(form.cleaned_data["annotators"]),
        origin=origin_of(runs, split=split),
        now=timezone.now(),
    )
    messages.success(request, _("The study is made; its tables are given out."))
    return made.uid


@require_http_methods(["GET", "POST"])
def grow_alignment(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """Draw further tables of a study."""
    access, aligned = study_of(request.user, slug, uid, role=Role.ADMIN)
    form = GrowForm(request.POST or None, project=access.project, more=request.GET.get("more", ""))
    if request.method == "POST" and form.is_valid():
        try:
            made_once(request, partial(_grown, request, aligned, form))
            return redirect("judge:study", slug, uid)
        except Refused as error:
            form.add_error("more", str(error))
    context = {"study": aligned, "form": form, "navigation": "judge:studies"}
    return render(request, "judge/grow_study.html", access.context | context)


def _grown(request: UserRequest, study: AlignmentStudy, form: GrowForm) -> str:
    load, annotators = partial(load_tables, project=study.project), list(form.cleaned_data["annotators"])
    more = form.cleaned_data["more"]
    total = grow_study(by=request.user, study=study, more=more, load=load, annotators=annotators, now=timezone.now())
    messages.success(request, _("The study has {tables} now.").format(tables=counted(total, "table")))
    return str(total)
