"""All pairs of a leaderboard's models: which differ, by how much, over all stories and in each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.access import ProjectAccess
from benchmark.access import results_access
from benchmark.addresses import ChosenLeaderboard, chosen_leaderboard
from benchmark.domain.tables import Table
from benchmark.models import AnswerFormat
from benchmark.services.calibration import calibration
from benchmark.services.comparison_tables import NamedPair, categories_among, corrected_pair_table, pair_table, pairs_of
from benchmark.services.documents import leaderboard_document
from benchmark.services.downloads import TABLE_TYPES, table_file
from benchmark.services.plot_data import plots_of
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, suite_named
from benchmark.views.tables import Href, address_of, files_of, ordered, page_table, plot_of
from core.messages import Sentence, listed
from core.views.pages import Context

ROWS_A_PAGE = 50
EVERY = "every"


def differences(request: HttpRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    chosen = chosen_leaderboard(request.GET, access)
    if chosen is None:
        return redirect("benchmark:leaderboard", slug)
    groups = {group: entrants for group, entrants in chosen.leaderboard.entrants.items() if entrants}
    parses = [
        parse for parse in reversed(PARSES) if parse == "repaired" or chosen.answer_format != AnswerFormat.STRUCTURED
    ]
    group = request.GET.get("group") if request.GET.get("group") in groups else next(iter(groups), "")
    parse = request.GET.get("parse") if request.GET.get("parse") in parses else parses[0]
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


def _pairs(request: HttpRequest, access: ProjectAccess, chosen: ChosenLeaderboard, group: str, parse: str) -> Context:
    """Return the filters, one page of the table and the files of all of it."""
    entrants = chosen.leaderboard.entrants[group]
    rows, method = _open_pairs(chosen, group, parse)
    categories = categories_among(rows, group)
    over, text = request.GET.get("over", ""), request.GET.get("model", "").strip()
    over = over if over in (EVERY, *categories) else ""
    matching = [row for row in rows if over in (EVERY, row.category) and _fits((row.first, row.second), text)]
    table = pair_table(matching, group, parse, method, entrants)
    sort = request.GET.get("sort", "")
    sort = sort if sort.removeprefix("-") in {column.key for column in table.columns} else ""
    page = Paginator(ordered(table, sort).rows, ROWS_A_PAGE).get_page(request.GET.get("page"))
    filters = {"group": group, "parse": parse, "over": over, "model": text}
    query = f"{chosen.query}&{urlencode({name: value for name, value in filters.items() if value})}"
    shown_table = page_table(
        "differences",
        _naming_absent(replace(table, rows=list(page)), chosen, group),
        href=_compare(access, group, parse, chosen),
        sortable=True,
        query=query,
    ) | {"sort": sort}
    address = address_of("differences", access.project.slug, query=f"{chosen.query}&parse={parse}")
    return {
        "categories": categories,
        "over": over,
        "text": text,
        "corrected": _corrected(access, chosen, group, parse, text),
        "count": sum(row.p is not None for row in rows),
        "table": shown_table,
        "page": page,
        "query": query + (f"&{urlencode({'sort': sort})}" if sort else ""),
        "leaderboard_query": chosen.query,
        "plot": _matrix(access.project.slug, chosen, group, parse, shown_table["lead"]),
        "files": files_of("table", group, address),
    }


CORRECTED = "corrected-"
"""Prefix of the name of the file of corrected differences."""


def _corrected(access: ProjectAccess, chosen: ChosenLeaderboard, group: str, parse: str, text: str) -> Context | None:
    """Return the biggest corrected differences as the page shows them, with the files of all; None without any."""
    table = _corrected_table(chosen, group)
    if table is None:
        return None
    rows = [row for row in table.rows if _fits((row["first"], row["second"]), text)][:ROWS_A_PAGE]
    address = address_of("differences", access.project.slug, query=chosen.query)
    files = files_of("table", f"{CORRECTED}{group}", address)
    return page_table("corrected", replace(table, rows=rows), href=_compare(access, group, parse, chosen), files=files)


def _corrected_table(chosen: ChosenLeaderboard, group: str) -> Table | None:
    """Return the corrected differences of all pairs that have one and that the reader may know; None without any."""
    leaderboard = chosen.leaderboard
    rows = leaderboard.entrants.get(group, ())
    entrants = [entrant for entrant in rows if entrant.corrected and entrant.corrected.scores]
    stories = leaderboard.chosen.stories if leaderboard.chosen else None
    pairs = calibration.differences(entrants, leaderboard.runs, group, stories) if entrants else []
    return corrected_pair_table(pairs, group, entrants) if pairs else None


def _open_pairs(chosen: ChosenLeaderboard, group: str, parse: str) -> tuple[list[NamedPair], str]:
    """Return `pairs_of` the leaderboard, over all stories alone where some of them wait for the reader's work."""
    leaderboard = chosen.leaderboard
    rows, method = pairs_of(leaderboard.entrants[group], group, leaderboard.chosen, parse)
    return ([row for row in rows if not row.category] if leaderboard.withheld else rows), method


