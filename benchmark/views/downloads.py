"""Results as files: tables, scores by item, the official output folder."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape

from django.conf import settings
from django.core.cache import caches
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from benchmark.access import (
    check_shown,
    check_whole,
    closed_in,
    results_access,
    run_access,
    run_document,
    snapshot_access,
    snapshot_document,
)
from benchmark.addresses import chosen_comparison, document_asked_for, filters_of, model_in, of_parse, table_named
from benchmark.domain.drawn import MEDIA_TYPES
from benchmark.domain.tables import Table
from benchmark.models import Entrant
from benchmark.services.across_tables import pictures_across, tables_across
from benchmark.services.comparison_tables import tables_of as tables_of_comparison
from benchmark.services.comparisons import NotComparable
from benchmark.services.documents import ACROSS, tables_of
from benchmark.services.downloads import (
    TABLE_TYPES,
    no_official_output,
    output_files,
    score_lines,
    table_file,
    zipped,
)
from benchmark.services.plot_data import WIDTHS, Picture, comparison_picture, plots_of
from benchmark.suites.guards import SuiteFailed
from core.digests import text_digest
from core.messages import Sentence, gettext_noop, listed
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


THEMES = ("light", "dark")
KEPT_SECONDS = 7 * 24 * 3600


def run_plot(request: HttpRequest, slug: str, uid: str, plot: str, picture: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    document = run_document(access)
    check_shown(pictures := plots_of(document), plot, document.withheld)
    return plot_response(request, pictures, plot, picture, f"{slug}-{uid}-{plot}")


def snapshot_plot(request: HttpRequest, slug: str, report: str, plot: str, picture: str) -> HttpResponse:
    document = snapshot_document(*snapshot_access(request.user, slug, report))
    if document.kind == ACROSS:
        pictures = pictures_across(document.rankings, model_in(request.GET, document.rankings))
    else:
        compared = document.kind == "comparison"
        pictures = {"two-models": comparison_picture(document.comparison)} if compared else plots_of(document)
    check_shown(pictures, plot, document.withheld)
    return plot_response(request, pictures, plot, picture, f"{slug}-{report}-{plot}")


def leaderboard_plot(request: HttpRequest, slug: str, plot: str, picture: str) -> HttpResponse:
    document = document_asked_for(request.GET, results_access(request.user, slug))
    check_shown(pictures := plots_of(document), plot, document.withheld)
    return plot_response(request, pictures, plot, picture, f"{slug}-leaderboard-{plot}")


def comparison_plot(request: HttpRequest, slug: str, plot: str, picture: str) -> HttpResponse:
    access = results_access(request.user, slug)
    try:
        comparison = chosen_comparison(request.GET, access).comparison
    except NotComparable:
        return redirect(f"{reverse('benchmark:compare', args=[slug])}?{request.GET.urlencode()}")  # which says why
    pictures = {"two-models": comparison_picture(comparison)}
    return plot_response(request, pictures, plot, picture, f"{slug}-comparison-{plot}")


def plot_response(
    request: HttpRequest, pictures: Mapping[str, Picture], name: str, suffix: str, file: str
) -> HttpResponse:
    """Return the picture of that name in the format `suffix` and in the theme and width that the address asks for.
    Raises Http404 for others."""
    theme, width = request.GET.get("theme", THEMES[0]), request.GET.get("width", WIDTHS[0])
    if name not in pictures:
        raise Http404(
            Sentence("There is no figure {name}; there are {pictures}.", name=repr(name), pictures=listed(pictures))
        )
    if suffix not in MEDIA_TYPES or theme not in THEMES or width not in WIDTHS:
        raise Http404(gettext_noop("There is no such format, theme or width of figures."))
    try:
        return _drawn(
            request,
            pictures[name],
            [name, suffix, theme, width],
            f"{file}{'-column' if width == 'column' else ''}.{suffix}",
        )
    except SuiteFailed as error:
        if suffix != "svg" or "theme" not in request.GET:
            raise  # a page says why there is no file
        return HttpResponse(_sentence(str(error)), content_type=MEDIA_TYPES["svg"])


def _drawn(request: HttpRequest, picture: Picture, how: Sequence[str], file: str) -> HttpResponse:
    """`how` is the picture's name, its format, theme and width."""
    _, suffix, theme, width = how
    plot = picture.framed()
    content = json.dumps(
        [settings.CREDENCE_VERSION, *how, plot.name, plot.data, plot.frame], sort_keys=True, default=str
    )
    key = "figure:" + text_digest(content)
    if request.headers.get("If-None-Match") == f'"{key}"':
        return HttpResponseNotModified()
    drawn = caches["plots"]
    data = drawn.get(key)
    if data is None:
        data = picture.draw(format=suffix, theme=theme, width=width)
        drawn.set(key, data, KEPT_SECONDS)
    response = HttpResponse(data, content_type=MEDIA_TYPES[suffix])
    disposition = "inline" if "theme" in request.GET else "attachment"
    response["Content-Disposition"] = f'{disposition}; filename="{file}"'
    response["Cache-Control"] = "private, no-cache"  # asked for anew each time, and sent only where it changed
    response["ETag"] = f'"{key}"'
    return response


def _sentence(text: str) -> str:
    """A picture of a sentence, which stands on a page where a picture would."""
    lines = textwrap.wrap(text, 90)
    spans = "".join(f'<tspan x="8" dy="20">{escape(line)}</tspan>' for line in lines)
    size = f'width="680" height="{20 * len(lines) + 12}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><text font-size="14" fill="#888">{spans}</text></svg>'
