"""The leaderboard of a dataset version: pictures first, both readings side by side, who cannot be told apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.access import ProjectAccess, project_access
from annotation.models import Membership, Role
from benchmark.access import sees_results, visibility_of
from benchmark.domain.tables import Table
from benchmark.models import Dataset, Form, Run
from benchmark.services.boards import board, form_to_show, version_to_show
from benchmark.services.documents import score_of
from benchmark.services.leaderboards import STAGE_OF, Entry
from benchmark.services.result_tables import SCORES, stage_table
from benchmark.services.story_scores import READINGS, STAGES
from benchmark.views.pictures import dot_chart
from benchmark.views.shown import evidence, items_url, shown
from workers.models import JobState

DEFAULT_SORT = {"stage1": "-repaired_f1", "stage2": "-repaired_overall_accuracy"}


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
        for stage in STAGES
        if found["stages"][stage][0]
    ]
    context = {
        **chosen,
        **filters,
        "kinds": KINDS,
        "stages": stages,
        "entrants": _comparable(found),
        "files_query": "&".join(filter(None, [chosen["query"], urlencode({k: v for k, v in filters.items() if v})])),
        "running": Run.objects.filter(dataset=chosen["dataset"], form=chosen["form"])
        .exclude(job__state__in=[JobState.FINISHED, JobState.CANCELLED])
        .count(),
    }
    return render(request, "benchmark/results/leaderboard.html", access.context | context)


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
    found = board(dataset, form, request.GET.get("split"), all_runs=every)
    split = found["chosen"].key if found["chosen"] else ""
    query = {"version": dataset.version, "form": str(form), "split": split} | ({"runs": "all"} if every else {})
    return {
        "dataset": dataset,
        "datasets": datasets,
        "form": form,
        "forms": Form.choices,
        "every": every,
        "board": found,
        "query": urlencode(query),
    }


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
    table = of_reading(stage_table(entries, stage), filters_of(request)["reading"])
    if sort.removeprefix("-") not in {one.key for one in table.columns}:
        sort = DEFAULT_SORT[stage]
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
    }


def _kept(request: HttpRequest) -> str:
    """The filters of the address, without the sorting."""
    return urlencode([(name, value) for name, value in request.GET.items() if name != "sort" and value])


def of_reading(table: Table, reading: str) -> Table:
    """Without the columns of the other reading; both for any other word."""
    other = {"official": "repaired_", "repaired": "official_"}.get(reading)
    return replace(table, columns=[one for one in table.columns if not other or not one.key.startswith(other)])


def board_chart(slug: str, entries: list[Entry], stage: str, split: str = "", limit: int = 40) -> dict[str, Any]:
    """Both readings of the score with intervals and letters, best first; a name opens the items behind it, unless `slug` is empty."""
    rows = [
        {
            "label": one["model"],
            "first": score_of(one, "repaired", stage),
            "second": score_of(one, "official", stage),
            "aside": one["group"]["repaired"],
            "href": items_url(slug, one["run"], **_behind(one, stage), split=split) if slug and one["entrant"] else "",
        }
        for one in entries[:limit]
    ]
    return dot_chart(SCORES[stage], rows, unit=f"{SCORES[stage]} (%), lines are 95 % intervals over stories")


def _behind(entry: Entry, stage: str) -> dict[str, Any]:
    return {"model": entry["entrant"], "stage": STAGE_OF[stage].value}


def _comparable(found: dict[str, Any]) -> list[dict[str, str]]:
    held: dict[str, str] = {}
    for stage in sorted(
        STAGES, key=lambda stage: -len(found["stages"][stage][0])
    ):  # the first two have a stage in common
        for one in found["stages"][stage][0]:
            held.setdefault(one["key"], f"{one['model']} · {one['run_title']}")
    return [{"key": key, "label": label} for key, label in held.items()]


def run_url(slug: str, uid: str) -> str:
    return reverse("benchmark:run", args=[slug, uid])
