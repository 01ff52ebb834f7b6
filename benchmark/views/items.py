"""The items of a run, or of a snapshot, one of them down to its raw answer, and answers that flip."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import UserRequest
from benchmark.access import closed_in, run_access, run_item_of, snapshot_access, snapshot_item_of
from benchmark.controls.chosen import CONTROLS
from benchmark.forms.items import ItemFilter
from benchmark.models import Entrant, Run, RunItem, SnapshotItem
from benchmark.models.run import RunItemQuerySet
from benchmark.services import item_detail
from benchmark.services import items as service
from benchmark.services.asking import reads_prompts
from benchmark.services.flips import counts_of, flips_of, read, ways_of
from benchmark.suites.registry import suite_named
from core.messages import gettext_noop
from core.views.pages import Context
from workers.models import Call

ITEMS_A_PAGE = 50
PAGES_OF_A_RUN = {"item_page": "benchmark:run_item", "answer_page": "benchmark:run_item_answer"}
PAGES_OF_A_SNAPSHOT = {"item_page": "benchmark:snapshot_item", "answer_page": "benchmark:snapshot_answer"}
"""Where an item and its answer are, of the `whole` that they are looked at in."""


@require_GET
def items(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    context = _items_context(request, access.run, closed_in(access.project, access.run))
    pages = PAGES_OF_A_RUN | {"whole": access.run.uid}
    return render(request, "benchmark/items/items.html", access.context | context | pages)


@require_GET
def snapshot_items(request: UserRequest, slug: str, report: str) -> HttpResponse:
    """The items of a snapshot as they were; of one about several runs, those of the run whose model is asked
    for."""
    access, snapshot = snapshot_access(request.user, slug, report)
    among = snapshot.items.all()
    entrants = Entrant.objects.filter(pk__in=among.order_by().values("entrant").distinct()).select_related(
        "run__dataset"
    )
    model = request.GET.get("model", "")
    entrant = next((candidate for candidate in entrants if str(candidate.pk) == model), next(iter(entrants), None))
    if entrant is None:
        raise Http404
    context = _items_context(
        request, entrant.run, closed_in(access, entrant.run), among, [candidate.pk for candidate in entrants]
    )
    pages = PAGES_OF_A_SNAPSHOT | {"whole": snapshot.uid, "report": snapshot, "run": entrant.run}
    return render(request, "benchmark/items/items.html", access.context | context | pages)


def _items_context(
    request: UserRequest,
    run: Run,
    closed: frozenset[int],
    among: RunItemQuerySet[Any] | None = None,
    entrants: list[int] | None = None,
) -> Context:
    """Return what the page of a run's items shows, as they are now or `among` those of a snapshot."""
    suite, form = suite_named(run.suite), ItemFilter(request.GET, run=run, entrants=entrants)
    form.is_valid()
    chosen = form.chosen  # what is right counts, beside what is not
    sort = request.GET.get("sort", "story")
    sort = sort if sort.removeprefix("-") in service.SORTS else "story"
    items = service.items_of(run, chosen, sort, closed, among)
    by_rows = service.asks_for_rows(suite.items.rows, chosen) and chosen.model is not None
    meant = service.rows_of_items(run, chosen, closed, among) if by_rows else {}
    items = items.filter(pk__in=list(meant)) if by_rows else items
    page = Paginator(service.with_row_fields(items), ITEMS_A_PAGE).get_page(request.GET.get("page"))
    query = request.GET.copy()
    sorted_by = query.pop("sort", None)
    query.pop("page", None)
    filters = query.urlencode()
    return {
        "form": form,
        "noun": suite.noun[0].capitalize(),
        "nouns": suite.noun[1],
        "note": suite.items.note,
        "page": page,
        "rows": [
            {"item": item, "state": service.state_of(item), "meant": meant.get(item.pk), "step": suite.step(item.step)}
            for item in page.object_list
        ],
        "by_rows": by_rows,
        "meant": service.heading_of_rows(suite.items.rows, chosen),
        "sort": sort,
        "filters": filters,
        "query": f"{filters}&sort={sort}".strip("&") if sorted_by else filters,
        "filtered": chosen != service.ChosenItems(),
        "withheld": len(closed & service.numbers_of(run)) if closed else 0,
    }


