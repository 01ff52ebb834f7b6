"""Answers of a run that flip under its controls, or between its repetitions, to read."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from benchmark.access import closed_in, run_access
from benchmark.services import flips as service
from benchmark.suites.registry import suite_named

FLIPS_A_PAGE = 25


@require_GET
def flips(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    run, ways = access.run, service.ways_of(access.run)
    entrants = list(run.entrants.select_related("run"))
    chosen = {"model": request.GET.get("model", ""), "against": request.GET.get("against", "")}
    entrant = next((one for one in entrants if str(one.pk) == chosen["model"]), next(iter(entrants), None))
    way = next((value for value, _ in ways if value == chosen["against"]), ways[0][0] if ways else "")
    found = service.flips_of(run, entrant, way, closed_in(access.project, run)) if entrant and way else []
    page = Paginator(found, FLIPS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "ways": ways,
        "way": way,
        "way_title": dict(ways).get(way, ""),
        "entrants": entrants,
        "entrant": entrant,
        "page": page,
        "rows": service.read(page.object_list),
        "query": f"model={entrant.pk}&against={way}" if entrant else "",
        "suite": suite_named(run.suite),
    }
    return render(request, "benchmark/items/flips.html", access.context | context)
