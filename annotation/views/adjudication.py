"""The experts' queue, the screen of one story, and open cells that are alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import ProjectAccess, project_access, story_of, unfinished
from annotation.domain.ordering import shuffled
from annotation.forms.adjudication import AlikeForm, BulkForm, KindForm, QueueFilter
from annotation.models import (
    Claim,
    ErrorTag,
    GoldLabel,
    Method,
    Project,
    Proposition,
    Role,
    Story,
    adjudication_queue,
)
from annotation.models.adjudication_queue import Kind, Place
from annotation.services import adjudication as service
from annotation.services import claims
from annotation.services.decisions import pace
from annotation.views.adjudication_cells import Cell, CellReader
from core.plain import Json
from core.views.pages import Context
from core.wording import counted

SIMILAR_A_PAGE = 20
KINDS = 100
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
    left, now = adjudication_queue.left(access.project), timezone.now()
    context: Context = {
        "form": form,
        "page": page,
        "groups": _groups(access, cells, page, now),
        "cells": sum(count for *_, count in stories),
        "left": [
            {"dimension": dimension, **left.get(dimension.key, {"todo": 0, "decided": 0})}
            for dimension in access.project.schema.dimensions
        ],
        "most": max((counts["todo"] for counts in left.values()), default=0) or 1,
        "todo": sum(counts["todo"] for counts in left.values()),
        "pace": pace(by=request.user, project=access.project, now=now),
        "decided": sum(counts["decided"] for counts in left.values()),
        "hidden": len(hidden),
        "query": form.query(),
        "pair": form.chosen["pair"].split("|", 1) if "pair" in form.chosen else None,
        "without_pair": form.query(pair=""),
    }
    return render(request, "annotation/adjudication/queue.html", access.context | context)


def _groups(access: ProjectAccess, cells, page: Page, now: datetime) -> list[Context]:
    """Return the stories of a page with the first of their cells, and who else has claimed them."""
    story_ids = [story for story, *_ in page]
    stories = Story.objects.select_related("category").defer("translations", "extra").in_bulk(story_ids)
    rows = list(
        cells.filter(proposition__table__story__in=story_ids)
        .select_related("proposition__table")
        .order_by("proposition__position", "id")
    )
    taken = Claim.objects.of_others(access.user, access.project, now).filter(story__in=story_ids)
    claimed = {claim.story_id: claim.expert.shown_name for claim in taken}
    by_story: dict[int, list[Context]] = {story: [] for story in story_ids}
    for cell in _queued(access, rows):
        by_story[cell["gold"].proposition.table.story_id].append(cell)
    return [
        {
            "story": stories[story],
            "cells": by_story[story][:CELLS_A_STORY],
            "count": count,
            "more": max(0, count - CELLS_A_STORY),
            "at": lowest,
            "claimed": claimed.get(story, ""),
        }
        for story, _, lowest, count in page
    ]


def _queued(access: ProjectAccess, labels: Sequence[GoldLabel]) -> Iterator[Context]:
    """Yield the cells of these gold labels as the queue shows them. Neither votes nor agreement, in percent, are shown
    of a cell on which the expert voted."""
    propositions = {gold.proposition_id for gold in labels}
    voted_by_user = adjudication_queue.voted_on(access.user, propositions)
    cast, schema = adjudication_queue.labels_cast(propositions), access.project.schema
    for gold in labels:
        key = gold.proposition_id, gold.dimension
        voted = key in voted_by_user
        votes = [] if voted else shuffled(cast[key], f"{gold.proposition.uid}:{gold.dimension}")
        percent = None if voted or gold.agreement is None else round(100 * gold.agreement)
        dimension = schema[gold.dimension]
        yield {"gold": gold, "dimension": dimension, "voted": voted, "votes": votes, "percent": percent}


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
        settled = service.accept_plurality(
            by=request.user, project=access.project, cells=cells, seen_until=seen_until, now=now
        )
        messages.success(
            request,
            gettext("Settled by their leading label: {settled}. Decided cells stay as they were.").format(
                settled=settled
            ),
        )
        return redirect(f"{reverse('annotation:adjudication', args=[slug])}?{form.query()}")
    preview = service.preview(by=request.user, cells=cells)
    counts = [(each, preview["by_dimension"][each.key]) for each in access.project.schema.dimensions]
    context = {
        "form": form,
        "preview": preview,
        "by_dimension": [(dimension, count) for dimension, count in counts if count],
        "seen_until": now.isoformat(),
        "reason": service.BULK_REASON,
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
    rows = []
    every: list[Cell] = []
    for proposition in propositions:
        cells = [reader.cell(proposition, dimension, requested=requested) for dimension in schema.dimensions]
        in_full = [cell for cell in cells if cell.in_full]
        rows.append({"proposition": proposition, "cells": cells, "shown_cells": in_full})
        every += cells
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
        "claim": claims.claim(by=request.user, project=access.project, stories=[row.pk], now=now).get(row.pk)
        if todo
        else None,
        "settings": settings_of(access, story=row.uid, stories=[row.uid], following=following),
    }
    return render(request, "annotation/adjudication/screen.html", access.context | context | pace_of(access, now))


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
    return {
        "left_in_all": sum(counts["todo"] for counts in left.values()),
        "pace": pace(by=access.user, project=access.project, now=now),
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
    for story, _, lowest, _ in _in_turn(access, form, request.GET):
        others = claims.claim(by=request.user, project=access.project, stories=[story], now=now)
        if not others and not _is_open(access, form, story):
            continue  # decided, and given back, since the queue was read
        if not others:
            uid = Story.objects.values_list("uid", flat=True).get(pk=story)
            where = urlencode({"at": lowest})
            return redirect(f"{reverse('annotation:adjudicate', args=[slug, uid])}?{form.query()}&{where}")
        claimed += 1
    nothing = (
        gettext("Nothing is free: other experts decide the {stories} that are left.").format(
            stories=counted(claimed, "story", "stories")
        )
        if claimed
        else gettext("Nothing else is left for you to decide here.")
    )
    messages.info(request, nothing)
    return redirect(f"{reverse('annotation:adjudication', args=[slug])}?{form.query()}")


def _in_turn(access: ProjectAccess, form: QueueFilter, query: QueryDict) -> list[adjudication_queue.Group]:
    """Return the stories with something for this expert to decide, those first that follow the place in `query`."""
    cells = adjudication_queue.cells(access.project, unfinished=unfinished(access), **form.chosen)
    stories = adjudication_queue.by_story(adjudication_queue.not_voted_on(cells, access.user), access.project)
    try:
        place = float(query.get("at", "")), int(query.get("after", ""))
    except ValueError:
        return stories
    others = [(group, (group[2], group[1])) for group in stories if group[1] != place[1]]
    return [group for group, at in others if at > place] + [group for group, at in others if at < place]


def _is_open(access: ProjectAccess, form: QueueFilter, story: int) -> bool:
    cells = adjudication_queue.cells(access.project, unfinished=unfinished(access), **form.chosen)
    own = adjudication_queue.not_voted_on(cells.filter(proposition__table__story_id=story), access.user)
    return own.exists()


def _open_to(access: ProjectAccess, now: datetime, **filters: str) -> QuerySet[GoldLabel]:
    return adjudication_queue.open_to(access.project, access.user, unfinished=unfinished(access), now=now, **filters)


@require_GET
def similar(request: HttpRequest, slug: str) -> HttpResponse:
    """The kinds of open cells, the most frequent first; of one kind its cells, one after another."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    form = KindForm(request.GET, project=access.project)
    if not form.is_valid():
        return _kinds(request, access)
    kind, now = form.kind, timezone.now()
    rows = _open_to(access, now, dimension=kind.dimension)
    places = adjudication_queue.places(rows, kind)
    page_places = _after(places, request.GET.get("after", ""))[:SIMILAR_A_PAGE]
    labels = _labels(page_places)
    stories = {gold.proposition.table.story_id: gold.proposition.table.story for gold in labels}
    others = claims.claim(by=request.user, project=access.project, stories=stories, now=now)
    free = [gold for gold in labels if gold.proposition.table.story_id not in others]
    if not free:
        messages.info(request, gettext("No cell of this kind is left for you."))
        return redirect("annotation:similar", slug)
    reader, schema = CellReader(access, [gold.proposition for gold in free]), access.project.schema
    cells = [
        {
            "proposition": gold.proposition,
            "story": gold.proposition.table.story,
            "cell": reader.cell(gold.proposition, schema[gold.dimension]),
        }
        for gold in free
    ]
    last = page_places[-1]
    way = f"{reverse('annotation:similar', args=[slug])}?{_query(kind)}&after={last[0]}.{last[1]}"
    own = [story for pk, story in stories.items() if pk not in others]
    context = {
        "kind": kind,
        "dimension": access.project.schema[kind.dimension],
        "kind_query": _query(kind),
        "alike": len(places),
        "rows": cells,
        "todo": len(cells),
        "stories": own,
        "tags": list(enumerate(ErrorTag.choices, 1)),
        "settings": settings_of(access, story="similar", stories=[story.uid for story in own], following=way),
    }
    return render(request, "annotation/adjudication/similar.html", access.context | context | pace_of(access, now))


