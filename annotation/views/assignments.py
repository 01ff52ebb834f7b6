from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Prefetch, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.access import ProjectAccess, project_access
from annotation.domain.assignment import PlanError
from annotation.forms.assignments import AssignForm, FilterForm
from annotation.models import Assignment, Role
from annotation.services import assignments as service
from core.idempotency.forms import made_before, made_once


def assignments(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    filters, stories = _filtered(request, access)
    form = AssignForm(request.POST if request.method == "POST" else None, project=access.project)
    preview = None
    if request.method == "POST" and form.is_valid():
        preview = _planned(form, access, stories)
        if not preview and made_before(request):
            return redirect(request.get_full_path())
        if preview and "apply" in request.POST:
            assigned = {"assignments": preview["assignments"], "seed": form.cleaned_data["seed"]}
            done = made_once(
                request,
                lambda: str(service.assign(by=request.user, project=access.project, **assigned).created),
            )
            messages.success(request, f"{done} assignment{pluralize(done)} made.")
            return redirect(request.get_full_path())
    assignments = Prefetch(
        "assignments", Assignment.objects.active().select_related("annotator"), to_attr="active_assignments"
    )
    page = Paginator(stories.select_related("category", "split").prefetch_related(assignments), 50)
    context = {
        "filters": filters,
        "page": page.get_page(request.GET.get("page")),
        "form": form,
        "preview": preview,
        "members": set(access.project.memberships.values_list("user_id", flat=True)),
        "query": urlencode({name: value for name, value in filters.data.items() if value and name != "page"}),
        "chosen": {story.uid for story in form.cleaned_data.get("stories", [])}
        if form.is_bound and form.is_valid()
        else (),
    }
    return render(request, "annotation/assignments/assignments.html", access.context | context)


def _filtered(request: HttpRequest, access: ProjectAccess):
    filters = FilterForm(request.GET, project=access.project)
    chosen = filters.cleaned_data if filters.is_valid() else {}
    stories = access.project.stories.in_split(chosen.get("split")).in_category(chosen.get("category"))
    active = Count("assignments", filter=Q(assignments__released_at__isnull=True), distinct=True)
    stories = stories.annotate(assigned_count=active).order_by("number")
    if chosen.get("seats") == "free":
        stories = stories.filter(assigned_count__lt=access.project.overlap)
    elif chosen.get("seats") == "full":
        stories = stories.filter(assigned_count__gte=access.project.overlap)
    return filters, stories


def _planned(form: AssignForm, access: ProjectAccess, stories) -> dict | None:
    chosen = form.cleaned_data
    rows = chosen["stories"] if chosen["scope"] == "chosen" else stories
    annotators = {person.pk: person for person in chosen["annotators"]}
    try:
        plan = service.plan_assignments(
            project=access.project,
            stories=[story.pk for story in rows],
            annotators=annotators,
            seed=chosen["seed"],
        )
    except PlanError as error:
        form.add_error(None, str(error))
        return None
    loads = [
        {"name": person.shown_name, "stories": sum(annotator == key for _, annotator in plan.assignments)}
        for key, person in annotators.items()
    ]
    return {"assignments": plan.assignments, "loads": loads, "short": len(plan.short)}


@require_POST
def release(request: HttpRequest, slug: str, assignment: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    rows = Assignment.objects.active().select_related("story__project", "annotator")
    row = get_object_or_404(rows, story__project=access.project, uid=assignment)
    votes = service.release(by=request.user, assignment=row, now=timezone.now())
    messages.success(request, f"{row.annotator.shown_name} no longer labels {row.story}; {votes} votes were withdrawn.")
    return redirect("annotation:assignments", slug)
