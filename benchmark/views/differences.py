"""All pairs of a leaderboard's models: which differ, by how much, over all stories and in each category."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.access import ProjectAccess, UserRequest
from benchmark.access import results_access
from benchmark.addresses import ChosenLeaderboard, chosen_leaderboard
from benchmark.domain.tables import Column, Row, Table, in_order
from benchmark.models import AnswerFormat
from benchmark.services.comparison_tables import corrected_pair_table, pair_table
from benchmark.services.documents import leaderboard_document
from benchmark.services.plot_data import plots_of
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, suite_named
from benchmark.suites.showing.entrants import short_names_of
from benchmark.views.downloads import table_response
from benchmark.views.tables import Href, address_of, files_of, ordered, page_table, plot_of
from core.views.pages import Context

ROWS_A_PAGE = 50
EVERY = "every"
CORRECTED = "corrected-"
"""Prefix of the name of the file of corrected differences."""


def differences(request: UserRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    chosen = chosen_leaderboard(request.GET, access)
    if chosen is None:
        return redirect("benchmark:leaderboard", slug)
    groups = {group: entrants for group, entrants in chosen.leaderboard.entrants.items() if entrants}
    structured = chosen.answer_format == AnswerFormat.STRUCTURED
    parses = [parse for parse in reversed(PARSES) if parse == "repaired" or not structured]
    group = request.GET["group"] if request.GET.get("group") in groups else next(iter(groups), "")
    parse = request.GET["parse"] if request.GET.get("parse") in parses else parses[0]
    context = {
        **chosen.context,
        "groups": [(group, group_named(group).title) for group in groups],
        "withheld": chosen.leaderboard.withheld,
        "parses": parses,
        "group": group,
        "parse": parse,
        "noun": suite_named(chosen.suite).noun,
        **(_pairs(request, access, chosen, group, parse) if group else {}),
    }
    return render(request, "benchmark/results/differences.html", access.context | context)


def _pairs(request: UserRequest, access: ProjectAccess, chosen: ChosenLeaderboard, group: str, parse: str) -> Context:
    """Return the filters, one page of the table, and the files and the picture of all of it."""
    slug, leaderboard, whole = access.project.slug, chosen.leaderboard, pair_table(chosen.leaderboard, group, parse)
    categories = in_order((row["category"] for row in whole.rows if row["category"]), short_names_of(group))
    over, text = request.GET.get("over", ""), request.GET.get("model", "").strip()
    over = over if over in (EVERY, *categories) else ""

    def fits(row: Row) -> bool:
        return any(text.casefold() in row[side].casefold() for side in ("first", "second"))

    sort = request.GET.get("sort", "")
    sort = sort if sort.removeprefix("-") in {column.key for column in whole.columns} else ""
    rows = [row for row in whole.rows if over in (EVERY, row["category"]) and fits(row)]
    page = Paginator(ordered(replace(whole, rows=rows), sort).rows, ROWS_A_PAGE).get_page(request.GET.get("page"))
    filters = {"group": group, "parse": parse, "over": over, "model": text}
    query = f"{chosen.query}&{urlencode({name: value for name, value in filters.items() if value})}"
    table = partial(page_table, href=_compare(access, group, parse, chosen))
    shown = table("differences", replace(whole, rows=list(page)), sortable=True, query=query) | {"sort": sort}
    address = address_of("differences", slug, query=f"{chosen.query}&parse={parse}")
    corrected = corrected_pair_table(leaderboard, group)
    if corrected:
        largest = replace(corrected, rows=[row for row in corrected.rows if fits(row)][:ROWS_A_PAGE])
        files = files_of("table", f"{CORRECTED}{group}", address_of("differences", slug, query=chosen.query))
    document = leaderboard_document("", leaderboard.entrants, leaderboard.absent, withheld=leaderboard.withheld)
    name = f"pairs-{group}-{parse}"
    picture, of_leaderboard = plots_of(document).get(name), address_of("leaderboard", slug, query=chosen.query)
    return {
        "categories": categories,
        "over": over,
        "text": text,
        "corrected": table("corrected", largest, files=files) if corrected else None,
        "count": sum(row["p"] is not None for row in whole.rows),
        "table": shown,
        "page": page,
        "query": query + (f"&{urlencode({'sort': sort})}" if sort else ""),
        "leaderboard_query": chosen.query,
        "plot": picture and plot_of(name, picture.title, of_leaderboard, lead=shown["lead"], alone=True),
        "files": files_of("table", group, address),
    }


def _compare(access: ProjectAccess, group: str, parse: str, chosen: ChosenLeaderboard) -> Href:
    """Return links of differences: each opens the two models story by story, and from there again all pairs of their
    ranking."""
    page = reverse("benchmark:compare", args=[access.project.slug])
    assert chosen.leaderboard.chosen, "a leaderboard with entrants is over stories"
    split, ranking = chosen.leaderboard.chosen.key, {**chosen.asked, **({"runs": "all"} if chosen.every else {})}

    def href(row: Row, column: Column) -> str:
        if column.key != "value" or row["value"].value is None:
            return ""
        params = {"a": row["first_key"], "b": row["second_key"], "group": group, "parse": parse, **ranking}
        return f"{page}?{urlencode(params | ({'split': split} if split else {}))}"

    return href


def differences_table(request: UserRequest, slug: str, table: str, data: str) -> HttpResponse:
    """Return the file of all pairs of the metric group `table` in the parse that the address asks for, over all stories
    and in each category, or by their corrected scores."""
    access = results_access(request.user, slug)
    chosen = chosen_leaderboard(request.GET, access)
    leaderboard = chosen.leaderboard if chosen else None
    parse = request.GET["parse"] if request.GET.get("parse") in PARSES else "repaired"
    tables: dict[str, Callable[[], Table]] = {}
    name = f"differences-{table}"
    if leaderboard and table in leaderboard.entrants:
        tables[f"{name}-{parse}"] = partial(pair_table, leaderboard, table, parse)
        name = f"{name}-{parse}"
    elif leaderboard and table.startswith(CORRECTED):
        corrected = corrected_pair_table(leaderboard, table.removeprefix(CORRECTED))
        tables |= {name: lambda: corrected} if corrected else {}
    return table_response(tables, name, data, f"{slug}-{name}")
