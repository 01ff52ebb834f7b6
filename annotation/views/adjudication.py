"""The experts' queue, the screen of one story, and the decisions made there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, project_access, story_of, unfinished
from annotation.domain.ordering import shuffled
from annotation.domain.schema import Dimension
from annotation.forms.adjudication import BulkForm, CaseForm, DecisionForm, QueueFilter, UndoForm
from annotation.forms.values import MAX_REASON
from annotation.models import Claim, ErrorTag, GoldLabel, Proposition, Role, Story, adjudication_queue
from annotation.models.adjudication_queue import StoryInQueue
from annotation.services import adjudication as service
from annotation.services import adjudication_bulk as bulk
from annotation.services import claims, last_decisions
from annotation.views.adjudication_cells import Cell, CellReader, proposition_in_gold
from annotation.views.adjudication_saving import cell_on_page
from core.plain import Json
from core.views.pages import Context
from core.wording import counted

STORIES_A_PAGE = 8
CELLS_A_STORY = 12


@dataclass(frozen=True, slots=True)
class _QueuedCell:
    """A cell of the queue. Of one on which the expert `voted`, neither the votes nor their agreement, in percent, are
    shown."""

    gold: GoldLabel
    dimension: Dimension
    voted: bool
    votes: Sequence[str]
    percent: int | None


@dataclass(frozen=True, slots=True)
class _QueuedStory:
    """A story of the queue with the first of its `count` cells, and who else has claimed it; `at` is its lowest
    agreement."""

    story: Story
    cells: Sequence[_QueuedCell]
    count: int
    at: float
    claimed: str

    @property
    def more(self) -> int:
        return max(0, self.count - CELLS_A_STORY)


@dataclass(frozen=True, slots=True)
class _LeftRow:
    """What is left of a dimension."""

    dimension: Dimension
    todo: int
    decided: int


@dataclass(frozen=True, slots=True)
class _ScreenRow:
    """A proposition of the screen with its cells, of which some stand in full."""

    proposition: Proposition
    cells: Sequence[Cell]

    @property
    def shown_cells(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.in_full]


@require_GET
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    form = QueueFilter(request.GET, project=access.project)
    hidden = unfinished(access)
    cells = adjudication_queue.cells(access.project, unfinished=hidden, **form.chosen)
    stories = adjudication_queue.by_story(cells, access.project)
    page = Paginator(stories, STORIES_A_PAGE).get_page(request.GET.get("page"))
    left, now = adjudication_queue.left(access.project), timezone.now()
    todo = sum(counts.todo for counts in left.values())
    context: Context = {
        "form": form,
        "page": page,
        "groups": _groups(access, cells, page, now),
        "cells": sum(group.cells for group in stories),
        "left": [
            _LeftRow(dimension, *left.get(dimension.key, adjudication_queue.Left()))
            for dimension in access.project.schema.dimensions
        ],
        "most": max((counts.todo for counts in left.values()), default=0) or 1,
        "todo": todo,
        "pace": last_decisions.pace(by=request.user, project=access.project, now=now),
        "decided": sum(counts.decided for counts in left.values()),
        "hidden": len(hidden),
        "query": form.query(),
        "pair": form.chosen["pair"].split("|", 1) if "pair" in form.chosen else None,
        "without_pair": form.query(pair=""),
    }
    return render(request, "annotation/adjudication/queue.html", access.context | context)


def _groups(access: ProjectAccess, cells, page: Page, now: datetime) -> list[_QueuedStory]:
    """List the stories of a page with their first cells, lowest agreement first within a proposition's order, and who
    decides there."""
    story_ids = [group.story for group in page]
    stories = Story.objects.select_related("category").defer("translations", "extra").in_bulk(story_ids)
    rows = list(
        cells.filter(proposition__table__story__in=story_ids)
        .select_related("proposition__table")
        .order_by("proposition__position", "id")
    )
    taken = Claim.objects.of_others(access.user, access.project, now).filter(story__in=story_ids)
    claimed = {claim.story_id: claim.expert.shown_name for claim in taken}
    by_story: dict[int, list[_QueuedCell]] = {story: [] for story in story_ids}
    for cell in _queued(access, rows):
        by_story[cell.gold.proposition.table.story_id].append(cell)
    return [
        _QueuedStory(
            story=stories[group.story],
            cells=by_story[group.story][:CELLS_A_STORY],
            count=group.cells,
            at=group.lowest,
            claimed=claimed.get(group.story, ""),
        )
        for group in page
    ]


def _queued(access: ProjectAccess, labels: Sequence[GoldLabel]) -> Iterator[_QueuedCell]:
    """Yield the cells of these gold labels as the queue shows them."""
    propositions = {gold.proposition_id for gold in labels}
    voted_by_user = adjudication_queue.voted_on(access.user, propositions)
    cast, schema = adjudication_queue.labels_cast(propositions), access.project.schema
    for gold in labels:
        key = gold.proposition_id, gold.dimension
        voted = key in voted_by_user
        votes = [] if voted else shuffled(cast[key], f"{gold.proposition.uid}:{gold.dimension}")
        percent = None if voted or gold.agreement is None else round(100 * gold.agreement)
        yield _QueuedCell(gold, schema[gold.dimension], voted, votes, percent)


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
        messages.success(
            request,
            gettext("Settled by their leading label: {settled}. Decided cells stay as they were.").format(
                settled=settled
            ),
        )
        return redirect(f"{reverse('annotation:adjudication', args=[slug])}?{form.query()}")
    preview = bulk.preview(by=request.user, cells=cells)
    schema = access.project.schema
    context = {
        "form": form,
        "preview": preview,
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
    """One story: cells to decide in full, settled ones in one line beside them. Claims it where something is to
    decide."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    if row.pk in unfinished(access):
        return render(request, "annotation/adjudication/unfinished.html", access.context | {"story": row})
    form = QueueFilter(request.GET, project=access.project)
    schema = access.project.schema
    propositions = list(Proposition.objects.gold_of(row))
    reader = CellReader(access, propositions)
    requested = request.GET.get("cell", "")
    rows = [
        _ScreenRow(
            proposition, [reader.cell(proposition, dimension, requested=requested) for dimension in schema.dimensions]
        )
        for proposition in propositions
    ]
    every = [cell for screen_row in rows for cell in screen_row.cells]
    todo, now = sum(cell.for_me for cell in every), timezone.now()
    following = _following(row, form, request, every)
    context = {
        "story": row,
        "stories": [row],
        "rows": rows,
        "todo": todo,
        "others": sum(cell.todo and cell.voted for cell in every),
        "waiting": sum(cell.state in {"waiting", "unlabelled"} for cell in every),
        "tags": list(enumerate(ErrorTag.choices, 1)),
        "query": form.query(),
        "claim": _claimed(access, row, now) if todo else None,
        "settings": settings_of(access, story=row.uid, stories=[row.uid], following=following),
    }
    return render(request, "annotation/adjudication/screen.html", access.context | context | pace_of(access, now))


