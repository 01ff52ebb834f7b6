"""Answers of a run that flip under its controls, or between its repetitions, to read."""

from collections.abc import Sequence

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import UserRequest
from benchmark.access import closed_in, run_access
from benchmark.services import flips as service
from benchmark.services.asking import reads_prompts
from benchmark.suites.registry import suite_named
from core.views.pages import Context

FLIPS_A_PAGE = 25


@require_GET
def flips(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    run, ways = access.run, service.ways_of(access.run)
    asked = run.entrants.select_related("run", "endpoint")
    entrants = sorted(asked, key=lambda entrant: not reads_prompts(entrant.endpoint))  # baselines below, as elsewhere
    closed = closed_in(access.project, run)
    counts = service.counts_of(run, [value for value, _ in ways], closed)
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
    comparison = _chosen(comparisons, request.GET.get("model", ""), request.GET.get("against", ""))
    flips = service.flips_of(run, comparison["entrant"], comparison["way"], closed) if comparison else []
    page = Paginator(flips, FLIPS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "ways": ways,
        "comparison": comparison,
        "counts": [(entrant, [each for each in comparisons if each["entrant"] == entrant]) for entrant in entrants],
        "page": page,
        "rows": service.read(list(page)),
        "query": comparison["query"] if comparison else "",
        "suite": suite_named(run.suite),
    }
    return render(request, "benchmark/items/flips.html", access.context | context)


def _chosen(comparisons: Sequence[Context], model: str, against: str) -> Context | None:
    """Return the first comparison of what was asked for with flips, else the first of it, else of all."""
    named = [
        comparison
        for comparison in comparisons
        if model in ("", str(comparison["entrant"].pk)) and against in ("", comparison["way"])
    ] or comparisons
    with_flips = (comparison for comparison in named if comparison["counts"] and comparison["counts"][0])
    return next(with_flips, next(iter(named), None))
