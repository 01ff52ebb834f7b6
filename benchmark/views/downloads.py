"""Results as files: tables, scores by item, the official output folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from benchmark.access import (
    check_whole,
    closed_in,
    results_access,
    run_access,
    run_document,
    snapshot_access,
    snapshot_document,
)
from benchmark.addresses import chosen_comparison, document_asked_for, filters_of, model_in, of_parse, table_named
from benchmark.domain.tables import Table
from benchmark.models import Entrant
from benchmark.services.across_reports import ACROSS
from benchmark.services.across_tables import tables_across
from benchmark.services.comparison_tables import tables_of as tables_of_comparison
from benchmark.services.comparisons import NotComparable
from benchmark.services.documents import tables_of
from benchmark.services.downloads import (
    TABLE_TYPES,
    no_official_output,
    output_files,
    score_lines,
    table_file,
    zipped,
)
from core.messages import Sentence, listed
from core.views.pages import streamed

Tables = Mapping[str, Callable[[], Table]]


def run_table(request: HttpRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    document = run_document(access)
    return table_response(tables_of(document), table, data, f"{slug}-{uid}-{table}", withheld=document.withheld)


def snapshot_table(request: HttpRequest, slug: str, report: str, table: str, data: str) -> HttpResponse:
    document = snapshot_document(*snapshot_access(request.user, slug, report))
    if document.kind == ACROSS:
        tables: Tables = tables_across(document.rankings, model_in(request.GET, document.rankings))
    else:
        compared = document.kind == "comparison"
        tables = tables_of_comparison(document.comparison) if compared else tables_of(document)
    return table_response(tables, table, data, f"{slug}-{report}-{table}", withheld=document.withheld)


def leaderboard_table(request: HttpRequest, slug: str, table: str, data: str) -> HttpResponse:
    parse = filters_of(request.GET)["parse"]
    document = document_asked_for(request.GET, results_access(request.user, slug))
    tables = {name: partial(_of_parse, make, parse) for name, make in tables_of(document).items()}
    return table_response(tables, table, data, f"{slug}-leaderboard-{table}", withheld=document.withheld)


def _of_parse(make: Callable[[], Table], parse: str) -> Table:
    return of_parse(make(), parse)


def comparison_table(request: HttpRequest, slug: str, table: str, data: str) -> HttpResponse:
    access = results_access(request.user, slug)
    try:
        comparison = chosen_comparison(request.GET, access).comparison
    except NotComparable:
        return redirect(f"{reverse('benchmark:compare', args=[slug])}?{request.GET.urlencode()}")  # which says why
    return table_response(tables_of_comparison(comparison), table, data, f"{slug}-comparison-{table}")


def table_response(tables: Tables, name: str, suffix: str, file: str, *, withheld: int = 0) -> HttpResponse:
    table = table_named(tables, name, withheld)
    if suffix not in TABLE_TYPES:
        raise Http404(
            Sentence(
                "There is no format {suffix} of tables; there are {table_types}.",
                suffix=repr(suffix),
                table_types=listed(TABLE_TYPES),
            )
        )
    response = HttpResponse(table_file(table, suffix, name), content_type=f"{TABLE_TYPES[suffix]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file}.{suffix}"'
    return response


def run_scores(request: HttpRequest, slug: str, uid: str) -> StreamingHttpResponse:
    access = run_access(request.user, slug, uid)
    return streamed(
        score_lines(access.run, closed_in(access.project, access.run)),
        f"{slug}-{uid}-scores.csv",
        "text/csv; charset=utf-8",
    )


def official_output(request: HttpRequest, slug: str, uid: str, entrant: int) -> StreamingHttpResponse:
    access = run_access(request.user, slug, uid)
    output_entrant = get_object_or_404(
        Entrant.objects.select_related("run__dataset", "run__project"), run=access.run, pk=entrant
    )
    if reason := no_official_output(access.run):
        raise Http404(reason)
    check_whole(access.project, access.run.dataset)  # the folder has the whole dataset
    return streamed(
        zipped(output_files(output_entrant)), f"{slug}-{uid}-{output_entrant.position + 1}.zip", "application/zip"
    )
