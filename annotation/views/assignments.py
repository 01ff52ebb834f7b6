"""Assignments of stories to people: the balanced plan, releases and deadlines, one story or all that a filter shows."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import F, Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST

from annotation.access import ProjectAccess, UserRequest, project_access
from annotation.domain.assignment import PlanError
from annotation.forms.assignments import AssignForm, FilterForm
from annotation.models import Assignment, Role, Story
from annotation.services import assignments as service
from annotation.services.progress import Progress
from core.idempotency.forms import made_before, made_once
from core.plain import Json
from core.wording import counted

PAGE = 50


def assignments(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    filters = FilterForm(request.GET, project=access.project)
    filters.is_valid()
    chosen = filters.cleaned_data
    named = {name: chosen.get(name) for name in ("split", "category", "person")}
    stories = service.stories_to_assign(
        access.project, slots=chosen.get("assignments"), without_table=chosen.get("tables") == "all", **named
    )
    form = AssignForm(request.POST if request.method == "POST" else None, project=access.project)
    outcome: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        outcome, done = _done(request, access, form, stories)
        if done:
            return redirect(request.get_full_path())
    progress = Progress(access.project)
    loads = {totals["id"]: totals for totals in progress.of_annotators()}
    deadlines = progress.deadlines(timezone.now())
    active = Assignment.objects.active().select_related("annotator").order_by("slot")
    rows = stories.defer("text", "translations", "extra").annotate(propositions=F("counts__propositions"))
    assigned = Prefetch("assignments", active, to_attr="active_assignments")
    listed = rows.select_related("category", "split").prefetch_related(assigned)
    context = {
        "filters": filters,
        "page": Paginator(listed, PAGE).get_page(request.GET.get("page")),
        "form": form,
        "people": [  # what they have, and how it stands for the days that it is due
            row | {"load": loads.get(row["user"].pk), "paces": deadlines.get(row["user"].pk, ())} for row in form.people
        ],
        "members": form.members,
        "query": urlencode({name: value for name, value in filters.data.items() if value and name != "page"}),
        "chosen": {story.uid for story in form.cleaned_data.get("stories", [])} if form.is_bound else (),
    }
    return render(request, "annotation/assignments/assignments.html", access.context | context | outcome)


def _done(request: UserRequest, access: ProjectAccess, form: AssignForm, stories: QuerySet[Story]) -> tuple[Json, bool]:
    """Return (what the page shows of the pressed button's work, whether the work is done)."""
    if "due_set" in request.POST:
        return {}, _set_due(request, access, form, stories)
    if "release" in request.POST:
        rows = _assigned(form, stories)
        if request.POST["release"] != "apply":
            return {"releasing": service.foreseen(rows)}, False
        released, votes = service.release_all(by=request.user, assignments=rows, now=timezone.now())
        withdrawn = ngettext("; {count} vote was withdrawn", "; {count} votes were withdrawn", votes).format(
            count=votes
        )
        messages.success(
            request,
            gettext("{assignments} released{withdrawn}.").format(
                assignments=counted(released, "assignment"), withdrawn=withdrawn
            ),
        )
        return {}, True
    preview = _planned(form, access, stories, without_table=request.GET.get("tables") == "all")
    if not preview:
        return {}, bool(made_before(request))
    if "apply" not in request.POST:
        return {"preview": preview}, False
    assigned = {
        "assignments": preview["assignments"],
        "seed": form.cleaned_data["seed"],
        "due": form.cleaned_data["due"],
    }
    done = made_once(request, lambda: str(service.assign(by=request.user, project=access.project, **assigned)))
    messages.success(request, gettext("{assignments} made.").format(assignments=counted(int(done), "assignment")))
    return {}, True


def _assigned(form: AssignForm, stories: QuerySet[Story]) -> QuerySet[Assignment]:
    """Return the assignments of the chosen people at the stories that the form is about."""
    if form.cleaned_data["scope"] == "chosen":
        stories = form.cleaned_data["stories"]
    return service.assignments_at(stories, annotators=form.cleaned_data["annotators"])


def _set_due(request: UserRequest, access: ProjectAccess, form: AssignForm, stories: QuerySet[Story]) -> bool:
    due = form.cleaned_data["due"]
    rows = _assigned(form, stories)
    try:
        count = service.set_due(by=request.user, project=access.project, assignments=rows, due=due)
    except service.DayHasPassed as error:
        form.add_error("due", str(error))
        return False
    day = (
        gettext("to be finished by {due}").format(due=date_format(due, gettext("j F Y")))
        if due
        else gettext("without a deadline")
    )
    messages.success(
        request,
        ngettext("{count} assignment is {day} now.", "{count} assignments are {day} now.", count).format(
            count=count, day=day
        ),
    )
    return True


def _planned(
    form: AssignForm, access: ProjectAccess, stories: QuerySet[Story], *, without_table: bool
) -> dict[str, Any] | None:
    """Return the `assignments` that would be made, (story, annotator) ids, the `loads` of the members (stories that
    they would get, propositions that these add, and those that they then carry altogether), and how many stories would
    be `short` of annotators. Returns None with an error in the form."""
    chosen = form.cleaned_data
    if chosen["scope"] == "chosen":
        rows = [story.pk for story in chosen["stories"]]
    else:
        rows = list(stories.order_by().values_list("pk", flat=True))
    people = {person.pk: person for person in chosen["annotators"]}
    asked = {"stories": rows, "annotators": people, "seed": chosen["seed"], "without_table": without_table}
    try:
        service.check_due(chosen["due"])
        plan = service.plan_assignments(project=access.project, **asked)
    except (service.DayHasPassed, PlanError) as error:
        form.add_error("due" if isinstance(error, service.DayHasPassed) else None, str(error))
        return None
    loads = [
        {
            "name": person.shown_name,
            "stories": sum(annotator == key for _, annotator in plan.assignments),
            "added": plan.added[key],
            "carried": plan.carried[key],
        }
        for key, person in people.items()
    ]
    return {"assignments": plan.assignments, "loads": loads, "short": len(plan.short)}


@require_POST
def release(request: UserRequest, slug: str, assignment: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    rows = Assignment.objects.active().select_related("story__project", "annotator")
    row = get_object_or_404(rows, story__project=access.project, uid=assignment)
    votes = service.release(by=request.user, assignment=row, now=timezone.now())
    messages.success(
        request,
        ngettext(
            "{shown_name} no longer labels {story}; {votes} vote was withdrawn.",
            "{shown_name} no longer labels {story}; {votes} votes were withdrawn.",
            votes,
        ).format(shown_name=row.annotator.shown_name, story=row.story, votes=votes),
    )
    here = request.GET.urlencode()
    return redirect(reverse("annotation:assignments", args=[slug]) + (f"?{here}" if here else ""))
