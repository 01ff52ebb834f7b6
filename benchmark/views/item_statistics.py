"""Page of the stories or questions, and the items within them, that tell the models of a leaderboard apart."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation.access import ProjectAccess, UserRequest
from benchmark.access import closed_to, results_access
from benchmark.addresses import ChosenLeaderboard, chosen_leaderboard
from benchmark.domain.tables import Table
from benchmark.services.item_statistics import (
    ItemReport,
    finer_metrics_of,
    item_table,
    item_texts,
    items_of,
    metrics_of,
)
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, suite_named
from benchmark.suites.showing.entrants import ranked_within
from benchmark.views.downloads import table_response
from benchmark.views.tables import files_of, page_table
from core.messages import Sentence, gettext_noop, listed
from core.views.charts import PERCENT, DotChart, Row, dot_chart
from core.views.pages import Context

DRAWN, LISTED = 20, 50
FINER = "finer"
"""The level of an address that asks for the items within samples."""


@require_GET
def items_apart(request: UserRequest, slug: str) -> HttpResponse:
    """The picture of what tells models apart most, and every story or question, or every item within them."""
    access = results_access(request.user, slug)
    chosen = chosen_leaderboard(request.GET.dict(), access)
    if chosen is None:
        return redirect("benchmark:leaderboard", slug)
    groups = [group for group, entrants in chosen.leaderboard.entrants.items() if entrants]
    asked = request.GET.get("group", "")
    group = asked if asked in groups else next(iter(groups), "")
    context: Context = {
        **chosen.context,
        "noun": suite_named(chosen.suite).noun,
        "withheld": chosen.leaderboard.withheld,
        "group": group,
        "groups": [(key, group_named(key).title) for key in groups],
    }
    if group:
        context |= _report_context(request, access, chosen, group)
    return render(request, "benchmark/results/items_apart.html", access.context | context)


class _Asked:
    """Part of a metric group that an address asks for: by which metric and parse, of samples or of the items within
    them."""

    def __init__(self, request: UserRequest, group: str) -> None:
        finer = finer_metrics_of(group) if request.GET.get("level") == FINER else {}
        metric, parse = request.GET.get("metric", ""), request.GET.get("parse", "")
        self.group, self.finer, self.metrics = group, bool(finer), finer or metrics_of(group)
        self.metric = metric if metric in self.metrics else next(iter(self.metrics))
        self.parse = parse if parse in PARSES and not finer else "repaired"

    @property
    def query(self) -> str:
        level = {"level": FINER} if self.finer else {}
        return urlencode({"group": self.group, "parse": self.parse, "metric": self.metric, **level})


def _report_context(request: UserRequest, access: ProjectAccess, chosen: ChosenLeaderboard, group: str) -> Context:
    asked = _Asked(request, group)
    report = _report(access, chosen, asked)
    query, noun = f"{chosen.query}&{asked.query}", suite_named(chosen.suite).noun[0]
    page = Paginator(report.rows, LISTED).get_page(request.GET.get("page"))
    table = _table(ItemReport(list(page), report.models), chosen, asked)
    pair = {"a": report.best, "b": report.worst, "group": group, "parse": asked.parse}

    def beside(number: int) -> str:
        return f"{reverse('benchmark:compare_story', args=[access.project.slug, number])}?{urlencode(pair)}"

    def address(kind: str, name: str, suffix: str) -> str:
        return f"{reverse('benchmark:items_file', args=[access.project.slug, name, suffix])}?{query}"

    finer = group_named(group).finer
    return {
        "report": report,
        "items": finer.noun if asked.finer and finer else suite_named(chosen.suite).noun,
        "levels": [("", suite_named(chosen.suite).noun[1]), (FINER, finer.noun[1])] if finer else [],
        "level": FINER if asked.finer else "",
        "within": ranked_within(chosen.leaderboard.entrants[group]),
        "apart": sum(row["apart"] for row in report.rows),
        "chart": _chart(report, noun, chosen, asked, beside) if report.rows else None,
        "metric": asked.metric,
        "metrics": asked.metrics.items(),
        "parse": asked.parse,
        "parses": [(parse, parse) for parse in reversed(PARSES)],
        "page": page,
        "query": query,
        "table": page_table(
            "items",
            table,
            href=lambda row, column: beside(row["number"]) if column.key == "number" else "",
            files=files_of("table", group, address),
        ),
    }


def _table(report: ItemReport, chosen: ChosenLeaderboard, asked: _Asked) -> Table:
    noun = suite_named(chosen.suite).noun[0]
    table = item_table(report, noun, dataset=chosen.dataset if asked.finer else None, group=asked.group)
    return replace(table, notes=[*table.notes, *ranked_within(chosen.leaderboard.entrants[asked.group])])


def _report(access: ProjectAccess, chosen: ChosenLeaderboard, asked: _Asked) -> ItemReport:
    """Return the items without those that wait for the reader's own work."""
    leaderboard = chosen.leaderboard
    stories = leaderboard.chosen.stories if leaderboard.chosen else frozenset()
    opened = frozenset(stories) - closed_to(access, chosen.dataset.suite, chosen.dataset)
    entrants = leaderboard.entrants[asked.group]
    finer_in = chosen.dataset if asked.finer else None
    return items_of(entrants, asked.group, asked.parse, asked.metric, opened, finer_in)


def _chart(
    report: ItemReport, noun: str, chosen: ChosenLeaderboard, asked: _Asked, beside: Callable[[int], str]
) -> DotChart:
    drawn = report.rows[:DRAWN]
    places = [(row["number"], row["place"]) for row in drawn]
    texts = item_texts(chosen.dataset, asked.group, places) if asked.finer else {}
    rows = []
    for place, row in zip(places, drawn, strict=True):
        number, text = place[0], texts.get(place)
        label = f"{number} {text[0]}: {text[1]}" if text else f"{_(noun).capitalize()} {number}"
        first, second = row["discrimination"], row["difficulty"]
        rows.append(Row(label=label, first=first, second=second, href=beside(number), n=row["category"]))
    heads = gettext_noop("Discrimination"), gettext_noop("Difficulty")
    unit = gettext_noop("Share (%), lines are 95 % intervals")
    return dot_chart(gettext_noop("What tells models apart most"), rows, notation=PERCENT, heads=heads, unit=unit)


@require_GET
def items_file(request: UserRequest, slug: str, table: str, data: str) -> HttpResponse:
    """Every story or question of the metric group `table`."""
    access = results_access(request.user, slug)
    chosen = chosen_leaderboard(request.GET.dict(), access)
    groups = [group for group, entrants in chosen.leaderboard.entrants.items() if entrants] if chosen else []
    if chosen is None or table not in groups:
        raise Http404(
            Sentence("There is no table {table}; there are {groups}.", table=repr(table), groups=listed(groups))
        )
    asked = _Asked(request, table)
    tables = {f"items-{table}": lambda: _table(_report(access, chosen, asked), chosen, asked)}
    return table_response(tables, f"items-{table}", data, f"{slug}-items-{table}-{asked.parse}")
