"""Page of the stories or questions, and the items within them, that tell the models of a leaderboard apart."""

from collections.abc import Callable, Sequence
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
from benchmark.domain.tables import Cells, Table
from benchmark.services.item_statistics import finer_metrics_of, item_table, item_texts, items_of, metrics_of
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
        context |= _report_context(request, _Asked(request, access, chosen, group), slug)
    return render(request, "benchmark/results/items_apart.html", access.context | context)


class _Asked:
    """Items that an address asks for, without those that wait for the reader's own work: of a metric group, by which
    metric and parse, and whether the samples or the items within them."""

    def __init__(self, request: UserRequest, access: ProjectAccess, chosen: ChosenLeaderboard, group: str) -> None:
        finer = finer_metrics_of(group) if request.GET.get("level") == FINER else {}
        metric, parse = request.GET.get("metric", ""), request.GET.get("parse", "")
        self.chosen, self.group, self.metrics = chosen, group, finer or metrics_of(group)
        self.finer_in = chosen.dataset if finer else None
        self.metric = metric if metric in self.metrics else next(iter(self.metrics))
        self.parse = parse if parse in PARSES and not finer else "repaired"
        level = {"level": FINER} if finer else {}
        self.query = urlencode({"group": group, "parse": self.parse, "metric": self.metric, **level})
        selection, self.entrants = chosen.leaderboard.chosen, chosen.leaderboard.entrants[group]
        opened = frozenset(selection.stories if selection else ()) - closed_to(
            access, chosen.dataset.suite, chosen.dataset
        )
        self.report = items_of(self.entrants, group, self.parse, self.metric, opened, self.finer_in)

    def table(self, rows: Sequence[Cells]) -> Table:
        table = item_table(rows, suite_named(self.chosen.suite).noun[0], self.group, self.finer_in)
        return replace(table, notes=[*table.notes, *ranked_within(self.entrants)])


def _report_context(request: UserRequest, asked: _Asked, slug: str) -> Context:
    report, suite, finer = asked.report, suite_named(asked.chosen.suite), group_named(asked.group).finer
    query = f"{asked.chosen.query}&{asked.query}"
    page = Paginator(report.rows, LISTED).get_page(request.GET.get("page"))
    pair = {"a": report.best, "b": report.worst, "group": asked.group, "parse": asked.parse}

    def beside(number: int) -> str:
        return f"{reverse('benchmark:compare_story', args=[slug, number])}?{urlencode(pair)}"

    def address(kind: str, name: str, suffix: str) -> str:
        return f"{reverse('benchmark:items_file', args=[slug, name, suffix])}?{query}"

    return {
        "report": report,
        "items": finer.noun if asked.finer_in and finer else suite.noun,
        "levels": [("", suite.noun[1]), (FINER, finer.noun[1])] if finer else [],
        "level": FINER if asked.finer_in else "",
        "within": ranked_within(asked.entrants),
        "apart": sum(row["apart"] for row in report.rows),
        "chart": _chart(asked, suite.noun[0], beside) if report.rows else None,
        "metric": asked.metric,
        "metrics": asked.metrics.items(),
        "parse": asked.parse,
        "parses": [(parse, parse) for parse in reversed(PARSES)],
        "page": page,
        "query": query,
        "table": page_table(
            "items",
            asked.table(list(page)),
            href=lambda row, column: beside(row["number"]) if column.key == "number" else "",
            files=files_of("table", asked.group, address),
        ),
    }


def _chart(asked: _Asked, noun: str, beside: Callable[[int], str]) -> DotChart:
    drawn = asked.report.rows[:DRAWN]
    places = [(row["number"], row["place"]) for row in drawn]
    texts = item_texts(asked.finer_in, asked.group, places) if asked.finer_in else {}
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
    asked = _Asked(request, access, chosen, table)
    tables = {f"items-{table}": lambda: asked.table(asked.report.rows)}
    return table_response(tables, f"items-{table}", data, f"{slug}-items-{table}-{asked.parse}")
