"""The places of a run, and one of them down to its raw answer."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.domain.schema import SCHEMAS
from annotation.models import workload
from benchmark.access import RunAccess, run_access, run_item_of
from benchmark.forms.items import ItemFilter
from benchmark.models import RunItem, Stage
from benchmark.services import evidence
from benchmark.services import items as service
from benchmark.services.item_rows import asks_for_rows, rows_of_items

ITEMS_A_PAGE = 50
MEANT = {False: "Rows meant", True: "Right"}


@require_GET
def items(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    form = ItemFilter(request.GET, run=access.run)
    form.is_valid()
    chosen = form.cleaned_data  # what is right counts, beside what is not
    sort = request.GET.get("sort", "story")
    sort = sort if sort.removeprefix("-") in service.SORTS else "story"
    places = service.places_of(access.run, chosen, sort)
    meant = None
    if asks_for_rows(chosen) and chosen.get("model"):
        meant = rows_of_items(access.run, chosen)
        places = places.filter(pk__in=list(meant))
    page = Paginator(service.shown(places), ITEMS_A_PAGE).get_page(request.GET.get("page"))
    query = request.GET.copy()
    sorted_by = query.pop("sort", None)
    query.pop("page", None)
    filters = query.urlencode()
    context = {
        "form": form,
        "page": page,
        "rows": [
            {"place": one, "state": service.state_of(one), "meant": (meant or {}).get(one.pk)}
            for one in page.object_list
        ],
        "by_rows": meant is not None,
        "meant": MEANT[bool(chosen.get("dimension") and not chosen.get("gold") and not chosen.get("said"))],
        "sort": sort,
        "filters": filters,
        "query": f"{filters}&sort={sort}".strip("&") if sorted_by else filters,
        "filtered": any(chosen.values()),
    }
    return render(request, "benchmark/items/items.html", access.context | context)


def _place(request: HttpRequest, slug: str, uid: str, pk: int) -> tuple[RunAccess, RunItem]:
    """Raises PermissionDenied for those who still label the story: gold stands beside the answer."""
    access = run_access(request.user, slug, uid)
    place = run_item_of(access, pk)
    cells = len(SCHEMAS[access.run.dataset.schema_version].dimensions)
    if place.story.story_id and not workload.has_finished(request.user, place.story.story, cells):
        raise PermissionDenied("You still label this story yourself; finish it first.")
    return access, place


@require_GET
def item(request: HttpRequest, slug: str, uid: str, pk: int) -> HttpResponse:
    access, place = _place(request, slug, uid, pk)
    call = place.call or (place.item.call if place.item else None)
    context = {
        "place": place,
        "state": service.state_of(place),
        "call": call,
        "asked": evidence.asked_of(call),
        "answer": evidence.shortened(call.answer) if call and call.answer else None,
        "shown": evidence.readings_shown(place),
        "stage": Stage(place.stage),
        **service.neighbours(place),
        "others": service.others_of(place),
    }
    return render(request, "benchmark/items/item.html", access.context | context)


@require_GET
def answer(request: HttpRequest, slug: str, uid: str, pk: int) -> HttpResponse:
    """The raw answer as a file: never anything that a browser would run."""
    _, place = _place(request, slug, uid, pk)
    if place.call is None:
        raise Http404("There is no answer yet.")
    response = HttpResponse(place.call.answer, content_type="text/plain; charset=utf-8")
    name = f"story-{place.story.number}-{place.stage}-{place.pk}.txt"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
