"""The queue of belief tables: what an expert can write, what waits, what is done, and who writes what."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Prefetch, QuerySet
from django.db.models.functions import Substr
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from annotation.access import ProjectAccess, UserRequest, project_access, story_of
from annotation.domain.assignment import PlanError
from annotation.forms.tables import GiveForm, TablesFilter
from annotation.models import BeliefTable, Role, Story, SuggestedRow, User, table_queue
from annotation.services.assignments import give_tables, plan_tables
from annotation.services.drafts import release_slot
from annotation.services.table_report import table_report
from annotation.views.corpus import excerpt
from core.idempotency.forms import made_before, made_once
from core.plain import Json
from core.wording import counted

PAGE = 50


def tables(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    form = TablesFilter(request.GET, project=access.project)
    chosen = form.cleaned_data if form.is_valid() else {}
    stories = _filtered(access, chosen)
    give, preview = GiveForm(request.POST if request.method == "POST" else None, project=access.project), None
    if request.method == "POST":
        if not access.at_least(Role.ADMIN):
            raise PermissionDenied(gettext("Only admins give tables to experts."))
        preview, done = _given(request, access, give, stories)
        if done:
            return redirect(request.get_full_path())
    counts = table_queue.counts(stories)
    state = chosen.get("state") or ""
    listed = stories.filter(table_state=state) if state else stories
    page = Paginator(_listed(listed), PAGE).get_page(request.GET.get("page"))
    filters = {name: value for name, value in chosen.items() if value}
    others = urlencode({name: value for name, value in filters.items() if name != "state"})
    context = {
        "form": form,
        "page": page,
        "rows": [_row(story, access) for story in page],
        "tabs": [{"state": key, "name": name, "count": counts[key]} for key, name in table_queue.STATES.items()],
        "state": state,
        "total": sum(counts.values()),
        "left": sum(counts[key] for key in table_queue.WORK),
        "others": others,
        "query": urlencode(filters),
        "give": give,
        "preview": preview,
    }
    return render(request, "annotation/tables/queue.html", access.context | context)


def _filtered(access: ProjectAccess, chosen: dict[str, Any]) -> Any:
    """Return the stories that the filters show, with their states."""
    stories: Any = table_queue.with_states(access.project, access.user)
    stories = stories.in_split(chosen.get("split")).in_category(chosen.get("category"))
    return table_queue.found_by(stories, chosen["text"]) if chosen.get("text") else stories


def _listed(stories: QuerySet[Story]) -> QuerySet[Story]:
    drafts = BeliefTable.objects.drafts().select_related("author").order_by("slot")
    short = stories.defer("text", "translations", "extra").annotate(begins=Substr("text", 1, 160))
    return short.select_related("category", "split").prefetch_related(Prefetch("tables", drafts, to_attr="drafts"))


def _row(story: Any, access: ProjectAccess) -> dict[str, Any]:
    return {
        "story": story,
        "begins": excerpt(story.begins),
        "state": table_queue.STATES[story.table_state],
        "writers": story.drafts,
        "free": max(0, access.project.table_experts - len(story.drafts)) if story.table_state != "done" else 0,
    }


def _given(
    request: UserRequest, access: ProjectAccess, form: GiveForm, stories: QuerySet[Story]
) -> tuple[Json | None, bool]:
    """Return what the plan comes to, and whether it was made."""
    if not form.is_valid():
        return None, False
    people = {person.pk: person for person in form.cleaned_data["experts"]}
    seed, rows = form.cleaned_data["seed"], [story.pk for story in stories.only("pk")]
    try:
        plan = plan_tables(project=access.project, stories=rows, experts=people, seed=seed)
    except PlanError as error:
        form.add_error(None, str(error))
        return None, False
    if "apply" in request.POST and (plan.assignments or made_before(request)):
        what = {"project": access.project, "assignments": plan.assignments, "seed": seed}
        given = made_once(request, lambda: str(give_tables(by=request.user, **what)))
        messages.success(request, gettext("{tables} given.").format(tables=counted(int(given), "table")))
        return None, True
    loads = [
        {"name": person.shown_name, "stories": sum(expert == key for _, expert in plan.assignments)}
        for key, person in people.items()
    ]
    return {"count": len(plan.assignments), "loads": loads, "short": len(plan.short)}, False


@require_GET
def report(request: UserRequest, slug: str) -> HttpResponse:
    """Agreement of experts on the tables that they reconciled, by split or category where asked for."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    form = TablesFilter(request.GET, project=access.project)
    chosen = form.cleaned_data if form.is_valid() else {}
    scope = {"split": chosen.get("split") or None, "category": chosen.get("category") or None}
    drafted = SuggestedRow.objects.filter(story__project=access.project).exists()
    context = {"form": form, "report": table_report(project=access.project, **scope), "drafted": drafted}
    return render(request, "annotation/tables/report.html", access.context | context)


@require_GET
def next_table(request: UserRequest, slug: str) -> HttpResponse:
    """Open the next table that this person can write or reconcile, after the story named by `after`, or the queue."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    stories = table_queue.with_states(access.project, request.user)
    after = stories.filter(uid=request.GET.get("after", "")[:12]).first()
    following: Any = table_queue.next_of(stories, after=after.number if after else None)
    if following is None:
        messages.success(request, gettext("Nothing is left to write or to reconcile for you."))
        return redirect("annotation:tables", slug)
    if following == after:
        messages.info(request, gettext("No other story has work for you; this one does."))
    page = "reconcile" if following.table_state == "ready" else "draft"
    return redirect(f"annotation:{page}", slug, following.uid)


@require_POST
def release_table(request: UserRequest, slug: str, story: str, expert: int) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    row, person = story_of(access, story), get_object_or_404(User, pk=expert)
    if release_slot(by=request.user, story=row, expert=person):
        messages.success(
            request,
            gettext("{shown_name} no longer writes {row}; what they wrote is kept for them.").format(
                shown_name=person.shown_name, row=row
            ),
        )
    else:
        messages.info(
            request,
            gettext("{shown_name} writes no table of {row} that is still open.").format(
                shown_name=person.shown_name, row=row
            ),
        )
    return redirect("annotation:tables", slug)
