"""The evidence behind the figures of an annotator or expert: stories, and in each the labels that were given beside
gold."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from annotation.models import Role
from benchmark.access import RunAccess, check_open, closed_to, run_access
from benchmark.services import people as service
from benchmark.services.selections import selection_named
from benchmark.suites.registry import group_named, suite_named
from core.messages import gettext_noop

STORIES_A_PAGE = 50


@require_GET
def person(request: HttpRequest, slug: str, uid: str, person: str) -> HttpResponse:
    """The stories of a person's figures, those with the most other labels than gold first."""
    access, labeller = _person(request, slug, uid, person)
    category = request.GET.get("category", "")
    part = selection_named(access.run.dataset, request.GET.get("split", ""), access.run.suite)
    closed = closed_to(access.project)
    rows = [
        row
        for row in service.stories_of(access.run, labeller)
        if row.number not in closed and category in ("", row.category) and (part is None or row.number in part.stories)
    ]
    group = group_named(suite_named(access.run.suite).gold.people)
    rows.sort(key=lambda row: (_share(row.values[group.score]), row.number))
    page = Paginator(rows, STORIES_A_PAGE).get_page(request.GET.get("page"))
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "person": labeller,
        "heads": list(group.headers.values()),
        "rows": [(row, [row.values[name] for name in group.headers]) for row in page.object_list],
        "page": page,
        "query": query.urlencode(),
        "category": category,
        "part": part,
    }
    return render(request, "benchmark/people/person.html", access.context | context)


def _share(value: float | None) -> float:
    return 2.0 if value is None else value


@require_GET
def story(request: HttpRequest, slug: str, uid: str, person: str, number: int) -> HttpResponse:
    """The labels of one story, for experts and admins: annotators never see how one of them labelled. Raises
    PermissionDenied for those who have open work on it: gold stands beside them."""
    access, labeller = _person(request, slug, uid, person, role=Role.EXPERT)
    row = get_object_or_404(access.run.dataset.samples, number=number)
    schema = access.run.dataset.schema
    check_open(access.project, row.number)
    rows = service.cells_of(access.run, labeller, row)
    if not rows:
        raise Http404(gettext_noop("There is no label of this person."))
    context = {"person": labeller, "story": row, "rows": rows, "dimensions": schema.dimensions}
    return render(request, "benchmark/people/story.html", access.context | context)


def _person(
    request: HttpRequest, slug: str, uid: str, key: str, *, role: Role = Role.ANNOTATOR
) -> tuple[RunAccess, service.Person]:
    access = run_access(request.user, slug, uid, role=role)
    row = service.person_of(access.run, key)
    if row is None:
        raise Http404(gettext_noop("There is no such person in this run."))
    return access, row