def _claimed(access: ProjectAccess, story: Story, now: datetime) -> Claim | None:
    """Claim a story; return the claim of another expert who has it."""
    return claims.claim(by=access.user, project=access.project, stories=[story.pk], now=now).get(story.pk)


def _following(story: Story, form: QueueFilter, request: HttpRequest, every: list[Cell]) -> str:
    """Return the address of the next story's way. `at` is the lowest agreement with which this story was opened: it
    says where in the queue the expert is, also when all cells of the story are decided and it is no longer in it."""
    shares = [cell.gold.agreement for cell in every if cell.todo and cell.gold.agreement is not None]
    try:
        lowest = float(request.GET.get("at", ""))
    except ValueError:
        lowest = min(shares, default=0.0)
    way = reverse("annotation:next_open", args=[story.project.slug])
    return f"{way}?{form.query()}&{urlencode({'after': story.number, 'at': lowest})}"


def pace_of(access: ProjectAccess, now: datetime) -> Context:
    """The context of a page that tells how much is left and how fast it goes."""
    left = adjudication_queue.left(access.project)
    todo = sum(counts.todo for counts in left.values())
    return {
        "left_in_all": todo,
        "pace": last_decisions.pace(by=access.user, project=access.project, now=now),
    }


def settings_of(access: ProjectAccess, *, story: str, stories: list[str], following: str) -> Json:
    """Return the settings that the script of the pages needs: who decides, in which stories, addresses and the server's
    clock. `story` is the name under which a browser keeps unsent decisions of the page."""
    slug = access.project.slug
    guideline = reverse("annotation:guideline", args=[slug, "dimension"])
    place = [slug, "PROPOSITION", "dimension"]
    return {
        "annotator": access.user.pk,
        "story": story,
        "stories": stories,
        "now": timezone.now().isoformat(),
        "goesOn": access.project.decides_and_goes_on,
        "urls": {
            "save": f"{reverse('annotation:save_decisions', args=[slug])}?page={story}",
            "undo": reverse("annotation:undo_decisions", args=[slug]),
            "claims": reverse("annotation:keep_claims", args=[slug]),
            "cell": reverse("annotation:decide", args=place).replace("/dimension/", "/DIMENSION/"),
            "history": reverse("annotation:cell_history", args=place).replace("/dimension/", "/DIMENSION/"),
            "guideline": guideline.replace("/dimension/", "/DIMENSION/"),
            "next": following
            if following.startswith("/")
            else f"{reverse('annotation:next_open', args=[slug])}?{following}",
            "login": reverse("login"),
        },
    }


