"""The leaderboard of a dataset version: pictures first, both parses side by side, who cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.access import ProjectAccess, project_access
from annotation.models import Membership, Role
from benchmark.access import sees_results
from benchmark.addresses import (
    CONDITIONS,
    KINDS,
    ChosenLeaderboard,
    chosen_leaderboard,
    entered_of,
    filters_of,
    kept,
    of_parse,
)
from benchmark.domain.drawn import drawn
from benchmark.domain.tables import OF, Column, Table
from benchmark.models import Run
from benchmark.services.absences import Absence
from benchmark.services.across import key_of
from benchmark.services.calibration import calibration
from benchmark.services.conditions import OtherRanking
from benchmark.services.entered_rows import with_entered
from benchmark.services.leaderboard_scope import Leaderboard, leaderboard_scopes
from benchmark.services.plot_data import leaderboard_rows
from benchmark.services.result_tables import group_table
from benchmark.services.selections import OF_RUN
from benchmark.services.visibility import visibility_of
from benchmark.suites.registry import group_named, suite_named, units_of_group
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.missing import unlike_missing
from benchmark.views.across import across_url
from benchmark.views.tables import Href, address_of, files_of, item_links, items_url, page_table
from core.messages import Sentence, facts, gettext_noop, listed
from core.views.charts import DotChart, Row, dot_chart
from core.views.pages import Context
from workers.models import UNENDED


def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug)
    if not sees_results(access):
        return _hidden(request, access)
    chosen = chosen_leaderboard(request.GET, access)
    if chosen is None:
        return render(request, "benchmark/results/leaderboard.html", access.context | {"datasets": []})
    leaderboard, filters = chosen.leaderboard, filters_of(request.GET)
    files_query = "&".join(filter(None, [chosen.query, urlencode({k: v for k, v in filters.items() if v})]))
    groups = [
        _group(request, access, group, kept(leaderboard.entrants[group], filters), chosen, files_query)
        for group in leaderboard.entrants
        if leaderboard.entrants[group] or leaderboard.rankings[group].others or _uncovered(request, group, leaderboard)
    ]
    context = {
        **chosen.context,
        **filters,
        "kinds": KINDS,
        "suite": suite_named(chosen.suite),
        "groups": groups,
        "elsewhere": [] if groups else leaderboard_scopes(access.project),
        "absent": named_together(absence for absence in leaderboard.absent if absence.failed),
        "unscored": list(
            {absence.why: absence.absent_model for absence in leaderboard.absent if absence.unscored}.values()
        ),
        "withheld": leaderboard.withheld,
        "entrants": _comparable(leaderboard),
        "files_query": files_query,
        "calibrations": calibration.links(leaderboard.runs, request.user) if access.at_least(Role.ADMIN) else [],
        "running": Run.objects.listed()
        .filter(dataset=chosen.dataset, suite=chosen.suite, answer_format=chosen.answer_format)
        .filter(job__state__in=UNENDED)
        .count(),
    }
    return render(request, "benchmark/results/leaderboard.html", access.context | context)


def named_together(absences: Iterable[Absence]) -> list[Context]:
    """Return models without an answer, the groups of a run that share a reason together."""
    by_reason: dict[tuple[str, str, str], list[Absence]] = {}
    for absence in absences:
        by_reason.setdefault((absence.run, absence.model, absence.problem), []).append(absence)
    return [
        {
            "absence": groups[0],
            "groups": " and ".join(group_named(absence.group).noun for absence in groups),
            "failed": sum(absence.failed for absence in groups),
        }
        for groups in by_reason.values()
    ]


def _hidden(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Show members who may not see results who can, and why."""
    admins = Membership.objects.filter(project=access.project, role=Role.ADMIN).select_related("user")
    names = [membership.user.shown_name for membership in admins[:5]]
    context = {"shown_to": visibility_of(access.project), "admins": names}
    return render(request, "benchmark/results/hidden.html", access.context | context)


def _group(
    request: HttpRequest,
    access: ProjectAccess,
    group: str,
    entrants: list[EntrantResults],
    chosen: ChosenLeaderboard,
    files_query: str,
) -> Context:
    """Return the ranking of one metric group: its table, its chart with files, the settings that all rows have in
    `common`, the number of rows without filters, and what is in other rankings or in none."""
    slug, leaderboard = access.project.slug, chosen.leaderboard
    table, sort = _table(request, group, entrants, chosen)
    return {
        "key": group,
        "title": table.title,
        "table": page_table(
            group,
            table,
            href=_href(slug, leaderboard.chosen.key, entrants),
            run_href=lambda uid: reverse("benchmark:run", args=[slug, uid]),
            sort=sort,
            sortable=True,
            query=urlencode([(name, value) for name, value in request.GET.items() if name != "sort" and value]),
        ),
        "chart": leaderboard_chart(slug, entrants, group, leaderboard.chosen.key),
        "picture_files": files_of("plot", f"leaderboard-{group}", address_of("leaderboard", slug, query=files_query)),
        "common": leaderboard.common[group],
        "all": len(leaderboard.entrants[group]),
        "others": [_other(request, other) for other in leaderboard.rankings[group].others],
        "uncovered": _uncovered(request, group, leaderboard),
    }


