"""Versions of gold: freezing, what changed between two, and who sees results."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, project_access
from annotation.models import Role
from benchmark.access import closed_to, dataset_of, sees_results, visibility_of
from benchmark.forms.datasets import AudienceForm, CopyForm, FreezeForm
from benchmark.models import Audience, Dataset, Run
from benchmark.services import dataset_differences
from benchmark.services import datasets as service
from benchmark.services.dataset_differences import Cells, Difference
from benchmark.services.imports import import_archive
from benchmark.services.visibility import set_audience
from benchmark.suites.contract import BadImport, Suite
from benchmark.suites.registry import suites
from core.idempotency.forms import made_once

METHODS = {
    "unanimous": "unanimous", "majority": "majority", "adjudicated": "adjudicated", "imported": "imported",
}  # fmt: skip
SETTLED = {
    "unanimous": "unanimous", "majority": "settled by a majority", "adjudicated": "decided by an expert", "imported": "imported",
}  # fmt: skip
MOST_CHANGES = 100


@require_GET
def datasets(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    rows = list(access.project.datasets.select_related("created_by").annotate(used=Count("runs")).order_by("-version"))
    held = visibility_of(access)
    context = {
        "rows": [
            _row(one, next((two for two in rows[at + 1 :] if two.suite == one.suite == ""), None))
            for at, one in enumerate(rows)
        ],
        "imports": [one for one in suites().values() if one.load],
        "has_gold": any(not one.suite for one in rows),
        "form": FreezeForm(),
        "audience_form": AudienceForm(initial={"audience": held.audience, "once_frozen": held.once_frozen}),
        "methods": METHODS,
    }
    return render(request, "benchmark/datasets/datasets.html", access.context | context)


def _row(dataset: Dataset, before: Dataset | None) -> dict:
    """`parts` are (method, cells, where its bar begins, how wide) in percent of all cells."""
    cells, parts, start = sum(dataset.methods.values()), [], 0.0
    for method in METHODS:
        if count := dataset.methods.get(method, 0):
            width = 100 * count / cells
            parts.append({"method": method, "cells": count, "start": round(start, 2), "width": round(width, 2)})
            start += width
    told = ", ".join(f"{one['cells']:,} {one['method']}" for one in parts)
    return {"dataset": dataset, "before": before, "parts": parts, "told": told, "cells": cells}


@require_POST
def freeze(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    form = FreezeForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Note: {form.errors['note'][0]}")
        return redirect("benchmark:datasets", slug)
    try:
        told = made_once(request, lambda: _frozen(request, access, form.cleaned_data["note"]))
    except service.FreezeRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, told)
    return redirect("benchmark:datasets", slug)


def _frozen(request: HttpRequest, access: ProjectAccess, note: str) -> str:
    dataset, fresh = service.freeze(by=request.user, project=access.project, note=note)
    if fresh:
        return f"Gold is frozen as version {dataset.version}."
    left = " The note was not kept: a version does not change." if note else ""
    return f"Gold is as in version {dataset.version}, so there is no new one.{left}"


@require_GET
def present(request: HttpRequest, slug: str) -> HttpResponse:
    """Whether the present gold is a version already: a fragment, as reading all gold takes its time."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    digest = service.present_digest(access.project)
    held = list(access.project.datasets.filter(suite="").only("version", "digest", "project"))
    same = next((one for one in held if one.digest == digest), None)
    context = {"digest": digest, "same": same, "newest": held[0] if held else None}
    return render(request, "benchmark/datasets/_present.html", access.context | context)


