"""The leaderboard of a dataset version: pictures first, both readings side by side, who cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.access import ProjectAccess, project_access
from annotation.models import Membership, Role
from benchmark.access import board_for, sees_results, visibility_of
from benchmark.domain.tables import Table
from benchmark.models import Dataset, Form, Run
from benchmark.services.absences import Absence
from benchmark.services.conditions import FIELDS
from benchmark.services.leaderboard_scope import form_to_show, suite_to_show, version_to_show
from benchmark.services.plot_data import leaderboard_rows
from benchmark.services.result_tables import stage_table
from benchmark.services.selections import OF_RUN
from benchmark.suites.registry import group_named, suite_named
from benchmark.suites.showing.missing import unlike_missing
from benchmark.suites.shown import Entry
from benchmark.suites.story_scores import READINGS
from benchmark.views.pictures import dot_chart
from benchmark.views.shown import evidence, items_url, shown
from workers.models import JobState


def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug)
    if not sees_results(access):
        return _hidden(request, access)
    chosen = chosen_board(request, access)
    if chosen is None:
        return render(request, "benchmark/results/leaderboard.html", access.context | {"datasets": []})
    found, filters = chosen["board"], filters_of(request)
    stages = [
        _stage(request, access, stage, kept(found["stages"][stage][0], filters), found)
        for stage in found["stages"]
        if found["stages"][stage][0] or found["rankings"][stage].others or _uncovered(request, stage, found)
    ]
    context = {
        **chosen,
        **filters,
        "kinds": KINDS,
        "suite": suite_named(suite_to_show(chosen["dataset"])),
        "stages": stages,
        "absent": named_together(one for one in found["absent"] if one.failed),
        "unscored": list({one.why: one.told for one in found["absent"] if one.unscored}.values()),
        "withheld": found["withheld"],
        "entrants": _comparable(found),
        "files_query": "&".join(filter(None, [chosen["query"], urlencode({k: v for k, v in filters.items() if v})])),
        "running": Run.objects.filter(dataset=chosen["dataset"], form=chosen["form"])
        .exclude(job__state__in=[JobState.FINISHED, JobState.CANCELLED])
        .count(),
    }
    return render(request, "benchmark/results/leaderboard.html", access.context | context)


def named_together(absences: Iterable[Absence]) -> list[dict[str, Any]]:
    """Models without an answer, the stages of a run that share a reason together."""
    held: dict[tuple[str, str, str], list[Absence]] = {}
    for one in absences:
        held.setdefault((one.run, one.model, one.problem), []).append(one)
    return [
        {
            "one": stages[0],
            "stages": " and ".join(group_named(one.stage).noun for one in stages),
            "failed": sum(one.failed for one in stages),
        }
        for stages in held.values()
    ]


def _hidden(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """For members who may not see results: who can, and why."""
    admins = Membership.objects.filter(project=access.project, role=Role.ADMIN).select_related("user")
    context = {"shown_to": visibility_of(access), "admins": [one.user.shown_name for one in admins[:5]]}
    return render(request, "benchmark/results/hidden.html", access.context | context)


def chosen_board(request: HttpRequest, access: ProjectAccess) -> dict[str, Any] | None:
    """The version, form and stories that the address asks for, and their board; None without a dataset."""
    datasets = list(Dataset.objects.filter(project=access.project))
    if not datasets:
        return None
    wanted = request.GET.get("version", "")
    version = int(wanted) if wanted.isascii() and wanted.isdecimal() and len(wanted) < 9 else 0
    dataset = next((one for one in datasets if one.version == version), None) or version_to_show(access.project)
    form = request.GET.get("form", "")
    form = form if form in Form.values else form_to_show(dataset)
    every = request.GET.get("runs") == "all"
    asked = {field: request.GET.get(field, "") for field in FIELDS}
    found = board_for(access, dataset, form, request.GET.get("split"), all_runs=every, asked=asked)
    asked = {field: name for field, name in asked.items() if name in found["conditions"][field]}
    split = found["chosen"].key if found["chosen"] else ""
    query = {"version": dataset.version, "form": str(form), "split": split} | ({"runs": "all"} if every else {}) | asked
    return {
        "dataset": dataset,
        "datasets": datasets,
        "form": form,
        "forms": Form.choices,
        "every": every,
        "board": found,
        "asked": asked,
        "conditions": _conditions(found, asked),
        "query": urlencode(query),
    }


CONDITIONS = {"prompts": "Prompts", "judge": "Judge"}


def _conditions(found: dict[str, Any], asked: dict[str, str]) -> list[dict[str, Any]]:
    """The filters by what a ranking is within, where there is a choice."""
    return [
        {"field": field, "label": label, "names": found["conditions"][field], "chosen": asked.get(field, "")}
        for field, label in CONDITIONS.items()
        if len(found["conditions"][field]) > 1
    ]


KINDS = {"model": "Models", "baseline": "Baselines", "person": "People"}


def filters_of(request: HttpRequest) -> dict[str, str]:
    """Which rows and columns the address asks for; what it cannot mean is left out."""
    show, reading = request.GET.get("show", ""), request.GET.get("reading", "")
    return {
        "model": request.GET.get("model", "").strip(),
        "show": show if show in KINDS else "",
        "reading": reading if reading in READINGS else "",
    }


def kept(entries: list[Entry], filters: dict[str, str]) -> list[Entry]:
    return [one for one in entries if _fits(one, filters["model"], filters["show"])]


def _fits(entry: Entry, text: str, kind: str) -> bool:
    return text.casefold() in entry["model"].casefold() and (not kind or entry["kind"] == kind)


def _stage(request: HttpRequest, access: ProjectAccess, stage: str, entries: list[Entry], found) -> dict[str, Any]:
    sort, slug = request.GET.get("sort", ""), access.project.slug
    split = found["chosen"].key
    reading = filters_of(request)["reading"]
    table = of_reading(stage_table(entries, stage), reading)
    if sort.removeprefix("-") not in {one.key for one in table.columns}:
        sort = f"{reading or 'repaired'}_rank"
    return {
        "key": stage,
        "title": table.title,
        "table": {"query": _kept(request)}
        | shown(
            stage,
            table,
            href=evidence(slug, split),
            run_href=lambda uid: run_url(slug, uid),
            sort=sort,
            sortable=True,
        ),
        "chart": board_chart(slug, entries, stage, split),
        "common": found["stages"][stage][1],
        "all": len(found["stages"][stage][0]),
        "ranking": found["rankings"][stage],
        "others": [_other(request, one) for one in found["rankings"][stage].others],
        "uncovered": _uncovered(request, stage, found),
    }


def _uncovered(request: HttpRequest, stage: str, found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Models whose runs have a part of the chosen stories, each with the address of the ranking over its run's."""
    asked = {name: value for name, value in request.GET.items() if name != "sort"}
    return [
        {"one": one, "query": urlencode(asked | {"split": f"{OF_RUN}{one.run}"})}
        for one in found["absent"]
        if one.stage == stage and one.covered is not None
    ]


