"""The experts' queue, the screen of one story, and open cells that are alike."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import ProjectAccess, UserRequest, project_access, story_of, unfinished
from annotation.domain.resolution import shuffled
from annotation.forms.adjudication import AlikeForm, BulkForm, KindForm, QueueFilter
from annotation.models import Claim, GoldLabel, Method, Proposition, Role, Story, adjudication_queue
from annotation.models.adjudication_queue import Place
from annotation.services import adjudication as service
from annotation.services import claims
from annotation.services.decisions import pace
from annotation.views.adjudication_cells import TAGS, cells_of
from core.plain import Json
from core.views.pages import Context
from core.wording import counted

SIMILAR_A_PAGE, KINDS, STORIES_A_PAGE, CELLS_A_STORY = 20, 100, 8, 12


@require_GET
def queue(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    form, hidden = QueueFilter(request.GET, project=access.project), unfinished(access)
    cells = adjudication_queue.cells(access.project, unfinished=hidden, **form.chosen)
    stories = adjudication_queue.by_story(cells, access.project)
    page = Paginator(stories, STORIES_A_PAGE).get_page(request.GET.get("page"))
    left = adjudication_queue.left(access.project)
    context: Context = {
        "form": form,
        "page": page,
        "groups": _groups(access, cells, list(page)),
        "cells": sum(count for *_, count in stories),
        "left": [
            {"dimension": dimension, **left.get(dimension.key, {"todo": 0, "decided": 0})}
            for dimension in access.project.schema.dimensions
        ],
        "most": max((counts["todo"] for counts in left.values()), default=0) or 1,
        "todo": sum(counts["todo"] for counts in left.values()),
        "pace": pace(by=request.user, project=access.project, now=timezone.now()),
        "decided": sum(counts["decided"] for counts in left.values()),
        "hidden": len(hidden),
        "query": form.query(),
        "pair": form.chosen["pair"].split("|", 1) if "pair" in form.chosen else None,
        "without_pair": form.query(pair=""),
    }
    return render(request, "annotation/adjudication/queue.html", access.context | context)


def _groups(
    access: ProjectAccess, cells: QuerySet[GoldLabel], page: Sequence[adjudication_queue.Group]
) -> list[Context]:
    """Return the stories of a page, with who else has claimed them, and the first of their cells: neither votes nor
    agreement of one on which the expert voted."""
    story_ids = [story for story, *_ in page]
    stories = Story.objects.select_related("category").defer("translations", "extra").in_bulk(story_ids)
    taken = Claim.objects.of_others(access.user, access.project, timezone.now()).filter(story__in=story_ids)
    claimed = {claim.story_id: claim.expert.shown_name for claim in taken}
    groups: dict[int, Context] = {
        story: {"story": stories[story], "count": count, "at": lowest, "claimed": claimed.get(story), "cells": []}
        for story, _, lowest, count in page
    }
    rows = cells.filter(proposition__table__story__in=story_ids).select_related("proposition__table")
    labels = list(rows.order_by("proposition__position", "id"))
    propositions, schema = {gold.proposition_id for gold in labels}, access.project.schema
    own, cast = adjudication_queue.voted_on(access.user, propositions), adjudication_queue.votes_on(propositions)
    for gold in labels:
        key = gold.proposition_id, gold.dimension
        votes = shuffled([label for _, label in cast[key]], f"{gold.proposition.uid}:{gold.dimension}")
        percent = None if gold.agreement is None else round(100 * gold.agreement)
        shown = {"voted": True} if key in own else {"votes": votes, "percent": percent}
        cell = {"gold": gold, "dimension": schema[gold.dimension], **shown}
        groups[gold.proposition.table.story_id]["cells"].append(cell)
    for group in groups.values():
        group["more"] = max(0, group["count"] - CELLS_A_STORY)
        group["cells"] = group["cells"][:CELLS_A_STORY]
    return list(groups.values())


@require_http_methods(["GET", "POST"])
def majorities(request: UserRequest, slug: str) -> HttpResponse:
    """Show what accepting the leading label would settle within a filter, and do it."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    form, confirmed, now = QueueFilter(request.GET, project=access.project), BulkForm(request.POST), timezone.now()
    filters = form.chosen | {"status": "open"}
    cells = adjudication_queue.cells(access.project, unfinished=unfinished(access), **filters)
    if confirmed.is_valid():
        settled = service.accept_plurality(
            by=request.user, project=access.project, cells=cells, now=now, **confirmed.cleaned_data
        )
        sentence = gettext("Settled by their leading label: {settled}. Decided cells stay as they were.")
        messages.success(request, sentence.format(settled=settled))
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
def screen(request: UserRequest, slug: str, story: str) -> HttpResponse:
    """One story: cells to decide in full, settled ones in one line beside them. Its script claims the story."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = story_of(access, story)
    if row.pk in unfinished(access):
        return render(request, "annotation/adjudication/unfinished.html", access.context | {"story": row})
    form, dimensions = QueueFilter(request.GET, project=access.project), access.project.schema.dimensions
    propositions = list(Proposition.objects.gold_of(row))
    places = [(proposition, dimension) for proposition in propositions for dimension in dimensions]
    cells = cells_of(access, places, requested=[request.GET.get("cell", "")])
    rows = []
    for at, proposition in enumerate(propositions):
        own = cells[at * len(dimensions) : (at + 1) * len(dimensions)]
        rows.append(
            {"proposition": proposition, "cells": own, "shown_cells": [cell for cell in own if cell["in_full"]]}
        )
    # `at` is the lowest agreement with which the story was opened: it says where in the queue the expert is, also when
    # all cells of the story are decided and it is no longer in it.
    shares = [cell["gold"].agreement for cell in cells if cell["todo"] and cell["gold"].agreement is not None]
    place = {"after": row.number, "at": request.GET.get("at") or min(shares, default=0.0)}
    following = f"{reverse('annotation:next_open', args=[slug])}?{form.query()}&{urlencode(place)}"
    todo = sum(cell["for_me"] for cell in cells)
    claim = claims.holder(story=row, by=request.user, now=timezone.now()) if todo else None
    context = {
        "story": row,
        "stories": [row],
        "rows": rows,
        "todo": todo,
        "others": sum(cell["todo"] and cell["voted"] for cell in cells),
        "waiting": sum(cell["state"] in {"waiting", "unlabelled"} for cell in cells),
        "query": form.query(),
        "claim": claim,
        "settings": settings_of(access, story=row.uid, stories=[] if claim else [row], following=following),
    }
    return render(request, "annotation/adjudication/screen.html", access.context | context | _left(access))


def _left(access: ProjectAccess) -> Context:
    """The context of a page that tells how much is left and how fast it goes."""
    left = adjudication_queue.left(access.project)
    return {
        "tags": TAGS,
        "left_in_all": sum(counts["todo"] for counts in left.values()),
        "pace": pace(by=access.user, project=access.project, now=timezone.now()),
    }


def settings_of(access: ProjectAccess, *, story: str, stories: Iterable[Story], following: str, **urls: str) -> Json:
    """Return the settings that the script of the pages needs: who decides, in which stories, addresses and the server's
    clock. `story` is the name under which a browser keeps unsent decisions of the page; `urls` replace addresses."""
    slug = access.project.slug

    def pattern(name: str, *place: str) -> str:
        return reverse(f"annotation:{name}", args=[slug, *place, "dimension"]).replace("/dimension/", "/DIMENSION/")

    addresses = {
        "save": f"{reverse('annotation:save_decisions', args=[slug])}?page={story}",
        "undo": reverse("annotation:undo_decisions", args=[slug]),
        "claims": reverse("annotation:keep_claims", args=[slug]),
        "cell": pattern("decide", "PROPOSITION"),
        "history": pattern("cell_history", "PROPOSITION"),
        "guideline": pattern("guideline"),
        "next": following,
        "login": reverse("login"),
    }
    return {
        "annotator": access.user.pk,
        "story": story,
        "stories": [each.uid for each in stories],
        "now": timezone.now().isoformat(),
        "goesOn": access.project.decides_and_goes_on,
        "urls": addresses | urls,
    }


@require_GET
def next_open(request: UserRequest, slug: str) -> HttpResponse:
    """Open the story that follows in the queue and that nobody else has claimed; without one, the queue."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    form = QueueFilter(request.GET, project=access.project)
    cells = adjudication_queue.cells(access.project, unfinished=unfinished(access), **form.chosen)
    stories = adjudication_queue.by_story(adjudication_queue.not_voted_on(cells, access.user), access.project)
    others = Claim.objects.of_others(access.user, access.project, timezone.now())
    taken = set(others.values_list("story_id", flat=True))
    free = _in_turn([group for group in stories if group[0] not in taken], request.GET)
    if free:
        uid = Story.objects.values_list("uid", flat=True).get(pk=free[0][0])
        where = urlencode({"at": free[0][2]})
        return redirect(f"{reverse('annotation:adjudicate', args=[slug, uid])}?{form.query()}&{where}")
    claimed = _in_turn(stories, request.GET)
    sentence = gettext("Nothing else is left for you to decide here.")
    if claimed:
        number = counted(len(claimed), "story", "stories")
        sentence = gettext("Nothing is free: other experts decide the {stories} that are left.").format(stories=number)
    messages.info(request, sentence)
    return redirect(f"{reverse('annotation:adjudication', args=[slug])}?{form.query()}")