def _matrix(slug: str, chosen: ChosenLeaderboard, group: str, parse: str, lead: Sequence[str]) -> Context | None:
    """The picture of all pairs, with what is to be read before it; None of fewer models than it is drawn for, and where
    it waits for the reader's work."""
    name, leaderboard = f"pairs-{group}-{parse}", chosen.leaderboard
    document = leaderboard_document(
        "Leaderboard", leaderboard.entrants, leaderboard.absent, withheld=leaderboard.withheld
    )
    picture = plots_of(document).get(name)
    if picture is None:
        return None
    return plot_of(name, picture.title, address_of("leaderboard", slug, query=chosen.query), lead=lead, alone=True)


def _naming_absent(table: Table, chosen: ChosenLeaderboard, group: str) -> Table:
    """Return the table with the models that the ranking does not have."""
    return replace(
        table, absent=[absence.absent_model for absence in chosen.leaderboard.absent if absence.group == group]
    )


def _fits(models: Sequence[str], text: str) -> bool:
    return any(text.casefold() in model.casefold() for model in models)


def _compare(access: ProjectAccess, group: str, parse: str, chosen: ChosenLeaderboard) -> Href:
    """Return links of differences: each opens the two models story by story, and from there again all pairs of their
    ranking."""
    page = reverse("benchmark:compare", args=[access.project.slug])
    split, ranking = chosen.leaderboard.chosen.key, chosen.asked | ({"runs": "all"} if chosen.every else {})

    def href(row, column) -> str:
        if column.key != "value" or row["value"].value is None:
            return ""
        params = {"a": row["first_key"], "b": row["second_key"], "group": group, "parse": parse, **ranking}
        return f"{page}?{urlencode(params | ({'split': split} if split else {}))}"

    return href


def differences_table(request: HttpRequest, slug: str, table: str, data: str) -> HttpResponse:
    """All pairs of the metric group `table` in the parse that the address asks for, over all stories and in each
    category."""
    access = results_access(request.user, slug)
    chosen = chosen_leaderboard(request.GET, access)
    groups = chosen.leaderboard.entrants if chosen else {}
    corrected = _corrected_table(chosen, table.removeprefix(CORRECTED)) if chosen and CORRECTED in table else None
    if corrected and data in TABLE_TYPES:
        return _file(corrected, data, slug, table)
    if table not in groups or data not in TABLE_TYPES:
        raise Http404(
            Sentence("There is no table {table}; there are {groups}.", table=repr(table), groups=listed(groups))
        )
    parse = request.GET.get("parse") if request.GET.get("parse") in PARSES else "repaired"
    entrants = chosen.leaderboard.entrants[table]
    rows, method = _open_pairs(chosen, table, parse)
    full_table = _naming_absent(pair_table(rows, table, parse, method, entrants), chosen, table)
    return _file(full_table, data, slug, f"{table}-{parse}")


def _file(table: Table, suffix: str, slug: str, name: str) -> HttpResponse:
    content = table_file(table, suffix, f"differences-{name}")
    response = HttpResponse(content, content_type=f"{TABLE_TYPES[suffix]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-differences-{name}.{suffix}"'
    return response
