"""The queue of belief tables: what an expert can write, what waits, what is done, and who writes what."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, Prefetch, Q, QuerySet
from django.db.models.functions import Substr
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET, require_POST

from annotation.access import ProjectAccess, UserRequest, project_access, proposition_of, story_of
from annotation.domain.assignment import PlanError
from annotation.domain.tables import TableRow, likely_actors
from annotation.forms.assignments import GiveForm, TablesFilter
from annotation.forms.corpus import RewordForm, RowForm, RowsForm
from annotation.models import BeliefTable, Proposition, Role, Story, SuggestedRow, TableKind, User, table_queue
from annotation.services import belief_tables
from annotation.services.agreement import table_report
from annotation.services.assignments import give_tables, plan_tables
from annotation.services.drafts import release_slot
from annotation.views.corpus import excerpt
from core.idempotency.forms import made_before, made_once
from core.joints import listed
from core.plain import Json
from core.wording import counted

PAGE = 50


def tables(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    form = TablesFilter(request.GET, project=access.project)
    chosen = form.cleaned_data if form.is_valid() else {}
    stories: Any = table_queue.with_states(access.project, access.user)
    stories = stories.in_split(chosen.get("split")).in_category(chosen.get("category"))
    if chosen.get("text"):
        stories = table_queue.found_by(stories, chosen["text"])
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


def table_edit(request: UserRequest, slug: str, story: str) -> HttpResponse:
    """The gold table: one row or many are added, and rows moved; a row's text has a page of its own."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    many = RowsForm(request.POST if "rows" in request.POST else None)
    row_form = RowForm(request.POST if "belief" in request.POST else None)
    if request.method == "POST" and _changed(request, access, row, many, row_form):
        return redirect("annotation:table_edit", slug, story)
    propositions = Proposition.objects.gold_of(row).annotate(open_flags=Count("flags", filter=Q(flags__outcome="")))
    actors = {"world", *likely_actors(row.text), *(proposition.actor for proposition in propositions)}
    finished = belief_tables.finished_by(row)
    context = {
        "finished": finished,
        "story": row,
        "many": many,
        "row_form": row_form,
        "propositions": propositions,
        "actors": sorted(actors),
    }
    return render(request, "annotation/corpus/table_edit.html", access.context | context)


def _changed(request: UserRequest, access: ProjectAccess, story: Story, many: RowsForm, row_form: RowForm) -> bool:
    for direction in ("up", "down"):
        if direction in request.POST:
            proposition = proposition_of(access, request.POST[direction][:20])
            belief_tables.move(by=request.user, proposition=proposition, up=direction == "up")
            return True
    form = many if many.is_bound else row_form
    if not form.is_valid():
        return False
    chosen = form.cleaned_data
    rows = chosen["rows"] if form is many else [TableRow(chosen["actor"], chosen["belief"], chosen["order"])]

    def make() -> str:
        return str(len(belief_tables.add_rows(by=request.user, story=story, rows=rows, now=timezone.now())))

    finished = belief_tables.finished_by(story)
    try:
        added = int(made_once(request, make))
    except belief_tables.NotTaken as error:
        form.add_error(None, str(error))
        return False
    reopened = (
        gettext(" {finished} had finished this story and will find it open again.").format(finished=listed(finished))
        if finished
        else ""
    )
    messages.success(
        request, ngettext("{count} row was added.", "{count} rows were added.", added).format(count=added) + reopened
    )
    return True


def proposition_edit(request: UserRequest, slug: str, proposition: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_of(access, proposition)
    story = row.table.story
    if row.table.kind != TableKind.GOLD or row.removed_at is not None:
        return redirect("annotation:table_edit", slug, story.uid)
    has_history = belief_tables.has_history(row)
    form = RewordForm(
        request.POST if "belief" in request.POST else None,
        initial={"actor": row.actor, "belief": row.belief},
        must_confirm=has_history,
    )
    if request.method == "POST" and "remove" in request.POST:
        belief_tables.remove(by=request.user, proposition=row, now=timezone.now())
        messages.success(request, gettext("The row was taken out of the table."))
        return redirect("annotation:table_edit", slug, story.uid)
    if request.method == "POST" and form.is_valid():
        texts = {name: form.cleaned_data[name] for name in ("actor", "belief")}
        if belief_tables.reword(by=request.user, proposition=row, **texts, now=timezone.now()) is None:
            messages.info(request, gettext("The row was changed a moment ago; this is the table as it stands."))
        return redirect("annotation:table_edit", slug, story.uid)
    context = {"form": form, "proposition": row, "story": story, "has_history": has_history}
    return render(request, "annotation/corpus/proposition_edit.html", access.context | context)
