"""Models across suites, and one model across them: pictures first, then the tables behind them; as they are now, and as
they were when saved."""

from collections.abc import Callable, Sequence
from functools import partial
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.access import ProjectAccess, UserRequest
from benchmark.access import across_for, results_access
from benchmark.addresses import model_in
from benchmark.domain.tables import Column, Row
from benchmark.models import Snapshot
from benchmark.services.across import SuiteRanking, models_across, name_without_place, tables_across
from benchmark.services.documents import Document
from benchmark.services.plot_data import pictures_across
from benchmark.suites.registry import group_named
from benchmark.views.tables import (
    Address,
    Href,
    address_of,
    files_of,
    filtered,
    items_url,
    page_table,
    plot_of,
    snapshot_items_url,
)
from core.views.pages import Context

Items = Callable[..., str]
"""(run, filters) → the address of items."""


def across(request: UserRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    rankings = across_for(access)
    page = reverse("benchmark:across", args=[slug])
    context = {"page": page, "model": name_without_place(access.project, request.GET.get("model", ""), rankings)}
    if not context["model"]:
        leaderboard = reverse("benchmark:leaderboard", args=[slug])
        hrefs = [f"{filtered(leaderboard, ranking.query)}#{ranking.group}" for ranking in rankings]
        model, address = model_in(request.GET, rankings), address_of("across", slug)
        context |= _context(rankings, model, page, address, partial(items_url, slug), hrefs)
    return render(request, "benchmark/results/across.html", access.context | context)


def snapshot_across(
    request: UserRequest, access: ProjectAccess, report: Snapshot, document: Document, address: Address
) -> HttpResponse:
    """Show the page as it was when it was saved; its cells open the items of that time."""
    slug, rankings = access.project.slug, document.rankings or ()
    page = reverse("benchmark:snapshot", args=[slug, report.uid])

    def items(run: str, **query: object) -> str:
        return snapshot_items_url(slug, report.uid, **query | {"split": ""})  # no others were kept

    context = _context(rankings, model_in(request.GET, rankings), page, address, items, [""] * len(rankings))
    context |= {"report": report, "document": document, "address": request.build_absolute_uri(page)}
    return render(request, "benchmark/results/across.html", access.context | context)


def _context(
    rankings: Sequence[SuiteRanking], model: str, page: str, address: Address, items: Items, leaderboards: Sequence[str]
) -> Context:
    """Return the context of the template, of all models or of one; `page` is the address of all models, `leaderboards`
    are those of the rankings, "" for none."""
    models = models_across(rankings)
    linked = [{"ranking": ranking, "href": href} for ranking, href in zip(rankings, leaderboards, strict=True)]
    context: Context = {"models": models, "model": models.get(model, ""), "page": page, "rankings": linked}
    if not any(ranking.places or ranking.withheld for ranking in rankings):
        return context
    query = f"?{urlencode({'model': model})}" if model else ""

    def of_model(kind: str, name: str, suffix: str) -> str:
        return address(kind, name, suffix) + query

    href = _links(rankings, model, page, items, leaderboards)
    tables = tables_across(rankings, model).items()
    context["tables"] = {
        name: page_table(name, make(), href=href, files=files_of("table", name, of_model)) for name, make in tables
    }
    [(name, picture)] = pictures_across(rankings, model).items()
    return context | {"plot": plot_of(name, picture.title, of_model, alone=True)}


def _links(rankings: Sequence[SuiteRanking], model: str, page: str, items: Items, leaderboards: Sequence[str]) -> Href:
    """Link a model's name to its own page, a suite to its leaderboard, and figures to the items behind them."""

    def href(row: Row, column: Column) -> str:
        if column.key == "suite":
            return leaderboards[row["at"]]
        if column.key == "model" and row.get("key"):
            return filtered(page, {"model": row["key"]})
        at = str(row["at"]) if column.key == "value" else column.key.removeprefix("s")
        if not at.isdecimal():
            return ""
        ranking = rankings[int(at)]
        step, split = group_named(ranking.group).scored, ranking.query.get("split", "")
        place = ranking.places.get(model or row.get("key", ""))
        return items(place.run, model=place.entrant, step=step, split=split) if place else ""

    return href
