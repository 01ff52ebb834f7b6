"""Two models' answers to one story, side by side."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from benchmark.access import check_open, closed_in, results_access
from benchmark.services import side_by_side as service
from benchmark.services.comparisons import NotComparable, pair_of
from benchmark.suites.registry import group_named, suite_named
from core.messages import gettext_noop

ASKED = ("a", "b", "group", "parse", "split")
"""Names in the address of a comparison that this one keeps."""


@require_GET
def compare_story(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show the prompt once, both answers, and both parses of each beside gold; `step` in the address is another step
    than the one that is scored."""
    access = results_access(request.user, slug)
    asked = {name: value for name in ASKED if (value := request.GET.get(name, ""))}
    try:
        runs, entrants = pair_of(access.project, asked.get("a", ""), asked.get("b", ""))
    except NotComparable as error:
        return render(request, "benchmark/results/compare.html", access.context | {"problem": str(error)})
    group = asked.get("group", "")
    group = group if group in entrants else next(iter(entrants))
    check_open(access, number, runs[0])
    pair, suite, closed = entrants[group], suite_named(runs[0].suite), closed_in(access, runs[0])
    steps = service.steps_of(pair, number)
    if not steps:
        raise Http404(gettext_noop("Neither of the two has an answer about this here."))
    step = service.step_on_page(request.GET.get("step", ""), steps, group_named(group).scored)
    query, only = urlencode(asked), request.GET.get("only", "") == "differences"
    context = {
        "number": number,
        "names": [entrant.model for entrant in pair],
        "noun": suite.noun,
        "category": next(item for item in steps[step] if item).sample.category,
        "score": suite.step(step).score or "score",
        "steps": service.tabs(steps, suite.steps, step),
        "only": only,
        "step": step,
        "query": query,
        "comparison_href": f"{reverse('benchmark:compare', args=[slug])}?{query}#stories",
        "questions": (questions := service.set_beside(pair, steps[step], group_named(group), closed)),
        "counting": sum(row.counts and row.differs for row in questions),
        "set_title": group_named(group).score_title,
        "around": service.numbers_around(pair, number, closed),
        "beside": service.side_by_side(steps[step], closed, only=only),
    }
    return render(request, "benchmark/results/compare_story.html", access.context | context)
