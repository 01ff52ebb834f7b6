"""Agreement between annotators: pictures first, figures below, annotators loaded after, second opinions when asked
for."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.access import ProjectAccess, UserRequest, check_aggregate, project_access
from annotation.domain.agreement.annotators import MatchesWithout
from annotation.domain.agreement.report import Measure
from annotation.domain.schema import Dimension
from annotation.forms.filters import PartsFilter
from annotation.models import Role
from annotation.services.agreement import (
    annotator_lines,
    annotator_report,
    extraction_report,
    measured,
    second_opinions,
)
from core.language import gettext
from core.messages import Sentence, gettext_noop
from core.statistics import FEWEST
from core.views.charts import PERCENT, PLAIN, Row, dot_chart, no_intervals
from core.views.pages import Context, in_english, streamed

SHARES = ("strict", "pairwise")
"""Measures that are shares, shown in per cent."""


def agreement(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    form, chosen = _chosen(request, access)
    report, waiting = measured(project=access.project, **chosen)
    rows: list[Context] = [
        {"name": gettext(dimension.name), "figures": report.dimensions[dimension.key]}
        for dimension in access.project.schema.dimensions
    ]
    overall: Context = {"name": gettext("Overall"), "figures": report.overall}
    estimates = [estimate for row in (overall, *rows) for estimate in row["figures"].estimates.values()]
    context = {
        "form": form,
        "report": report,
        "rows": rows,
        "overall": overall,
        "waiting": dict(zip(("propositions", "stories"), waiting, strict=True)) if report.incomplete else None,
        "charts": [
            dot_chart(gettext_noop("Strict agreement"), _points(rows, "strict"), notation=PERCENT, holds=(1.0,)),
            dot_chart(
                gettext_noop("Krippendorff's alpha"), _points(rows, "krippendorff_alpha"), notation=PLAIN, holds=(1.0,)
            ),
        ],
        "fewest": FEWEST,
        "lacking": no_intervals(estimates),
        "shares": SHARES,
        "extraction": extraction_report(project=access.project),
        "query": urlencode({name: value for name, value in chosen.items() if value}),
    }
    return render(request, "annotation/agreement/agreement.html", access.context | context)


def agreement_annotators(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    _, chosen = _chosen(request, access)
    report = annotator_report(project=access.project, **chosen)
    dimensions = access.project.schema.dimensions
    against = []
    for gold, by_name in (("others", report.against_others), ("resolved", report.against_resolved)):
        rows = []
        for name, by_dimension in sorted(by_name.items()):
            cells = [by_dimension.get(dimension.key) for dimension in dimensions]
            row: Context = {"annotator": name, "cells": [cell if cell and cell.cells else None for cell in cells]}
            row["all"] = sum(cell.cells for cell in by_dimension.values())
            # Cells that votes or an expert settle, or that stay open, are only known for gold without the annotator.
            without = [cell for cell in by_dimension.values() if isinstance(cell, MatchesWithout)]
            row |= {kind: sum(getattr(cell, kind) for cell in without) for kind in ("votes", "expert", "open")}
            rows.append(row)
        if rows:
            against.append({"gold": gold, "rows": rows})
    context = {
        "pairs": report.pairs,
        "against": against,
        "dimensions": dimensions,
        "query": urlencode({name: value for name, value in chosen.items() if value}),
        "confusions": [_matrix(access, dimension, report.confusions[dimension.key]) for dimension in dimensions],
    }
    return render(request, "annotation/agreement/_annotators.html", access.context | context)


@in_english
def agreement_csv(request: UserRequest, slug: str) -> StreamingHttpResponse:
    """Each annotator against the labels that are settled without them, and against those that contain their votes."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    _, chosen = _chosen(request, access)
    lines = annotator_lines(annotator_report(project=access.project, **chosen))
    return streamed(lines, f"{slug}-annotators.csv", "text/csv; charset=utf-8")


def agreement_opinions(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    _, chosen = _chosen(request, access)
    dimensions = access.project.schema.dimensions
    opinions = second_opinions(project=access.project, **chosen)
    rows = [
        {"annotator": name, "cells": [skills.get(dimension.key) for dimension in dimensions]}
        for name, skills in sorted(opinions.items())
    ]
    context = {"opinions": rows, "dimensions": dimensions}
    return render(request, "annotation/agreement/_opinions.html", access.context | context)


def _chosen(request: UserRequest, access: ProjectAccess) -> tuple[PartsFilter, dict[str, Any]]:
    form = PartsFilter(request.GET, project=access.project)
    cleaned = form.cleaned_data if form.is_valid() else {}
    chosen = {name: cleaned.get(name) or None for name in ("split", "category")}
    check_aggregate(access, **chosen)
    return form, chosen


def _points(rows: Sequence[Context], measure: Measure) -> list[Row]:
    return [
        Row(
            label=row["name"],
            first=row["figures"].estimates[measure],
            n=Sentence("{cells} cells", cells=f"{row['figures'].cells:,}"),
        )
        for row in rows
    ]


def _matrix(access: ProjectAccess, dimension: Dimension, cells: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The matrix as rows of cells, each with its shade (0 to 10, of the largest disagreement) and its link."""
    labels = dimension.values
    most = max((cells[i][j] for i in range(len(cells)) for j in range(len(cells)) if i != j), default=0)
    queue = reverse("annotation:adjudication", args=[access.project.slug])

    def cell(i: int, j: int) -> dict[str, Any]:
        query = urlencode({"dimension": dimension.key, "pair": f"{labels[i]}|{labels[j]}", "status": "all"})
        shade = 0 if i == j or not most else round(10 * cells[i][j] / most)
        return {"count": cells[i][j], "shade": shade, "same": i == j, "href": f"{queue}?{query}" if cells[i][j] else ""}

    rows = [{"label": label, "cells": [cell(i, j) for j in range(len(cells))]} for i, label in enumerate(labels)]
    return {"dimension": dimension, "rows": rows, "labels": labels}
