"""Models across suites, and one model across them: pictures first, then the tables behind them; as they are now, and as
they were when saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.access import ProjectAccess
from benchmark.access import across_for, results_access
from benchmark.addresses import model_in
from benchmark.domain.tables import Column
from benchmark.models import Snapshot
from benchmark.services.across import AcrossModel, Place, SuiteRanking, model_without_place, models_across
from benchmark.services.across_tables import ALL, OF_MODEL, PAIRS, pictures_across, tables_across
from benchmark.services.documents import Document
from benchmark.suites.registry import group_named
from benchmark.views.downloads import plot_response, table_response
from benchmark.views.tables import (
    Address,
    Href,
    address_of,
    files_of,
    items_url,
    no_link,
    page_table,
    plot_of,
    snapshot_items_url,
)
from core.views.pages import Context

Items = Callable[..., str]
"""(run, filters) → the address of items."""


def across(request: HttpRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    rankings = across_for(access)
    page = reverse("benchmark:across", args=[slug])
    if lacking := model_without_place(access.project, request.GET.get("model", ""), rankings):
        context = {"model": lacking, "page": page}
        return render(request, "benchmark/results/across.html", access.context | context)
    model = model_in(request.GET, rankings)

    def items(run: str, **query: Any) -> str:
        return items_url(slug, run, **query)

    leaderboards = [_with_address(slug, ranking) for ranking in rankings]
    hrefs = [leaderboard["href"] for leaderboard in leaderboards]
    context = _context(
        rankings,
        model,
        page,
        _of_model(address_of("across", slug), model),
        items,
        hrefs,
    )
    return render(request, "benchmark/results/across.html", access.context | context | {"rankings": leaderboards})


def snapshot_across(
    request: HttpRequest, access: ProjectAccess, report: Snapshot, document: Document, address: Address
) -> HttpResponse:
    """Show the page as it was when it was saved; its cells open the items of that time."""
    slug, rankings = access.project.slug, document.rankings
    model = model_in(request.GET, rankings)

    def items(run: str, **query: Any) -> str:
        return snapshot_items_url(slug, report.uid, **query | {"split": ""})  # no others were kept

    page = reverse("benchmark:snapshot", args=[slug, report.uid])
    context = _context(rankings, model, page, _of_model(address, model), items, [""] * len(rankings))
    context |= {"report": report, "document": document, "address": request.build_absolute_uri(page)}
    context["rankings"] = [{"ranking": ranking, "href": ""} for ranking in rankings]
    return render(request, "benchmark/results/across.html", access.context | context)


def across_table(request: HttpRequest, slug: str, table: str, data: str) -> HttpResponse:
    rankings = across_for(results_access(request.user, slug))
    model = model_in(request.GET, rankings)
    name = f"{slug}-across-{model.key}" if model else f"{slug}-{table}"
    return table_response(tables_across(rankings, model), table, data, name)


def across_plot(request: HttpRequest, slug: str, plot: str, picture: str) -> HttpResponse:
    rankings = across_for(results_access(request.user, slug))
    model = model_in(request.GET, rankings)
    name = f"{slug}-across-{model.key}" if model else f"{slug}-{plot}"
    return plot_response(request, pictures_across(rankings, model), plot, picture, name)


def across_url(slug: str, key: str) -> str:
    """The page of one model across suites."""
    return f"{reverse('benchmark:across', args=[slug])}?{urlencode({'model': key})}"


def _context(
    rankings: Sequence[SuiteRanking],
    model: AcrossModel | None,
    page: str,
    address: Address,
    items: Items,
    leaderboards: Sequence[str],
) -> Context:
    """Return what the template shows; `page` is the address of all models, `boards` those of the leaderboards, empty
    for none."""
    context: Context = {"models": models_across(rankings), "model": model, "page": page}
    if not any(ranking.places or ranking.withheld for ranking in rankings):
        return context
    hrefs = {
        ALL: _from_model(page, rankings, items),
        OF_MODEL: _from_suite(rankings, model, items, leaderboards),
        PAIRS: no_link,
    }
    context["tables"] = {
        name: page_table(name, make(), href=hrefs[name], files=files_of("table", name, address))
        for name, make in tables_across(rankings, model).items()
    }
    [(name, picture)] = pictures_across(rankings, model).items()
    return context | {"plot": plot_of(name, picture.title, address, alone=True)}


def _of_model(address: Address, model: AcrossModel | None) -> Address:
    query = f"?{urlencode({'model': model.key})}" if model else ""
    return lambda kind, name, suffix: address(kind, name, suffix) + query


def _with_address(slug: str, ranking: SuiteRanking) -> Context:
    query = urlencode({name: value for name, value in ranking.query.items() if value})
    return {"ranking": ranking, "href": f"{reverse('benchmark:leaderboard', args=[slug])}?{query}#{ranking.group}"}


def _from_model(page: str, rankings: Sequence[SuiteRanking], items: Items) -> Href:
    """Link a model's name to its own page, its figures to the items behind them."""

    def href(row: Mapping[str, Any], column: Column) -> str:
        key = row.get("key", "")
        if column.key == "model" and key:
            return f"{page}?{urlencode({'model': key})}"
        at = column.key.removeprefix("s")
        place = rankings[int(at)].places.get(key) if at.isdecimal() else None
        return _behind(items, rankings[int(at)], place) if place else ""

    return href


def _from_suite(
    rankings: Sequence[SuiteRanking], model: AcrossModel | None, items: Items, leaderboards: Sequence[str]
) -> Href:
    """Link a suite to its leaderboard, its figure to the items behind it."""

    def href(row: Mapping[str, Any], column: Column) -> str:
        ranking = rankings[row["at"]]
        place = ranking.places[model.key] if model else None
        if column.key == "suite":
            return leaderboards[row["at"]]
        return _behind(items, ranking, place) if place and column.key == "value" else ""

    return href


def _behind(items: Items, ranking: SuiteRanking, place: Place) -> str:
    step = group_named(ranking.group).scored
    return items(place.run, model=place.entrant, step=step, split=ranking.split)