def _other(request: HttpRequest, other: Mapping[str, Any]) -> dict[str, Any]:
    """Rows that are in another ranking, and its address."""
    names = {field: other[field] for field in CONDITIONS if other[field]}
    asked = {name: value for name, value in request.GET.items() if name not in (*CONDITIONS, "sort")}
    return {
        "rows": other["rows"],
        "models": ", ".join(dict.fromkeys(other["models"])),
        "told": " · ".join(names.values()),
        "query": urlencode(asked | names),
    }


def _kept(request: HttpRequest) -> str:
    """The filters of the address, without the sorting."""
    return urlencode([(name, value) for name, value in request.GET.items() if name != "sort" and value])


def of_reading(table: Table, reading: str) -> Table:
    """Without the columns of the other reading; both for any other word."""
    other = {"official": "repaired_", "repaired": "official_"}.get(reading)
    return replace(table, columns=[one for one in table.columns if not other or not one.key.startswith(other)])


def board_chart(slug: str, entries: list[Entry], stage: str, split: str = "", limit: int = 40) -> dict[str, Any]:
    """Both readings of the score with intervals, what is missing and letters, in the order of the ranking; a name opens the items behind it,
    unless `slug` is empty."""
    rows = [
        {
            "label": one["model"],
            "first": row["repaired"],
            "second": row["official"],
            "bounds": row["bounds"],
            "out": row["left_out"],
            "aside": row["group"] or ("" if one["kind"] == "person" else "–"),
            "href": items_url(slug, one["run"], **_behind(one, stage), split=split) if slug and one["entrant"] else "",
        }
        for one, row in zip(entries[:limit], leaderboard_rows(entries[:limit], stage), strict=True)
    ]
    made = dot_chart(
        group_named(stage).score_title,
        rows,
        unit=f"{group_named(stage).score_title} (%), lines are 95 % intervals over stories",
    )
    return made | {"lead": unlike_missing({stage: entries}, titled=False)}


def _behind(entry: Entry, stage: str) -> dict[str, Any]:
    return {"model": entry["entrant"], "stage": group_named(stage).scored}


def _comparable(found: dict[str, Any]) -> list[dict[str, str]]:
    held: dict[str, str] = {}
    for stage in sorted(
        found["stages"], key=lambda stage: -len(found["stages"][stage][0])
    ):  # the first two have a stage in common
        for one in found["stages"][stage][0]:
            held.setdefault(one["key"], f"{one['model']} · {one['run_title']}")
    return [{"key": key, "label": label} for key, label in held.items()]


def run_url(slug: str, uid: str) -> str:
    return reverse("benchmark:run", args=[slug, uid])
