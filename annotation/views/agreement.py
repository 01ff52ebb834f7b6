"""Agreement between annotators: pictures first, figures below, annotators loaded after, second opinions when asked
for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.access import ProjectAccess, check_aggregate, project_access
from annotation.domain.agreement.report import MEASURES
from annotation.domain.schema import Dimension
from annotation.forms.filters import PartsFilter
from annotation.models import Role
from annotation.services import vote_kinds
from annotation.services.agreement import (
    GOLDS,
    agreement_report,
    annotator_lines,
    annotator_report,
    extraction_report,
    second_opinions,
    waiting_report,
)
from annotation.services.kept import AT_ONCE
from core.language import gettext, gettext_noop
from core.statistics import FEWEST, Estimate
from core.views.charts import PERCENT, PLAIN, Row, dot_chart, no_intervals
from core.views.english import in_english

SHARES = ("strict", "pairwise")
"""Measures that are shares, shown in per cent."""


def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    form, chosen = _chosen(request, access)
    report = agreement_report(project=access.project, **chosen)
    rows = [
        {"dimension": dimension, **_with_estimates(report["dimensions"][dimension.key])}
        for dimension in access.project.schema.dimensions
    ]
    context = {
        "form": form,
        "report": report,
        "rows": rows,
        "overall": _with_estimates(report["overall"]),
        "waiting": waiting_report(project=access.project, **chosen) if report["incomplete"] else None,
        "charts": [
            dot_chart(gettext_noop("Strict agreement"), _points(rows, "strict"), notation=PERCENT, holds=(1.0,)),
            dot_chart(
                gettext_noop("Krippendorff's alpha"), _points(rows, "krippendorff_alpha"), notation=PLAIN, holds=(1.0,)
            ),
        ],
        "fewest": FEWEST,
        "lacking": no_intervals(
            estimate
            for row in (report["overall"], *report["dimensions"].values())
            for estimate in _with_estimates(row)["estimates"]
        ),
        "extraction": extraction_report(project=access.project),
        "query": urlencode({name: value for name, value in chosen.items() if value}),
    }
    return render(request, "annotation/agreement/agreement.html", access.context | context)


def agreement_annotators(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    _, chosen = _chosen(request, access)
    if waiting := _counting(request, access):
        return waiting
    report = annotator_report(project=access.project, **chosen)
    dimensions = access.project.schema.dimensions
    context = {
        "pairs": report["pairs"],
        "against": [{"gold": which, "rows": _against(report[which], dimensions)} for which in GOLDS if report[which]],
        "dimensions": dimensions,
        "query": urlencode({name: value for name, value in chosen.items() if value}),
        "confusions": [_matrix(access, dimension, report["confusions"][dimension.key]) for dimension in dimensions],
    }
    return render(request, "annotation/agreement/_annotators.html", access.context | context)


@in_english
def agreement_csv(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Each annotator against the labels that are settled without them, and against those that contain their votes."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    _, chosen = _chosen(request, access)
    lines = annotator_lines(annotator_report(project=access.project, **chosen))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-annotators.csv"'
    return response


def agreement_opinions(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.EXPERT)
    _, chosen = _chosen(request, access)
    if waiting := _counting(request, access):
        return waiting
    dimensions = access.project.schema.dimensions
    opinions = second_opinions(project=access.project, **chosen)
    rows = [
        {"annotator": name, "cells": [skills.get(dimension.key) for dimension in dimensions]}
        for name, skills in sorted(opinions.items())
    ]
    context = {"opinions": rows, "dimensions": dimensions}
    return render(request, "annotation/agreement/_opinions.html", access.context | context)


def _counting(request: HttpRequest, access: ProjectAccess) -> HttpResponse | None:
    """Count the votes of some stories that changed; return a bar that asks for more where any are left, else None."""
    counted = vote_kinds.renew(access.project, AT_ONCE)
    if counted.done == counted.total:
        return None
    context = {"label": gettext("Counting the votes of changed stories"), "counted": counted}
    return render(request, "components/counting.html", context | {"address": request.get_full_path()})


def _chosen(request: HttpRequest, access: ProjectAccess) -> tuple[PartsFilter, dict]:
    form = PartsFilter(request.GET, project=access.project)
    cleaned = form.cleaned_data if form.is_valid() else {}
    chosen = {name: cleaned.get(name) or None for name in ("split", "category")}
    check_aggregate(access, **chosen)
    return form, chosen


@dataclass(frozen=True, slots=True)
class MeasureOnPage:
    """A measure in a row of the table, with its interval and why one of them is lacking; whether it is a `share`."""

    value: float | None
    interval: tuple[float, float] | None
    reason: str
    share: bool


def _with_estimates(row: dict) -> dict:
    """The row with its measures as the table shows them: value, interval, and why one of them is lacking."""
    estimates = [
        MeasureOnPage(row[name], row["interval"][name], row["reasons"].get(name, ""), share=name in SHARES)
        for name in MEASURES
    ]
    return row | {"estimates": estimates}


def _points(rows: list[dict], name: str) -> list[Row]:
    return [
        Row(
            label=gettext(row["dimension"].name),
            first=Estimate(row[name], row["cells"], row["interval"][name], reason=row["reasons"].get(name, "")),
            n=gettext_noop(f"{row['cells']:,} cells"),
        )
        for row in rows
    ]


def _against(by_annotator: dict[str, dict], dimensions: Sequence[Dimension]) -> list[dict]:
    """A row for each annotator: the share of each dimension, and the cells of all."""
    return [
        {
            "annotator": name,
            "cells": [_share(by_dimension.get(dimension.key)) for dimension in dimensions],
            "all": {
                count: sum(row.get(count, 0) for row in by_dimension.values())
                for count in ("cells", "votes", "expert", "open")
            },
        }
        for name, by_dimension in sorted(by_annotator.items())
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