@require_GET
def item(request: UserRequest, slug: str, uid: str, pk: int) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    item = run_item_of(access, pk)
    closed = closed_in(access.project, access.run)
    context = _item_context(item, item.call or (item.item.call if item.item else None), closed)
    context["same_question"] = item_detail.items_beside(item)
    pages = PAGES_OF_A_RUN | {"whole": access.run.uid}
    return render(request, "benchmark/items/item.html", access.context | context | pages)


@require_GET
def snapshot_item(request: UserRequest, slug: str, report: str, pk: int) -> HttpResponse:
    """An item as it was when its snapshot was saved: its answer, and what that was read as then."""
    access, snapshot = snapshot_access(request.user, slug, report)
    item = snapshot_item_of(access, snapshot, pk)
    context = _item_context(item, item.call, closed_in(access, item.entrant.run))
    pages = PAGES_OF_A_SNAPSHOT | {"whole": snapshot.uid, "report": snapshot, "run": item.entrant.run}
    return render(request, "benchmark/items/item.html", access.context | context | pages)


def _item_context(item: RunItem | SnapshotItem, call: Call | None, closed: frozenset[int]) -> Context:
    suite = suite_named(item.entrant.run.suite)
    return {
        "item": item,
        "state": service.state_of(item),
        "call": call,
        "asked": item_detail.asked_of(call, item_detail.texts_of(item.entrant.run.dataset, closed)),
        "answer": item_detail.shortened(call.answer) if call and call.answer else None,
        "detail": item_detail.parses_on_page(item, closed),
        "story_questions": item_detail.questions_of_story(item, closed),
        "control": CONTROLS.get(item.entrant.run.control),
        "changes": item_detail.changes_on_page(item),
        "step": suite.step(item.step),
        "suite": suite,
        "noun": suite.noun[0].capitalize(),
        **service.neighbours(item, closed),
        "others": service.others_of(item),
    }


@require_GET
def answer(request: UserRequest, slug: str, uid: str, pk: int) -> HttpResponse:
    return _file(run_item_of(run_access(request.user, slug, uid), pk))


@require_GET
def snapshot_answer(request: UserRequest, slug: str, report: str, pk: int) -> HttpResponse:
    return _file(snapshot_item_of(*snapshot_access(request.user, slug, report), pk))


def _file(item: RunItem | SnapshotItem) -> HttpResponse:
    """The raw answer as a file: never anything that a browser would run."""
    if item.call is None:
        raise Http404(gettext_noop("There is no answer yet."))
    response = HttpResponse(item.call.answer, content_type="text/plain; charset=utf-8")
    noun = suite_named(item.entrant.run.suite).noun[0]
    name = f"{noun}-{item.sample.number}-{item.step}-{item.pk}.txt"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


FLIPS_A_PAGE = 25


@require_GET
def flips(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    run, ways = access.run, ways_of(access.run)
    asked = run.entrants.select_related("run", "endpoint")
    entrants = sorted(asked, key=lambda entrant: not reads_prompts(entrant.endpoint))  # baselines below, as elsewhere
    closed = closed_in(access.project, run)
    counts = counts_of(run, [value for value, _ in ways], closed)
    comparisons = [
        {
            "entrant": entrant,
            "way": value,
            "title": title,
            "counts": counts.get((entrant.endpoint_id, value)),
            "query": f"model={entrant.pk}&against={value}",
        }
        for entrant in entrants
        for value, title in ways
    ]
    comparison = _chosen_flips(comparisons, request.GET.get("model", ""), request.GET.get("against", ""))
    flipped = flips_of(comparison["entrant"], comparison["way"], closed) if comparison else []
    page = Paginator(flipped, FLIPS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "ways": ways,
        "comparison": comparison,
        "counts": [(entrant, [each for each in comparisons if each["entrant"] == entrant]) for entrant in entrants],
        "page": page,
        "rows": read(list(page)),
        "query": comparison["query"] if comparison else "",
        "suite": suite_named(run.suite),
    }
    return render(request, "benchmark/items/flips.html", access.context | context)


def _chosen_flips(comparisons: Sequence[Context], model: str, against: str) -> Context | None:
    """Return the first comparison of what was asked for with flips, else the first of it, else of all."""
    named = [
        comparison
        for comparison in comparisons
        if model in ("", str(comparison["entrant"].pk)) and against in ("", comparison["way"])
    ] or comparisons
    with_flips = (comparison for comparison in named if comparison["counts"] and comparison["counts"][0])
    return next(with_flips, next(iter(named), None))