def _in_turn(stories: list[adjudication_queue.Group], query: Mapping[str, str]) -> list[adjudication_queue.Group]:
    """Return the stories, those first that follow the place in `query`; the one at that place is left out."""
    try:
        place = float(query.get("at", "")), int(query.get("after", ""))
    except ValueError:
        return stories
    others = [(group, (group[2], group[1])) for group in stories if group[1] != place[1]]
    return [group for group, at in others if at > place] + [group for group, at in others if at < place]


@require_GET
def similar(request: UserRequest, slug: str) -> HttpResponse:
    """The kinds of open cells, the most frequent first; of one kind its cells, one after another."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    form, schema = KindForm(request.GET, project=access.project), access.project.schema
    if not form.is_valid():
        counts = adjudication_queue.kinds(_open_to(access))
        listed = [
            {"kind": kind, "dimension": schema[kind.dimension], "count": count, "query": urlencode(kind._asdict())}
            for kind, count in counts.most_common(KINDS)
        ]
        context: Context = {"kinds": listed, "more": len(counts) - len(listed), "cells": counts.total()}
        return render(request, "annotation/adjudication/kinds.html", access.context | context | _left(access))
    kind, query = form.kind, urlencode(form.kind._asdict())
    places = adjudication_queue.places(_open_to(access, dimension=kind.dimension), kind)
    labels = _labels(_after(places, request.GET.get("after", ""))[:SIMILAR_A_PAGE])
    if not labels:
        messages.info(request, gettext("No cell of this kind is left for you."))
        return redirect("annotation:similar", slug)
    dimension = schema[kind.dimension]
    cells = cells_of(access, [(gold.proposition, dimension) for gold in labels])
    stories = list(dict.fromkeys(gold.proposition.table.story for gold in labels))
    last = labels[-1].proposition
    way = f"{reverse('annotation:similar', args=[slug])}?{query}&after={last.table.story.number}.{last.position}"
    context = {
        "kind": kind,
        "dimension": dimension,
        "kind_query": query,
        "alike": len(places),
        "cells": cells,
        "todo": len(cells),
        "stories": stories,
        "settings": settings_of(access, story="similar", stories=stories, following=way),
    }
    return render(request, "annotation/adjudication/similar.html", access.context | context | _left(access))


def _open_to(access: ProjectAccess, **filters: str) -> QuerySet[GoldLabel]:
    hidden, now = unfinished(access), timezone.now()
    return adjudication_queue.open_to(access.project, access.user, unfinished=hidden, now=now, **filters)


def _after(places: list[Place], after: str) -> list[Place]:
    """Return the places that follow `after`, a story's number and a row's position with a dot between; from the first
    on where none does."""
    number, _, position = after.partition(".")
    if not (number.isdecimal() and position.isdecimal()):
        return places
    return [place for place in places if place[:2] > (int(number), int(position))] or places


def _labels(places: list[Place]) -> list[GoldLabel]:
    rows = GoldLabel.objects.select_related("proposition__table__story__category")
    gold_by_id = rows.in_bulk([gold for *_, gold in places])
    return [gold_by_id[gold] for *_, gold in places if gold in gold_by_id]


@require_http_methods(["GET", "POST"])
def alike(request: UserRequest, slug: str) -> HttpResponse:
    """Show all cells of a kind and decide those that are left ticked by one label, all or none. A guideline case says
    kind, label and reason."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    chosen = _of_case(access, request.GET.get("case", "")) or request.GET.dict()
    form = AlikeForm(request.POST or None, initial=chosen, project=access.project)
    if form.is_valid():
        try:
            count = _decide_alike(access, form.cleaned_data)
            sentence = ngettext(
                "{count} cell decided: {label}. Undo takes it back.",
                "{count} cells decided: {label}. Undo takes all of them back.",
                count,
            )
            messages.success(request, sentence.format(count=count, label=form.cleaned_data["label"]))
            return redirect("annotation:similar", slug)
        except service.AdjudicationRefused as error:
            form.add_error(None, str(error))
    kind_form = KindForm(request.POST or chosen, project=access.project)
    if not kind_form.is_valid():
        return redirect("annotation:similar", slug)
    kind = kind_form.kind
    places = adjudication_queue.places(_open_to(access, dimension=kind.dimension), kind)
    context = {
        "kind": kind,
        "dimension": access.project.schema[kind.dimension],
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
    kind, number = adjudication_queue.kind_of(gold.dimension, gold.votes), gold.proposition.table.story.number
    as_in = gettext("As in story {number}: {reason}").format(number=number, reason=gold.reason)
    reason = as_in if gold.reason else ""
    return {**kind._asdict(), "label": gold.label, "reason": reason, "error_tag": gold.error_tag}


def _decide_alike(access: ProjectAccess, decision: Mapping[str, Any]) -> int:
    """Decide the cells that the form names; returns how many. Raises AdjudicationRefused."""
    revisions, dimension = decision["cells"], decision["dimension"]
    rows = adjudication_queue.of_project(access.project).filter(proposition__uid__in=list(revisions))
    ids = dict(rows.values_list("proposition__uid", "proposition_id"))
    if set(revisions) - set(ids):
        sentence = gettext("One of the propositions is no longer in its story's table; nothing was decided.")
        raise service.AdjudicationRefused(sentence)
    fields = {name: decision[name] for name in ("label", "reason", "error_tag")}
    cells = {(pk, dimension): revisions[uid] for uid, pk in ids.items()}
    service.decide_alike(by=access.user, project=access.project, cells=cells, now=timezone.now(), **fields)
    return len(cells)