def _table(
    request: HttpRequest, group: str, entrants: list[EntrantResults], chosen: ChosenLeaderboard
) -> tuple[Table, str]:
    """Return the table with the rows of papers, in the parse that the address asks for, and by what it is sorted."""
    sort, filters = request.GET.get("sort", ""), filters_of(request.GET)
    make, parse = partial(group_table, entrants, group), filters["parse"]
    entered = entered_of(chosen, filters)
    table = of_parse(with_entered(make, group, entered, suite_named(chosen.suite)), parse)
    if sort.removeprefix("-") not in {column.key for column in table.columns}:
        sort = f"{parse or 'repaired'}_rank"
    return table, sort


def _href(slug: str, split: str, entrants: Iterable[EntrantResults]) -> Href:
    """Link figures to the items behind them, and the name of a model to its page across suites."""
    metrics = item_links(slug, split)
    models = {
        entrant.key: across_url(slug, key_of(entrant.name, entrant.spec))
        for entrant in entrants
        if entrant.kind == "model"
    }

    def href(row: Mapping[str, Any], column: Column) -> str:
        source = row.get(OF)
        return models.get(source.key, "") if source and column.key == "model" else metrics(row, column)

    return href


def _uncovered(request: HttpRequest, group: str, leaderboard: Leaderboard) -> list[Context]:
    """List models whose runs have a part of the chosen stories, each with the address of the ranking over its run's."""
    params = {name: value for name, value in request.GET.items() if name != "sort"}
    return [
        {"absence": absence, "query": urlencode(params | {"split": f"{OF_RUN}{absence.run}"})}
        for absence in leaderboard.absent
        if absence.group == group and absence.covered is not None
    ]


def _other(request: HttpRequest, other: OtherRanking) -> Context:
    """Return the rows that are in another ranking, and its address."""
    names = {field: other.within[field] for field in CONDITIONS if field in other.within}
    params = {name: value for name, value in request.GET.items() if name not in (*CONDITIONS, "sort")}
    models, conditions = listed(dict.fromkeys(other.models)), facts(*names.values())
    return {"rows": other.rows, "models": models, "conditions": conditions, "query": urlencode(params | names)}


def leaderboard_chart(
    slug: str, entrants: list[EntrantResults], group: str, split: str = "", limit: int = 40
) -> DotChart:
    """Draw both parses of the score with intervals, what is missing and letters, in the order of the ranking; a name
    opens the items behind it, unless `slug` is empty."""
    rows = [
        Row(
            label=entrant.model,
            first=drawn(row.repaired),
            second=drawn(row.official),
            third=drawn(row.corrected),
            bounds=row.bounds,
            out=row.left_out,
            aside=row.group or ("" if entrant.kind == "person" else "–"),
            href=items_url(slug, entrant.run, **_behind(entrant, group), split=split)
            if slug and entrant.entrant
            else "",
        )
        for entrant, row in zip(entrants[:limit], leaderboard_rows(entrants[:limit], group), strict=True)
    ]
    return dot_chart(
        group_named(group).score_title,
        rows,
        unit=Sentence(
            "{score_title} (%), lines are 95 % intervals over {group}",
            score_title=group_named(group).score_title,
            group=units_of_group(group),
        ),
        heads=(gettext_noop("Repaired"), gettext_noop("Official"), gettext_noop("Corrected")),
        noun="parse",
        aside=gettext_noop("Group"),
        lead=unlike_missing({group: entrants}, titled=False),
    )


def _behind(entrant: EntrantResults, group: str) -> dict[str, Any]:
    return {"model": entrant.entrant, "step": group_named(group).scored}


def _comparable(leaderboard: Leaderboard) -> list[dict[str, str]]:
    labels: dict[str, str] = {}
    for group in sorted(
        leaderboard.entrants, key=lambda group: -len(leaderboard.entrants[group])
    ):  # the first two have a group in common
        for entrant in leaderboard.entrants[group]:
            labels.setdefault(entrant.key, f"{entrant.model} · {entrant.run_title}")
    return [{"key": key, "label": label} for key, label in labels.items()]
