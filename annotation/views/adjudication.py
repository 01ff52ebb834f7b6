"""The experts' queue, the screen of one story, and the decisions made there."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotation.access import ProjectAccess, project_access, story_of, unfinished
from annotation.domain.ordering import shuffled
from annotation.forms.adjudication import BulkForm, CaseForm, DecisionForm, QueueFilter, UndoForm
from annotation.models import ErrorTag, Proposition, Role, Story, adjudication_queue
from annotation.services import adjudication as service
from annotation.services import adjudication_bulk as bulk
from annotation.views.adjudication_cells import Cell, CellReader, proposition_in_gold

STORIES_A_PAGE = 8
CELLS_A_STORY = 12


@require_GET
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    form = QueueFilter(request.GET, project=access.project)
    hidden = unfinished(access)
    cells = adjudication_queue.cells(access.project, unfinished=hidden, **form.chosen)
    stories = adjudication_queue.by_story(cells, access.project)
    page = Paginator(stories, STORIES_A_PAGE).get_page(request.GET.get("page"))
    left = adjudication_queue.left(access.project)
    none = {"todo": 0, "decided": 0}
    schema = access.project.schema
    context = {
        "form": form,
        "page": page,
        "groups": _groups(access, cells, page),
        "found": sum(group.cells for group in stories),
        "left": [{"dimension": dimension, **left.get(dimension.key, none)} for dimension in schema.dimensions],
        "most": max((counts["todo"] for counts in left.values()), default=0) or 1,
        "todo": sum(counts["todo"] for counts in left.values()),
        "decided": sum(counts["decided"] for counts in left.values()),
        "hidden": len(hidden),
        "query": form.query(),
        "pair": form.chosen["pair"].split("|", 1) if "pair" in form.chosen else None,
        "without_pair": form.query(pair=""),
    }
    return render(request, "annotation/adjudication/queue.html", access.context | context)


def _groups(access: ProjectAccess, cells, page: Page) -> list[dict]:
    """List the stories of a page with their first cells, lowest agreement first within a proposition's order."""
    story_ids = [group.story for group in page]
    stories = Story.objects.select_related("category").defer("translations", "extra").in_bulk(story_ids)
    rows = list(
        cells.filter(proposition__table__story__in=story_ids)
        .select_related("proposition__table")
        .order_by("proposition__position", "id")
    )
    voted_by_user = adjudication_queue.voted_on(access.user, {row.proposition_id for row in rows})
    cast = adjudication_queue.labels_cast({row.proposition_id for row in rows})
    schema = access.project.schema
    by_story: dict[int, list] = {story: [] for story in story_ids}
    for row in rows:
        row.voted = (row.proposition_id, row.dimension) in voted_by_user
        row.shown_dimension = schema[row.dimension]
        labels = cast[row.proposition_id, row.dimension]
        row.shown_votes = [] if row.voted else shuffled(labels, f"{row.proposition.uid}:{row.dimension}")
        row.percent = None if row.voted or row.agreement is None else round(100 * row.agreement)
        by_story[row.proposition.table.story_id].append(row)
    return [
        {
            "story": stories[group.story],
            "cells": by_story[group.story][:CELLS_A_STORY],
            "more": max(0, group.cells - CELLS_A_STORY),
            "count": group.cells,
            "percent": round(100 * group.lowest),
            "at": group.lowest,
        }
        for group in page
    ]


