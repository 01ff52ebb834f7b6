"""Lists of studies and of a person's own tables, and one study: how far it is, how people agree, what waits."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import ProjectAccess, open_work, project_access
from annotation.domain.agreement.report import Measure
from annotation.domain.columns import Echo, defused
from annotation.models import Role, User
from annotation.services.open_work import Work
from core.estimated import Estimated
from core.idempotency.forms import made_before, made_once
from core.statistics import Estimate
from core.views.pages import in_english
from core.wording import counted
from judge.access import StudyAccess, aligns_still, closed_tables, study_of, visible_studies
from judge.domain.alignment import ClusterName
from judge.domain.alignment_agreement import AlignmentAgreement, ProposalEffect
from judge.forms.studies import AlignForm, GrowForm
from judge.models import AlignmentState, AlignmentStudy
from judge.services.alignment_export import COLUMNS, document_of, link_rows
from judge.services.alignment_report import (
    accepted_of,
    agreement_with_pairs,
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


@dataclass(frozen=True, slots=True)
class NamedEstimate:
    """An estimate with its name; `share` says whether it is written in per cent, and `ends` is its interval where the
    page writes that below it."""

    name: str
    estimate: Estimated
    share: bool = True
    ends: str = ""


PAGE = 50


@require_GET
def studies(request: HttpRequest, slug: str) -> HttpResponse:
    """Return what this person has to align, and for experts and admins every study with its next step."""
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
def study(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """One study. An admin's POST closes or opens it, takes a person's open tables back, or gives free ones out."""
    access = study_of(request.user, slug, uid)
    if request.method == "POST":
        project_access(request.user, slug, role=Role.ADMIN)
        return _changed(request, access)
    alignment_study, over = access.study, cluster_of(access.study)
    report, pairs = agreement_with_pairs(alignment_study)
    members = User.objects.filter(memberships__project=access.project.project).order_by("display_name", "username")
    taken = taken_by_others(access.project.project, request.user, timezone.now())
    waiting = open_tables(alignment_study, request.user, but=open_work(access.project, before=Work.ALIGNED_ROWS))
    people, effect = people_of(alignment_study), effect_of_proposals(alignment_study)
    context = {
        "progress": progress_of(alignment_study),
        "rows_left": sum(person.rows_left for person in people),
        "navigation": "judge:studies",
        "agreement": report,
        "estimates": _estimates(report, over),
        "over": over.plural,
        "pairs": pairs,
        "people": people,
        "members": members,
        "waiting": waiting,
        "open_tables": [(table, taken.get(table.task.story_id, "")) for table in waiting.tables],
        "aligns_still": aligns_still(access),
        "accepted": accepted_of(alignment_study),
        "effect": _effect(effect),
        "lacking": effect and effect.lacking,
    }
    return render(request, "judge/study.html", access.context | context)


def _estimates(report: AlignmentAgreement, over: ClusterName) -> list[NamedEstimate]:
    """Return the estimates of agreement."""
    counts = report.counts

    def of(name: Measure) -> Estimate:
        ends, reason = counts.intervals[name]
        return Estimate(counts.values[name], counts.cells, ends, reason=reason)

    by_story = _("The same, averaged over {units}").format(units=_(over.plural))
    return [
        NamedEstimate(_("Rows with the same MatchCount"), of("pairwise")),
        NamedEstimate(by_story, report.by_story),
        NamedEstimate(_("Links: F1 of two people"), report.links),
        NamedEstimate(_("Fleiss’ κ of MatchCounts"), of("fleiss_kappa"), share=False),
        NamedEstimate(_("Krippendorff’s α of MatchCounts"), of("krippendorff_alpha"), share=False),
    ]


def _effect(effect: ProposalEffect | None) -> list[NamedEstimate]:
    """Return what proposals do to links, nothing where everybody sees them."""
    if effect is None:
        return []
    return [
        NamedEstimate(_("Proposals that people linked, where they were shown"), effect.shown),
        NamedEstimate(_("The same pairs, where nothing was proposed"), effect.blind),
        NamedEstimate(_("The first less the second"), effect.difference),
    ]


def _changed(request: HttpRequest, access: StudyAccess) -> HttpResponse:
    now, alignment_study, posted = timezone.now(), access.study, request.POST
    people = {str(user.pk): user for user in User.objects.filter(memberships__project=access.project.project)}
    who_ever_aligned = User.objects.filter(alignments__task__study=alignment_study)  # also who left
    aligning = {str(user.pk): user for user in who_ever_aligned}
    if "close" in posted:
        close_study(by=request.user, study=alignment_study, now=now)
        messages.success(request, _("The study is closed: nobody aligns in it until it is opened again."))
    elif "open" in posted:
        close_study(by=request.user, study=alignment_study, now=None)
    elif posted.get("release") in aligning:
        count = release(by=request.user, study=alignment_study, person=aligning[posted["release"]], now=now)
        messages.success(request, _("Open tables that were taken back: {count}.").format(count=count))
    elif chosen := [people[pk] for pk in posted.getlist("person") if pk in people]:
        _given_out(request, alignment_study, chosen)
    return redirect("judge:study", access.project.project.slug, alignment_study.uid)


def _given_out(request: HttpRequest, study: AlignmentStudy, people: list[User]) -> None:
    try:
        count = made_once(request, lambda: str(give_more(by=request.user, study=study, annotators=people)))
        messages.success(request, _("Tables that were given out: {count}.").format(count=count))
    except Refused as error:
        messages.error(request, str(error))


@require_GET
@in_english
def download_csv(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Every answer about every row, for admins; whose table it is stays empty for one who still aligns in it, and a
    table on whose story they have open work has no rows."""
    access = study_of(request.user, slug, uid, role=Role.ADMIN)
    writer = csv.writer(Echo())
    rows = link_rows(access.study, named=not aligns_still(access), closed=closed_tables(access))
    lines = (writer.writerow([defused(str(value)) for value in row]) for row in chain([COLUMNS], rows))
    headers = _attached(access.study, "csv")
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)


