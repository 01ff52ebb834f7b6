"""The leaderboard of a dataset version: pictures first, both parses side by side, who cannot be told apart."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.access import ProjectAccess, UserRequest, project_access
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
from benchmark.domain.tables import OF, Column, Row
from benchmark.models import Run
from benchmark.services.absences import Absence
from benchmark.services.across import key_of
from benchmark.services.calibration import calibration
from benchmark.services.entered_rows import with_entered
from benchmark.services.leaderboard_scope import leaderboard_scopes
from benchmark.services.leaderboards import OF_RUN
from benchmark.services.result_tables import group_table, leaderboard_rows
from benchmark.services.visibility import visibility_of
from benchmark.suites.registry import group_named, suite_named, units_of_group
from benchmark.suites.results import EntrantResults, EntrantsByGroup
from benchmark.suites.showing.missing import unlike_missing
from benchmark.views.tables import address_of, files_of, filtered, item_links, items_url, page_table
from core.messages import Sentence, facts, gettext_noop, listed
from core.views import charts
from core.views.pages import Context
from workers.models import UNENDED


def leaderboard(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug)
    if not sees_results(access):
        admins = Membership.objects.filter(project=access.project, role=Role.ADMIN).select_related("user")
        names = [membership.user.shown_name for membership in admins[:5]]
        context = {"shown_to": visibility_of(access.project), "admins": names}
        return render(request, "benchmark/results/hidden.html", access.context | context)
    chosen = chosen_leaderboard(request.GET, access)
    if chosen is None:
        return render(request, "benchmark/results/leaderboard.html", access.context | {"datasets": []})
    leaderboard, filters = chosen.leaderboard, filters_of(request.GET)
    files_query = "&".join(filter(None, [chosen.query, urlencode({k: v for k, v in filters.items() if v})]))
    rankings = [_ranking(request, access, group, chosen, filters, files_query) for group in leaderboard.entrants]
    groups = [ranking for ranking in rankings if ranking["all"] or ranking["others"] or ranking["uncovered"]]
    unscored = {absence.why: absence.absent_model for absence in leaderboard.absent if absence.unscored}
    running = Run.objects.listed().filter(
        dataset=chosen.dataset, suite=chosen.suite, answer_format=chosen.answer_format, job__state__in=UNENDED
    )
    context = {
        **chosen.context,
        **filters,
        "kinds": KINDS,
        "suite": suite_named(chosen.suite),
        "groups": groups,
        "elsewhere": [] if groups else leaderboard_scopes(access.project),
        "absent": named_together(absence for absence in leaderboard.absent if absence.failed),
        "unscored": list(unscored.values()),
        "withheld": leaderboard.withheld,
        "entrants": comparable(leaderboard.entrants, with_runs=True),
        "files_query": files_query,
        "calibrations": calibration.links(leaderboard.runs, request.user) if access.at_least(Role.ADMIN) else [],
        "running": running.count(),
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


def comparable(entrants: EntrantsByGroup, *, with_runs: bool = False) -> list[Context]:
    """Return the choices of a comparison, those of the largest metric group first, as the first two have it in
    common."""
    labels: dict[str, str] = {}
    for of_group in sorted(entrants.values(), key=len, reverse=True):
        for entrant in of_group:
            labels.setdefault(entrant.key, f"{entrant.model} · {entrant.run_title}" if with_runs else entrant.model)
    return [{"key": key, "label": label} for key, label in labels.items()]


def _ranking(
    request: UserRequest,
    access: ProjectAccess,
    group: str,
    chosen: ChosenLeaderboard,
    filters: Mapping[str, str],
    files_query: str,
) -> Context:
    """Return the ranking of one metric group: its table, its chart with files, the settings that all rows have in
    `common`, the number of rows without filters, and the models of other rankings or of a part of the stories."""
    slug, leaderboard, entrants = access.project.slug, chosen.leaderboard, chosen.leaderboard.entrants[group]
    split, shown = leaderboard.chosen.key if leaderboard.chosen else "", kept(entrants, filters)
    table = with_entered(group_table(shown, group), group, entered_of(chosen, filters), suite_named(chosen.suite))
    table, sort = of_parse(table, filters["parse"]), request.GET.get("sort", "")
    if sort.removeprefix("-") not in {column.key for column in table.columns}:
        sort = f"{filters['parse'] or 'repaired'}_rank"
    links, across = item_links(slug, split), reverse("benchmark:across", args=[slug])
    pages = {
        entrant.key: filtered(across, {"model": key_of(entrant.name, entrant.spec)})
        for entrant in shown
        if entrant.kind == "model"
    }

    def href(row: Row, column: Column) -> str:
        return pages.get(row[OF].key, "") if column.key == "model" and OF in row else links(row, column)

    params = {name: value for name, value in request.GET.items() if name != "sort"}
    unconditional = {name: value for name, value in params.items() if name not in CONDITIONS}
    others = []
    for other in leaderboard.rankings[group].others:
        within = {field: other.within[field] for field in CONDITIONS if field in other.within}
        models, query = listed(dict.fromkeys(other.models)), urlencode(unconditional | within)
        others.append({"rows": other.rows, "models": models, "conditions": facts(*within.values()), "query": query})
    return {
        "key": group,
        "title": table.title,
        "table": page_table(
            group,
            table,
            href=href,
            run_href=lambda uid: reverse("benchmark:run", args=[slug, uid]),
            sort=sort,
            sortable=True,
            query=urlencode({name: value for name, value in params.items() if value}),
        ),
        "chart": leaderboard_chart(slug, shown, group, split),
        "picture_files": files_of("plot", f"leaderboard-{group}", address_of("leaderboard", slug, query=files_query)),
        "common": leaderboard.common[group],
        "all": len(entrants),
        "others": others,
        "uncovered": [
            {"absence": absence, "query": urlencode(params | {"split": f"{OF_RUN}{absence.run}"})}
            for absence in leaderboard.absent
            if absence.group == group and absence.covered is not None
        ],
    }


MOST_DRAWN = 40


def leaderboard_chart(slug: str, entrants: Sequence[EntrantResults], group: str, split: str = "") -> charts.DotChart:
    """Draw both parses of the score with intervals, what is missing and letters, in the order of the ranking; a name
    opens the items behind it, unless `slug` is empty."""
    described, rows, shown = group_named(group), [], entrants[:MOST_DRAWN]
    for entrant, row in zip(shown, leaderboard_rows(shown, group), strict=True):
        behind = {"model": entrant.entrant, "step": described.scored, "split": split}
        rows.append(
            charts.Row(
                label=entrant.model,
                first=drawn(row.repaired),
                second=drawn(row.official),
                third=drawn(row.corrected),
                bounds=row.bounds,
                out=row.left_out,
                aside=row.group or ("" if entrant.kind == "person" else "–"),
                href=items_url(slug, entrant.run, **behind) if slug and entrant.entrant else "",
            )
        )
    return charts.dot_chart(
        described.score_title,
        rows,
        unit=Sentence(
            "{score_title} (%), lines are 95 % intervals over {group}",
            score_title=described.score_title,
            group=units_of_group(group),
        ),
        heads=(gettext_noop("Repaired"), gettext_noop("Official"), gettext_noop("Corrected")),
        noun="parse",
        aside=gettext_noop("Group"),
        lead=unlike_missing({group: entrants}, titled=False),
    )
