"""Results as files: tables, scores by item, the official output folder."""

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from html import escape

from django.conf import settings
from django.core.cache import caches
from django.http import Http404, HttpResponse, HttpResponseNotModified, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from annotation.access import UserRequest
from benchmark.access import (
    across_for,
    check_shown,
    check_whole,
    closed_in,
    results_access,
    run_access,
    run_document,
    snapshot_access,
    snapshot_document,
)
from benchmark.addresses import (
    chosen_comparison,
    chosen_leaderboard,
    filters_of,
    leaderboard_document_of,
    model_in,
    of_parse,
    table_named,
)
from benchmark.domain.drawn import MEDIA_TYPES
from benchmark.domain.tables import Table
from benchmark.models import Entrant
from benchmark.services.comparisons import NotComparable
from benchmark.services.documents import ACROSS, Document
from benchmark.services.downloads import (
    TABLE_TYPES,
    document_files,
    no_official_output,
    output_files,
    score_lines,
    table_file,
    zipped,
)
from benchmark.services.plot_data import WIDTHS, Picture
from benchmark.suites.guards import SuiteFailed
from core.digests import text_digest
from core.messages import Sentence, gettext_noop, listed
from core.views.pages import streamed


def run_files(request: UserRequest, slug: str, uid: str, **file: str) -> HttpResponse:
    return _file(request, run_document(run_access(request.user, slug, uid)), f"{slug}-{uid}", file)


def snapshot_files(request: UserRequest, slug: str, report: str, **file: str) -> HttpResponse:
    document = snapshot_document(*snapshot_access(request.user, slug, report))
    return _file(request, document, f"{slug}-{report}", file)


def leaderboard_files(request: UserRequest, slug: str, **file: str) -> HttpResponse:
    chosen = chosen_leaderboard(request.GET, results_access(request.user, slug))
    if chosen is None:
        raise Http404(gettext_noop("There is no dataset yet."))
    document = leaderboard_document_of(chosen, request.GET)
    return _file(request, document, f"{slug}-leaderboard", file, filters_of(request.GET)["parse"])


def comparison_files(request: UserRequest, slug: str, **file: str) -> HttpResponse:
    access = results_access(request.user, slug)
    try:
        comparison = chosen_comparison(request.GET, access).comparison
    except NotComparable:
        return redirect(f"{reverse('benchmark:compare', args=[slug])}?{request.GET.urlencode()}")  # which says why
    return _file(request, Document(kind="comparison", comparison=comparison), f"{slug}-comparison", file)


def across_files(request: UserRequest, slug: str, **file: str) -> HttpResponse:
    document = Document(kind=ACROSS, rankings=across_for(results_access(request.user, slug)))
    return _file(request, document, f"{slug}-{model}" if (model := request.GET.get("model")) else slug, file)


def _file(
    request: UserRequest, document: Document, prefix: str, file: Mapping[str, str], parse: str = ""
) -> HttpResponse:
    """Return the `table` of a document as `data`, or the `plot` of it as `picture`, as an address names them."""
    model = model_in(request.GET, document.rankings) if document.rankings is not None else ""
    if table := file.get("table"):
        tables = document_files("table", document, model)
        withheld = document.withheld
        return table_response(tables, table, file["data"], f"{prefix}-{table}", withheld=withheld, parse=parse)
    pictures, plot = document_files("plot", document, model), file["plot"]
    check_shown(pictures, plot, document.withheld)
    return plot_response(request, pictures, plot, file["picture"], f"{prefix}-{plot}")


def table_response(
    tables: Mapping[str, Callable[[], Table]], name: str, suffix: str, file: str, *, withheld: int = 0, parse: str = ""
) -> HttpResponse:
    table = of_parse(table_named(tables, name, withheld), parse)
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


def run_scores(request: UserRequest, slug: str, uid: str) -> StreamingHttpResponse:
    access = run_access(request.user, slug, uid)
    lines = score_lines(access.run, closed_in(access.project, access.run))
    return streamed(lines, f"{slug}-{uid}-scores.csv", "text/csv; charset=utf-8")


def official_output(request: UserRequest, slug: str, uid: str, entrant: int) -> StreamingHttpResponse:
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


def plot_response(
    request: UserRequest, pictures: Mapping[str, Picture], name: str, suffix: str, file: str
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
    file = f"{file}{'-column' if width == 'column' else ''}.{suffix}"
    try:
        return _drawn(request, pictures[name], [name, suffix, theme, width], file)
    except SuiteFailed as error:
        if suffix != "svg" or "theme" not in request.GET:
            raise  # a page says why there is no file
        lines = textwrap.wrap(str(error), 90)  # a picture of the sentence stands where the plot would
        spans = "".join(f'<tspan x="8" dy="20">{escape(line)}</tspan>' for line in lines)
        size = f'width="680" height="{20 * len(lines) + 12}"'
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><text font-size="14" fill="#888">{spans}</text></svg>'
        return HttpResponse(svg, content_type=MEDIA_TYPES["svg"])


def _drawn(request: UserRequest, picture: Picture, how: Sequence[str], file: str) -> HttpResponse:
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