@require_GET
@in_english
def download_json(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Send every answer about every row with the tables, the figures of agreement and where the tables come from."""
    access = study_of(request.user, slug, uid, role=Role.ADMIN)
    document = document_of(access.study, named=not aligns_still(access), closed=closed_tables(access))
    return JsonResponse(document, headers=_attached(access.study, "json"))


def _attached(study: AlignmentStudy, extension: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="alignment-{study.uid}.{extension}"'}


@require_http_methods(["GET", "POST"])
def align_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose runs, the size of the sample and people. Without "make" in the request it only counts what would be
    drawn."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    initial = {"runs": request.GET.getlist("run"), "name": _("Study {number}").format(number=_next_number(access))}
    form = AlignForm(request.POST or None, project=access.project, initial=initial)
    context: dict[str, Any] = {"form": form, "navigation": "judge:studies"}
    if request.method == "POST" and form.is_valid():
        try:
            if "make" in request.POST:
                return redirect("judge:study", slug, made_once(request, partial(_made, request, access, form)))
            context["strata"] = _preview(form)
        except Refused as error:
            if uid := made_before(request):
                return redirect("judge:study", slug, uid)
            form.add_error(None, str(error))
    return render(request, "judge/new_study.html", access.context | context)


def _next_number(access: ProjectAccess) -> int:
    return AlignmentStudy.objects.filter(project=access.project).count() + 1


def _preview(form: AlignForm) -> list:
    units = units_of(form.cleaned_data["runs"], split=form.cleaned_data["split"])
    return strata_of(units, drawn_of(units, form.plan.total, form.plan.seed))


def _made(request: HttpRequest, access: ProjectAccess, form: AlignForm) -> str:
    chosen = form.cleaned_data
    runs = list(chosen["runs"])
    study = make_study(
        by=request.user,
        project=access.project,
        plan=form.plan,
        units=units_of(runs, split=chosen["split"]),
        load=partial(load_tables, project=access.project),
        annotators=list(chosen["annotators"]),
        origin=origin_of(runs, split=chosen["split"]),
        now=timezone.now(),
    )
    messages.success(request, _("The study is made; its tables are given out."))
    return study.uid


@require_http_methods(["GET", "POST"])
def grow_alignment(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Draw further tables of a study."""
    access = study_of(request.user, slug, uid, role=Role.ADMIN)
    project = access.project.project
    form = GrowForm(request.POST or None, project=project, more=request.GET.get("more", ""))
    if request.method == "POST" and form.is_valid():
        try:
            made_once(request, partial(_grown, request, access.study, form))
            return redirect("judge:study", slug, uid)
        except Refused as error:
            form.add_error("more", str(error))
    context = {"form": form, "navigation": "judge:studies"}
    return render(request, "judge/grow_study.html", access.context | context)


def _grown(request: HttpRequest, study: AlignmentStudy, form: GrowForm) -> str:
    total = grow_study(
        by=request.user,
        study=study,
        more=form.cleaned_data["more"],
        load=partial(load_tables, project=study.project),
        annotators=list(form.cleaned_data["annotators"]),
        now=timezone.now(),
    )
    messages.success(request, _("The study has {tables} now.").format(tables=counted(total, "table")))
    return str(total)
