"""Models across suites, and one model across them: pictures first, then the tables behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.access import ProjectAccess
from benchmark.access import across_for, results_access
from benchmark.domain.tables import Column
from benchmark.services.across import AcrossModel, Place, SuiteRanking, models_across
from benchmark.services.across_tables import ALL, ONE, PAIRS, pictures_across, tables_across
from benchmark.suites.registry import group_named
from benchmark.views.downloads import table_response
from benchmark.views.figures import figure_response
from benchmark.views.sections import Address, files_of
from benchmark.views.tables import Href, items_url, no_link, table_context


def across(request: HttpRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    rankings, model = chosen_across(request, access)
    shown = [ranking for ranking in rankings if ranking.places or ranking.withheld]
    models = models_across(rankings)
    context = {"rankings": [_told(slug, ranking) for ranking in rankings], "models": models, "model": model}
    if shown:
        context |= {"tables": _tables(slug, rankings, model), "figure": _picture(slug, rankings, model)}
    return render(request, "benchmark/results/across.html", access.context | context)


def across_table(request: HttpRequest, slug: str, table: str, data: str) -> HttpResponse:
    rankings, model = chosen_across(request, results_access(request.user, slug))
    name = f"{slug}-across-{model.key}" if model else f"{slug}-{table}"
    return table_response(tables_across(rankings, model), table, data, name)


def across_figure(request: HttpRequest, slug: str, figure: str, picture: str) -> HttpResponse:
    rankings, model = chosen_across(request, results_access(request.user, slug))
    name = f"{slug}-across-{model.key}" if model else f"{slug}-{figure}"
    return figure_response(request, pictures_across(rankings, model), figure, picture, name)


def chosen_across(request: HttpRequest, access: ProjectAccess) -> tuple[Sequence[SuiteRanking], AcrossModel | None]:
    """Return the rankings that the reader may see, and the model that the address asks for. Raises Http404 where no ranking has it."""
    rankings, key = across_for(access), request.GET.get("model", "")
    model = next((model for model in models_across(rankings) if model.key == key), None)
    if key and model is None:
        raise Http404("No suite has a figure of this model.")
    return rankings, model


def _tables(slug: str, rankings: Sequence[SuiteRanking], model: AcrossModel | None) -> dict[str, Any]:
    """Return the tables as the template takes them, by name."""
    hrefs = {ALL: _from_model(slug, rankings), ONE: _from_suite(slug, rankings, model), PAIRS: no_link}
    address = _address(slug, model)
    return {
        name: table_context(name, make(), href=hrefs[name]) | {"files": files_of("table", name, address)}
        for name, make in tables_across(rankings, model).items()
    }


def _picture(slug: str, rankings: Sequence[SuiteRanking], model: AcrossModel | None) -> dict[str, Any]:
    [(name, picture)] = pictures_across(rankings, model).items()
    address = _address(slug, model)
    svg = address("figure", name, "svg")
    figure = {"name": name, "title": picture.title, "svg": svg, "alone": True, "join": "&" if "?" in svg else "?"}
    return figure | {"files": files_of("figure", name, address)}


def _address(slug: str, model: AcrossModel | None) -> Address:
    query = f"?{urlencode({'model': model.key})}" if model else ""
    return lambda kind, name, suffix: reverse(f"benchmark:across_{kind}", args=[slug, name, suffix]) + query


def _told(slug: str, ranking: SuiteRanking) -> dict[str, Any]:
    """Return what a ranking is of, with the address of its leaderboard."""
    query = urlencode({name: value for name, value in ranking.query.items() if value})
    return {"one": ranking, "href": f"{reverse('benchmark:leaderboard', args=[slug])}?{query}#{ranking.stage}"}


def _from_model(slug: str, rankings: Sequence[SuiteRanking]) -> Href:
    """Link a model's name to its own page, its figures to the items behind them."""

    def href(row: Mapping[str, Any], column: Column) -> str:
        key = row.get("key", "")
        if column.key == "model" and key:
            return f"{reverse('benchmark:across', args=[slug])}?{urlencode({'model': key})}"
        at = column.key.removeprefix("s")
        place = rankings[int(at)].places.get(key) if at.isdecimal() else None
        return _items(slug, rankings[int(at)], place) if place else ""

    return href


def _from_suite(slug: str, rankings: Sequence[SuiteRanking], model: AcrossModel | None) -> Href:
    """Link a suite to its leaderboard, its figure to the items behind it, its run to that."""

    def href(row: Mapping[str, Any], column: Column) -> str:
        ranking = rankings[row["at"]]
        place = ranking.places[model.key] if model else None
        if column.key == "suite":
            return str(_told(slug, ranking)["href"])
        return _items(slug, ranking, place) if place and column.key == "value" else ""

    return href


def _items(slug: str, ranking: SuiteRanking, place: Place) -> str:
    return items_url(slug, place.run, model=place.entrant, stage=group_named(ranking.stage).scored, split=ranking.split)
