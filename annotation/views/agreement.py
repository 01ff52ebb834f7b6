"""Agreement between annotators: pictures first, figures below, annotators and second opinions loaded after."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from urllib.parse import urlencode

from django.core.cache import cache
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.access import ProjectAccess, project_access
from annotation.domain.schema import SCHEMAS, Dimension
from annotation.forms.agreement import AgreementFilter
from annotation.models import Proposition, Role, Vote, VoteEvent
from annotation.services.agreement import (
    CACHE_SECONDS,
    agreement_report,
    annotator_report,
    extraction_report,
    second_opinions,
)
from annotation.views.charts import interval_chart


def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    form, chosen = _chosen(request, access)
    report = agreement_report(project=access.project, **chosen)
    rows = [
        {"dimension": dimension, **report["dimensions"][dimension.key]}
        for dimension in SCHEMAS[access.project.schema_version].dimensions
    ]
    context = {
        "form": form,
        "report": report,
        "rows": rows,
        "overall": report["overall"],
        "waiting": _waiting(access, **chosen) if report["incomplete"] else None,
        "charts": [
            interval_chart("Strict agreement", _points(rows, "strict"), percent=True),
            interval_chart("Krippendorff's alpha", _points(rows, "krippendorff_alpha"), percent=False),
        ],
        "extraction": extraction_report(project=access.project),
        "query": urlencode({name: value for name, value in chosen.items() if value}),
    }
    return render(request, "annotation/agreement/agreement.html", access.context | context)


def _waiting(access: ProjectAccess, *, split: str | None, category: str | None) -> dict:
    """Propositions with votes of which some dimension lacks votes, and their stories: why the counts below differ."""
    project = access.project
    events = VoteEvent.objects.filter(proposition__table__story__project=project)
    newest = events.aggregate(Max("id"))["id__max"]
    asked = json.dumps(["waiting", project.pk, project.overlap, split, category, newest])
    key = "agreement:" + hashlib.sha256(asked.encode()).hexdigest()
    return cache.get_or_set(key, lambda: _count_waiting(access, split, category), CACHE_SECONDS)


def _count_waiting(access: ProjectAccess, split: str | None, category: str | None) -> dict:
    stories = access.project.stories.in_split(split).in_category(category)
    live = Proposition.objects.live_gold().filter(table__story__in=stories)
    votes = Vote.objects.cast().filter(proposition__in=live).order_by()
    cells = votes.values("proposition_id", "dimension").annotate(count=Count("id"))
    full = Counter(cells.filter(count__gte=access.project.overlap).values_list("proposition_id", flat=True))
    voted = votes.values_list("proposition_id", "proposition__table__story_id").distinct()
    dimensions = len(SCHEMAS[access.project.schema_version].dimensions)
    waiting = [(proposition, story) for proposition, story in voted if full[proposition] < dimensions]
    return {"propositions": len(waiting), "stories": len({story for _, story in waiting})}


def agreement_annotators(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    _, chosen = _chosen(request, access)
    report = annotator_report(project=access.project, **chosen)
    dimensions = SCHEMAS[access.project.schema_version].dimensions
    context = {
        "pairs": report["pairs"],
        "against": [
            {"annotator": name, "cells": [_share(by_dimension.get(dimension.key)) for dimension in dimensions]}
            for name, by_dimension in sorted(report["against_resolved"].items())
        ],
        "dimensions": dimensions,
        "confusions": [_matrix(access, dimension, report["confusions"][dimension.key]) for dimension in dimensions],
    }
    return render(request, "annotation/agreement/_annotators.html", access.context | context)


def agreement_opinions(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    _, chosen = _chosen(request, access)
    dimensions = SCHEMAS[access.project.schema_version].dimensions
    opinions = second_opinions(project=access.project, **chosen)
    rows = [
        {"annotator": name, "cells": [skills.get(dimension.key) for dimension in dimensions]}
        for name, skills in sorted(opinions.items())
    ]
    context = {"opinions": rows, "dimensions": dimensions}
    return render(request, "annotation/agreement/_opinions.html", access.context | context)


def _chosen(request: HttpRequest, access: ProjectAccess) -> tuple[AgreementFilter, dict]:
    form = AgreementFilter(request.GET, project=access.project)
    cleaned = form.cleaned_data if form.is_valid() else {}
    return form, {name: cleaned.get(name) or None for name in ("split", "category")}


def _points(rows: list[dict], name: str) -> list[dict]:
    return [
        {"label": row["dimension"].name, "value": row[name], "interval": row["interval"][name], "n": row["cells"]}
        for row in rows
    ]


def _share(row: dict | None) -> dict | None:
    return {**row, "share": row["agree"] / row["cells"]} if row and row["cells"] else None


def _matrix(access: ProjectAccess, dimension: Dimension, confusion: dict) -> dict:
    """The matrix as rows of cells, each with its shade (0 to 10, of the largest disagreement) and its link."""
    cells, labels = confusion["cells"], confusion["labels"]
    most = max((cells[i][j] for i in range(len(cells)) for j in range(len(cells)) if i != j), default=0)
    queue = reverse("annotation:adjudication", args=[access.project.slug])

    def cell(i: int, j: int) -> dict:
        query = urlencode({"dimension": dimension.key, "pair": f"{labels[i]}|{labels[j]}", "status": "all"})
        shade = 0 if i == j or not most else round(10 * cells[i][j] / most)
        return {"count": cells[i][j], "shade": shade, "same": i == j, "href": f"{queue}?{query}" if cells[i][j] else ""}

    rows = [
        {"label": label, "cells": [cell(i, j) for j in range(len(cells))]}
        for i, label in enumerate(confusion["labels"])
    ]
    return {"dimension": dimension, "rows": rows, "labels": labels, "any": most > 0}