@require_GET
def next_open(request: HttpRequest, slug: str) -> HttpResponse:
    """Open the story that follows in the queue and that nobody else has claimed, and claim it; without one, the
    queue."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    form = QueueFilter(request.GET, project=access.project)
    now, claimed = timezone.now(), 0
    for group in _in_turn(access, form, request.GET):
        others = claims.claim(by=request.user, project=access.project, stories=[group.story], now=now)
        if not others and not _is_open(access, form, group.story):
            continue  # decided, and given back, since the queue was read
        if not others:
            uid = Story.objects.values_list("uid", flat=True).get(pk=group.story)
            where = urlencode({"at": group.lowest})
            return redirect(f"{reverse('annotation:adjudicate', args=[slug, uid])}?{form.query()}&{where}")
        claimed += 1
    messages.info(request, _nothing_left(claimed))
    return redirect(f"{reverse('annotation:adjudication', args=[slug])}?{form.query()}")


def _in_turn(access: ProjectAccess, form: QueueFilter, query: QueryDict) -> list[StoryInQueue]:
    """List the stories with something for this expert to decide, those first that follow the place in `query`."""
    cells = adjudication_queue.cells(access.project, unfinished=unfinished(access), **form.chosen)
    stories = adjudication_queue.by_story(adjudication_queue.not_voted_on(cells, access.user), access.project)
    try:
        place = float(query.get("at", "")), int(query.get("after", ""))
    except ValueError:
        return stories
    others = [group for group in stories if group.number != place[1]]
    return [group for group in others if group.place > place] + [group for group in others if group.place < place]


def _is_open(access: ProjectAccess, form: QueueFilter, story: int) -> bool:
    cells = adjudication_queue.cells(access.project, unfinished=unfinished(access), **form.chosen)
    own = adjudication_queue.not_voted_on(cells.filter(proposition__table__story_id=story), access.user)
    return own.exists()


def _nothing_left(claimed: int) -> str:
    if claimed:
        return gettext("Nothing is free: other experts decide the {stories} that are left.").format(
            stories=counted(claimed, "story", "stories")
        )
    return gettext("Nothing else is left for you to decide here.")


@require_http_methods(["GET", "POST"])
def decide(request: HttpRequest, slug: str, proposition: str, dimension: str) -> HttpResponse:
    """Take or take back a decision; answer with the cell as it then stands, as a GET does."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_in_gold(access, proposition, dimension)
    if request.method == "GET":
        return _answer(request, access, row, dimension)
    undo = "undo" in request.POST
    form = UndoForm(request.POST) if undo else DecisionForm(request.POST)
    place = {"by": request.user, "proposition": row, "dimension": dimension, "now": timezone.now()}
    if not form.is_valid():
        problem = form.problem if not undo else gettext("Reload the page, then take the decision back.")
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
        return _answer(request, access, row, dimension, gettext("Say whether to file the case or to remove it."), 422)
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
    # What was typed survives an answer that did not take it in.
    stays = problem or "filed" in request.POST
    typed = {name: request.POST.get(name, "")[:MAX_REASON] for name in ("reason", "error_tag")} if stays else None
    cell = cell_on_page(request, access, CellReader(access, [row]), row, dimension, problem=problem, typed=typed)
    return HttpResponse(cell, status=status)
