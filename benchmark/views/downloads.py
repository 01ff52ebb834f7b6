"""Results as files: tables, scores by item, the official output folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from benchmark.access import results_access, run_access
from benchmark.domain.tables import Table
from benchmark.models import Entrant, SharedReport
from benchmark.services.comparisons import NotComparable
from benchmark.services.comparisons import tables_of as tables_of_comparison
from benchmark.services.documents import board_document, document_of, tables_of
from benchmark.services.downloads import (
    TABLE_TYPES,
    has_official_output,
    output_files,
    score_lines,
    table_file,
    zipped,
)
from benchmark.views.compare import chosen_comparison
from benchmark.views.leaderboard import chosen_board, filters_of, kept, of_reading

Tables = Mapping[str, Callable[[], Table]]


def run_table(request: HttpRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    return _table(tables_of(document_of(access.run)), table, data, f"{slug}-{uid}-{table}")


def shared_table(request: HttpRequest, slug: str, report: str, table: str, data: str) -> HttpResponse:
    access = results_access(request.user, slug)
    held = get_object_or_404(SharedReport, project=access.project, uid=report).figures
    tables = tables_of_comparison(held["comparison"]) if held["kind"] == "comparison" else tables_of(held)
    return _table(tables, table, data, f"{slug}-{report}-{table}")


def leaderboard_table(request: HttpRequest, slug: str, table: str, data: str) -> HttpResponse:
    reading = filters_of(request)["reading"]
    held = {name: partial(_of_reading, make, reading) for name, make in tables_of(board_of(request, slug)).items()}
    return _table(held, table, data, f"{slug}-leaderboard-{table}")


def _of_reading(make: Callable[[], Table], reading: str) -> Table:
    return of_reading(make(), reading)


def comparison_table(request: HttpRequest, slug: str, table: str, data: str) -> HttpResponse:
    access = results_access(request.user, slug)
    try:
        comparison = chosen_comparison(request.GET, access)["comparison"]
    except NotComparable:
        return redirect(f"{reverse('benchmark:compare', args=[slug])}?{request.GET.urlencode()}")  # which says why
    return _table(tables_of_comparison(comparison), table, data, f"{slug}-comparison-{table}")


def board_of(request: HttpRequest, slug: str):
    """The document of the leaderboard that the address asks for, with the rows that its filters leave."""
    access = results_access(request.user, slug)
    chosen = chosen_board(request, access)
    if chosen is None:
        raise Http404("There is no dataset yet.")
    filters = filters_of(request)
    stages = {stage: kept(entries, filters) for stage, (entries, _) in chosen["board"]["stages"].items()}
    return board_document("Leaderboard", stages)


def _table(tables: Tables, name: str, suffix: str, file: str) -> HttpResponse:
    if name not in tables or suffix not in TABLE_TYPES:
        raise Http404("There is no such table, or not in this format.")
    response = HttpResponse(table_file(tables[name](), suffix), content_type=f"{TABLE_TYPES[suffix]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file}.{suffix}"'
    return response


def run_scores(request: HttpRequest, slug: str, uid: str) -> StreamingHttpResponse:
    access = run_access(request.user, slug, uid)
    return _streamed(score_lines(access.run), f"{slug}-{uid}-scores.csv", "text/csv; charset=utf-8")


def official_output(request: HttpRequest, slug: str, uid: str, entrant: int) -> StreamingHttpResponse:
    access = run_access(request.user, slug, uid)
    held = get_object_or_404(Entrant.objects.select_related("run__dataset", "run__project"), run=access.run, pk=entrant)
    if not has_official_output(access.run):
        raise Http404("Structured output has no official layout.")
    return _streamed(zipped(output_files(held)), f"{slug}-{uid}-{held.position + 1}.zip", "application/zip")


def _streamed(parts, name: str, content_type: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(parts, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