def majorities(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what accepting the leading label would settle within a filter, and do it."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    form = QueueFilter(request.GET, project=access.project)
    filters = form.chosen | {"status": "open"}
    cells = adjudication_queue.cells(access.project, unfinished=unfinished(access), **filters)
    now = timezone.now()
    confirmed = BulkForm(request.POST or None)
    if request.method == "POST" and confirmed.is_valid():
        seen_until = confirmed.cleaned_data["seen_until"]
        settled = bulk.accept_plurality(
            by=request.user, project=access.project, cells=cells, seen_until=seen_until, now=now
        )
        messages.success(request, f"Settled by their leading label: {settled}. Decided cells stay as they were.")
        return redirect(f"{reverse('annotation:adjudication', args=[slug])}?{form.query()}")
    preview = bulk.preview(by=request.user, cells=cells)
    schema = access.project.schema
    context = {
        "form": form,
        "found": preview,
        "by_dimension": [
            (dimension, preview.by_dimension[dimension.key])
            for dimension in schema.dimensions
            if preview.by_dimension[dimension.key]
        ],
        "seen_until": now.isoformat(),
        "reason": bulk.REASON,
        "query": form.query(),
    }
    return render(request, "annotation/adjudication/majorities.html", access.context | context)


@require_GET
def screen(request: HttpRequest, slug: str, story: str) -> HttpResponse:
    """One story: cells to decide in full, settled ones in one line beside them."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    hidden = unfinished(access)
    if row.pk in hidden:
        return render(request, "annotation/adjudication/unfinished.html", access.context | {"story": row})
    form = QueueFilter(request.GET, project=access.project)
    schema = access.project.schema
    propositions = list(Proposition.objects.gold_of(row))
    reader = CellReader(access, propositions)
    wanted_cell = request.GET.get("cell", "")
    rows = []
    for proposition in propositions:
        cells = [reader.cell(proposition, dimension, wanted=wanted_cell) for dimension in schema.dimensions]
        rows.append({"proposition": proposition, "shown": [cell for cell in cells if cell.in_full], "cells": cells})
    every = [cell for row in rows for cell in row["cells"]]
    context = {
        "story": row,
        "rows": rows,
        "todo": sum(cell.for_me for cell in every),
        "others": sum(cell.todo and cell.voted for cell in every),
        "waiting": sum(cell.state in {"waiting", "unlabelled"} for cell in every),
        "tags": list(enumerate(ErrorTag.choices, 1)),
        "next_url": _next_url(access, row, form, hidden, request.GET.get("at", ""), every),
        "query": form.query(),
    }
    return render(request, "annotation/adjudication/screen.html", access.context | context)


def _next_url(access: ProjectAccess, story: Story, form, hidden: set[int], at: str, every: list[Cell]) -> str:
    """Return the address of the story that follows in the queue, or of the queue itself.

    `at` is the lowest agreement with which this story was opened: it says where in the queue the expert is, also when
    all cells of the story are decided and it is no longer in it.
    """
    slug = access.project.slug
    shares = [cell.gold.agreement for cell in every if cell.todo and cell.gold.agreement is not None]
    try:
        lowest = float(at)
    except ValueError:
        lowest = min(shares, default=0.0)
    cells = adjudication_queue.cells(access.project, unfinished=hidden, **form.chosen)
    stories = [group for group in adjudication_queue.by_story(cells, access.project) if group.story != story.pk]
    following = next(
        (group for group in stories if group.place > (lowest, story.number)), stories[0] if stories else None
    )
    if following is None:
        return f"{reverse('annotation:adjudication', args=[slug])}?{form.query()}"
    uid = Story.objects.values_list("uid", flat=True).get(pk=following.story)
    return f"{reverse('annotation:adjudicate', args=[slug, uid])}?{form.query()}&{urlencode({'at': following.lowest})}"


@require_POST
def decide(request: HttpRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """Take or take back a decision; answer with the cell as it then stands."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_in_gold(access, proposition, dimension)
    undo = "undo" in request.POST
    form = UndoForm(request.POST) if undo else DecisionForm(request.POST)
    place = {"by": request.user, "proposition": row, "dimension": dimension, "now": timezone.now()}
    if not form.is_valid():
        problem = form.problem if not undo else "Reload the page, then take the decision back."
        return _answer(request, access, row, dimension, problem, 422)
    try:
        action = service.undo_decision if undo else service.adjudicate
        action(**place, **form.cleaned_data)
    except service.DecidedMeanwhile as error:
        return _answer(request, access, row, dimension, str(error), 409)
    except service.AdjudicationRefused as error:
        return _answer(request, access, row, dimension, str(error), 422)
    return _answer(request, access, row, dimension)


@require_POST
def file_case(request: HttpRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """File a cell for the guideline, or take it off that list."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_in_gold(access, proposition, dimension)
    form = CaseForm(request.POST)
    if not form.is_valid():
        return _answer(request, access, row, dimension, "Say whether to file the case or to remove it.", 422)
    try:
        service.file_case(by=request.user, proposition=row, dimension=dimension, filed=form.cleaned_data["filed"])
    except service.AdjudicationRefused as error:
        return _answer(request, access, row, dimension, str(error), 422)
    return _answer(request, access, row, dimension)


def _answer(request, access: ProjectAccess, row: Proposition, dimension: str, problem: str = "", status: int = 200):
    """Answer htmx with the cell as a fragment; without htmx, go back to the story with the sentence on top."""
    slug, story = access.project.slug, row.table.story
    back = (
        f"{reverse('annotation:adjudicate', args=[slug, story.uid])}?cell={row.uid}-{dimension}#{row.uid}-{dimension}"
    )
    if not request.htmx:
        if problem:
            messages.error(request, problem)
        return redirect(back)
    if story.pk in unfinished(access):
        return HttpResponse(status=204, headers={"HX-Redirect": back})
    cell = CellReader(access, [row]).cell(row, access.project.schema[dimension])
    cell.wanted = True
    # What was typed survives an answer that did not take it in.
    stays = problem or "filed" in request.POST
    typed = {name: request.POST.get(name, "")[:2000] for name in ("reason", "error_tag")} if stays else None
    context = {"cell": cell, "problem": problem, "typed": typed, "tags": list(enumerate(ErrorTag.choices, 1))}
    return render(request, "annotation/adjudication/_cell.html", access.context | context, status=status)