@require_POST
def audience(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    form = AudienceForm(request.POST)
    if form.is_valid():
        chosen = Audience(form.cleaned_data["audience"])
        once = form.cleaned_data["once_frozen"]
        set_audience(by=request.user, project=access.project, audience=chosen, once_frozen=once)
        messages.success(request, f"Results of models are shown to: {visibility_of(access).told}.")
    else:
        messages.error(request, form.errors["audience"][0])
    return redirect("benchmark:datasets", slug)


@require_http_methods(["GET", "POST"])
def import_copy(request: HttpRequest, slug: str, suite: str) -> HttpResponse:
    """A user's copy of a benchmark, uploaded as a zip of its folder."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    chosen = suites().get(suite)
    if chosen is None or chosen.load is None:
        raise Http404("There is no such benchmark to be imported.")
    form = CopyForm(request.POST or None, request.FILES or None, suite=chosen)
    if request.method == "POST" and form.is_valid():
        try:
            version = made_once(request, lambda: _imported(request, access, chosen, form))
        except BadImport as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{chosen.title} is version {version}.")
            return redirect("benchmark:datasets", slug)
    return render(request, "benchmark/datasets/import.html", access.context | {"form": form, "suite": chosen})


def _imported(request: HttpRequest, access: ProjectAccess, suite: Suite, form: CopyForm) -> str:
    held = {"options": form.options, "note": form.cleaned_data["note"], "file": form.cleaned_data["file"]}
    return str(import_archive(by=request.user, project=access.project, suite=suite, **held)[0].version)


@require_GET
def difference(request: HttpRequest, slug: str, old: int, new: int) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    before, after = dataset_of(access, old), dataset_of(access, new)
    if before.suite or after.suite:
        raise Http404("Only versions of gold are compared.")
    closed = closed_to(access)
    found = dataset_differences.difference(before, after, closed)
    schema = after.schema
    context = {
        "old": before,
        "new": after,
        "found": found,
        "changed": [_named(one, schema) for one in found.changed[:MOST_CHANGES]],
        "left": max(0, len(found.changed) - MOST_CHANGES),
        "hidden": len(closed & {*_numbers(before), *_numbers(after)}) if closed else 0,
        "labels": [(one.name, found.labels[one.key]) for one in schema.dimensions if found.labels[one.key]],
        "most": max(found.labels.values(), default=0),
        "cells": found.labels.total(),
        "made": _made(found),
        "moved": found.moved[:MOST_CHANGES],
    }
    return render(request, "benchmark/datasets/difference.html", access.context | context)


def _numbers(dataset: Dataset) -> Iterable[int]:
    return dataset.samples.values_list("number", flat=True)


def _named(change: dict, schema) -> dict:
    cells = [(actor, belief, schema[key].name, *labels) for actor, belief, key, *labels in change["cells"]]
    return change | {"cells": cells}


def _made(found: Difference) -> list[str]:
    """What changed in the way gold was made, in sentences without names."""
    told = [f"{what}: {before} became {after}." for what, before, after in found.rules]
    told += [
        f"{_count(cells, 'cell')}: {SETTLED.get(before, before)} before, {SETTLED.get(after, after)} now."
        for (before, after), cells in sorted(found.settled.items())
    ]
    told += _labelled(found.votes, "vote")
    return told + _labelled(found.adjudications, "decision by an expert", "decisions by experts")


def _labelled(cells: Cells, one: str, many: str = "") -> list[str]:
    kinds = {"new": "new", "gone": "withdrawn", "changed": "changed"}
    parts = [
        _count(cells.counts[kind], f"{word} {one}", many and f"{word} {many}")
        for kind, word in kinds.items()
        if cells.counts[kind]
    ]
    return [f"{', '.join(parts)}, in {_count(len(cells.stories), 'story', 'stories')}."] if parts else []


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@require_GET
def stale_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """Runs whose version the present gold is not: a fragment, as reading all gold takes its time."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    present = service.present_version(access.project)
    runs = Run.objects.filter(project=access.project).exclude(dataset=present).select_related("dataset")
    rows = list(runs.only("uid", "title", "created_at", "dataset__version")[:51])
    # A run's title can name its models: those who may not see results see how many there are.
    context = {"present": present, "runs": rows[:50], "more": len(rows) > 50, "named": sees_results(access)}
    return render(request, "benchmark/datasets/_stale_runs.html", access.context | context)
