"""Pages that have people align the tables of runs: a new study, and further tables of one."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.access import ProjectAccess, project_access
from annotation.models import Role
from benchmark.forms.aligning import AlignForm, GrowForm
from benchmark.services.alignment_tables import load_tables, origin_of, units_of
from core.idempotency.forms import made_before, made_once
from core.wording import counted
from judge.access import study_of
from judge.models import AlignmentStudy
from judge.services.refused import Refused
from judge.services.studies import drawn_of, grow_study, make_study, strata_of


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
    return render(request, "benchmark/aligning/new.html", access.context | context)


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
    return render(request, "benchmark/aligning/grow.html", access.context | context)


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
