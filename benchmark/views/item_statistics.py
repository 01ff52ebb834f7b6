"""Which stories or questions tell the models of a leaderboard apart."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation.access import ProjectAccess
from benchmark.access import closed_to, results_access
from benchmark.addresses import ChosenLeaderboard, chosen_leaderboard
from benchmark.services.downloads import TABLE_TYPES, table_file
from benchmark.services.item_statistics import ItemReport, item_table, items_of, metrics_of
from benchmark.suites.registry import group_named, suite_named
from benchmark.suites.story_scores import PARSES
from benchmark.views.files import files_of
from benchmark.views.tables import page_table
from core.language import gettext_noop
from core.views.charts import PERCENT, DotChart, Row, dot_chart
from core.views.contexts import Context

DRAWN, LISTED = 20, 50


@require_GET
def items_apart(request: HttpRequest, slug: str) -> HttpResponse:
    """The picture of what tells models apart most, and every story or question."""
    access = results_access(request.user, slug)
    chosen = chosen_leaderboard(request.GET.dict(), access)
    if chosen is None:
        return redirect("benchmark:leaderboard", slug)
    stages = [stage for stage, entrants in chosen.leaderboard.entrants.items() if entrants]
    asked = request.GET.get("stage", "")
    stage = asked if asked in stages else next(iter(stages), "")
    context: Context = {
        **chosen.context,
        "noun": suite_named(chosen.suite).noun,
        "withheld": chosen.leaderboard.withheld,
        "stage": stage,
        "stages": [(one, group_named(one).title) for one in stages],
    }
    if stage:
        context |= _shown(request, access, chosen, stage)
    return render(request, "benchmark/results/items_apart.html", access.context | context)


def _shown(request: HttpRequest, access: ProjectAccess, chosen: ChosenLeaderboard, stage: str) -> Context:
    parse, metric = _asked(request, stage)
    report = _report(access, chosen, stage, parse, metric)
    filters = {"stage": stage, "reading": parse, "metric": metric}
    query, noun = f"{chosen.query}&{urlencode(filters)}", suite_named(chosen.suite).noun[0]
    page = Paginator(report.rows, LISTED).get_page(request.GET.get("page"))
    table = item_table(ItemReport(tuple(page), report.models), stage, metric, noun)
    pair = {"a": report.best, "b": report.worst, "stage": stage, "reading": parse}

    def beside(number: int) -> str:
        return f"{reverse('benchmark:compare_story', args=[access.project.slug, number])}?{urlencode(pair)}"

    def address(kind: str, name: str, suffix: str) -> str:
        return f"{reverse('benchmark:items_file', args=[access.project.slug, name, suffix])}?{query}"

    return {
        "report": report,
        "apart": sum(row.apart for row in report.rows),
        "chart": _chart(report, noun, beside) if report.rows else None,
        "metric": metric,
        "metrics": metrics_of(stage).items(),
        "parse": parse,
        "parses": [*reversed(PARSES)],
        "page": page,
        "query": query,
        "table": page_table(
            "items",
            table,
            href=lambda row, column: beside(row["number"]) if column.key == "number" else "",
            files=files_of("table", stage, address),
        ),
    }


def _asked(request: HttpRequest, stage: str) -> tuple[str, str]:
    parse = request.GET.get("reading", "")
    metric = request.GET.get("metric", "")
    return parse if parse in PARSES else "repaired", metric if metric in metrics_of(stage) else next(
        iter(metrics_of(stage))
    )


def _report(access: ProjectAccess, chosen: ChosenLeaderboard, stage: str, parse: str, metric: str) -> ItemReport:
    """Return the items without those that wait for the reader's own work."""
    leaderboard = chosen.leaderboard
    stories = leaderboard.chosen.stories if leaderboard.chosen else frozenset()
    closed = closed_to(access, chosen.dataset.suite, chosen.dataset)
    return items_of(leaderboard.entrants[stage], stage, parse, metric, frozenset(stories) - closed)


def _chart(report: ItemReport, noun: str, beside: Any) -> DotChart:
    rows = [
        Row(
            label=f"{_(noun).capitalize()} {row.number}",
            first={"value": row.discrimination, "interval": list(row.discrimination_interval), "n": row.scored},
            second={"value": row.difficulty, "interval": list(row.difficulty_interval), "n": row.scored},
            href=beside(row.number),
            n=row.category,
        )
        for row in report.rows[:DRAWN]
    ]
    heads = gettext_noop("Discrimination"), gettext_noop("Difficulty")
    unit = gettext_noop("Share (%), lines are 95 % intervals")
    return dot_chart(gettext_noop("What tells models apart most"), rows, notation=PERCENT, heads=heads, unit=unit)


@require_GET
def items_file(request: HttpRequest, slug: str, table: str, data: str) -> HttpResponse:
    """Every story or question of the metric group `table`."""
    access = results_access(request.user, slug)
    chosen = chosen_leaderboard(request.GET.dict(), access)
    stages = [stage for stage, entrants in chosen.leaderboard.entrants.items() if entrants] if chosen else []
    if chosen is None or table not in stages or data not in TABLE_TYPES:
        raise Http404(gettext_noop(f"There is no table {table!r}; there are {', '.join(stages)}."))
    parse, metric = _asked(request, table)
    report = _report(access, chosen, table, parse, metric)
    content = table_file(item_table(report, table, metric, suite_named(chosen.suite).noun[0]), data, f"items-{table}")
    response = HttpResponse(content, content_type=f"{TABLE_TYPES[data]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-items-{table}-{parse}.{data}"'
    return response