def _kinds(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    now, schema = timezone.now(), access.project.schema
    rows = _open_to(access, now)
    counts = adjudication_queue.kinds(rows)
    listed = [
        {"kind": kind, "dimension": schema[kind.dimension], "count": count, "query": _query(kind)}
        for kind, count in counts.most_common(KINDS)
    ]
    context = {"kinds": listed, "more": len(counts) - len(listed), "cells": counts.total()}
    return render(request, "annotation/adjudication/kinds.html", access.context | context | pace_of(access, now))


def _query(kind: Kind) -> str:
    return urlencode({"dimension": kind.dimension, "votes": kind.votes})


def _after(places: list[Place], after: str) -> list[Place]:
    """Return the places that follow `after`, a story's number and a row's position with a dot between; from the first
    on where none does."""
    number, _, position = after.partition(".")
    if not (number.isdecimal() and position.isdecimal()):
        return places
    return [place for place in places if place[:2] > (int(number), int(position))] or places


def _labels(places: list[Place]) -> list[GoldLabel]:
    gold_by_id = GoldLabel.objects.select_related("proposition__table__story__category").in_bulk(
        [gold for *_, gold in places]
    )
    return [gold_by_id[gold] for *_, gold in places if gold in gold_by_id]


@require_http_methods(["GET", "POST"])
def alike(request: HttpRequest, slug: str) -> HttpResponse:
    """Show all cells of a kind and decide those that are left ticked by one label, all or none. A guideline case says
    kind, label and reason."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    chosen = _of_case(access, request.GET.get("case", "")) or request.GET.dict()
    form = AlikeForm(request.POST or None, initial=chosen, project=access.project)
    if request.method == "POST" and form.is_valid() and _decided(request, access, form):
        return redirect("annotation:similar", slug)
    kind_form = KindForm(request.POST or chosen, project=access.project)
    if not kind_form.is_valid():
        return redirect("annotation:similar", slug)
    kind, now = kind_form.kind, timezone.now()
    rows = _open_to(access, now, dimension=kind.dimension)
    places = adjudication_queue.places(rows, kind)
    context = {
        "kind": kind,
        "dimension": access.project.schema[kind.dimension],
        "kind_query": _query(kind),
        "form": form,
        "labels": _labels(places[: service.MOST_ALIKE]),
        "ticked": {cell.partition(":")[0] for cell in request.POST.getlist("cell")},
        "more": max(0, len(places) - service.MOST_ALIKE),
    }
    return render(request, "annotation/adjudication/alike.html", access.context | context)


def _of_case(access: ProjectAccess, case: str) -> dict[str, str] | None:
    """Return kind, label and reason of a decided cell, named by the proposition's uid and the dimension."""
    uid, _, dimension = case.partition("-")
    rows = adjudication_queue.of_project(access.project).filter(method=Method.ADJUDICATED)
    rows = rows.exclude(proposition__table__story__in=unfinished(access)).select_related("proposition__table__story")
    gold = rows.filter(proposition__uid=uid, dimension=dimension).first()
    if gold is None:
        return None
    kind = adjudication_queue.kind_of(gold.dimension, gold.votes)
    reason = (
        gettext("As in story {number}: {reason}").format(number=gold.proposition.table.story.number, reason=gold.reason)
        if gold.reason
        else ""
    )
    return {**kind._asdict(), "label": gold.label, "reason": reason, "error_tag": gold.error_tag}


def _decided(request: HttpRequest, access: ProjectAccess, form: AlikeForm) -> bool:
    """Decide the cells that the form names; where that is refused, say why."""
    cleaned = form.cleaned_data
    try:
        cells = {
            (pk, cleaned["dimension"]): cleaned["cells"][uid]
            for uid, pk in _ids(access.project, cleaned["cells"]).items()
        }
        decision = {"label": cleaned["label"], "reason": cleaned["reason"], "error_tag": cleaned["error_tag"]}
        service.decide_alike(by=request.user, project=access.project, cells=cells, now=timezone.now(), **decision)
    except service.AdjudicationRefused as error:
        form.add_error(None, str(error))
        return False
    count = len(cells)
    messages.success(
        request,
        ngettext(
            "{count} cell decided: {label}. Undo takes it back.",
            "{count} cells decided: {label}. Undo takes all of them back.",
            count,
        ).format(count=count, label=cleaned["label"]),
    )
    return True


def _ids(project: Project, uids: Iterable[str]) -> dict[str, int]:
    rows = adjudication_queue.of_project(project).filter(proposition__uid__in=list(uids))
    ids = dict(rows.values_list("proposition__uid", "proposition_id"))
    if set(uids) - set(ids):
        raise service.AdjudicationRefused(
            gettext("One of the propositions is no longer in its story's table; nothing was decided.")
        )
    return ids
