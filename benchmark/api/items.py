"""The items of a run down to the raw answer, and their scores as one long table."""

from django.http import Http404, QueryDict, StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.description import answers
from benchmark.access import closed_in, run_access, run_item_of
from benchmark.api.description import CSV, ITEM, NO_ACCESS, RUN, SLUG, answers_in
from benchmark.api.requests import RunItemFilter
from benchmark.api.shapes.items import RunItemOut, ScoreOut
from benchmark.forms.items import ItemFilter
from benchmark.models import Run
from benchmark.services.downloads import score_lines, score_row, score_values
from benchmark.services.item_detail import item_data, items_with_answers, texts_of
from benchmark.services.items import ChosenItems, items_of
from core.api.fields import Strict, read_query
from core.api.listing import Listing

_WAITS = {
    403: (
        "You still have work to do on its story, or may not see results.",
        "You still have work to do on this story yourself; finish it first.",
    )
}


class Items(Listing):
    @extend_schema(
        operation_id="run_items_list",
        tags=["runs"],
        parameters=[SLUG, RUN, RunItemFilter],
        responses=answers(RunItemOut(many=True), 400, 403, why=NO_ACCESS),
    )
    def get(self, request: Request, slug: str, run: str) -> Response:
        """The items of a run with their answers and both parses; with `full` the prompts and the samples, too.

        Stories that you still have work to do on are left out.
        """
        access = run_access(request.user, slug, run)
        asked = read_query(request, RunItemFilter)
        full = "full" in asked
        closed = closed_in(access.project, access.run)
        rows = items_of(access.run, _chosen(access.run, asked), asked.get("sort", "story"), closed)
        page = self.paginate_queryset(items_with_answers(rows, full=full))
        texts = texts_of(access.run.dataset, closed) if full else []
        return self.answer([item_data(item, full=full, closed_texts=texts) for item in page], RunItemOut)


def _chosen(run: Run, asked: dict[str, str]) -> ChosenItems:
    """Return the filters as the page's form reads them. Raises Http404 for a model, step, problem, category or split
    that the run does not have."""
    given = dict(asked)
    if "model" in given:
        models = dict(run.entrants.values_list("name", "pk"))
        if given["model"] not in models:
            raise Http404(f"The run has no model {given['model']!r}; there are {', '.join(models)}.")
        given["model"] = str(models[given["model"]])
    data = QueryDict(mutable=True)
    data.update({name: value for name, value in given.items() if name not in ("sort", "full")})
    form = ItemFilter(data, run=run)
    if not form.is_valid():
        name = next(iter(form.errors))
        raise Http404(f"The run has no {name} {given.get(name, '')!r}.")
    return form.chosen


class OneItem(GenericAPIView):
    @extend_schema(
        operation_id="run_items_read",
        tags=["runs"],
        parameters=[SLUG, RUN, ITEM],
        responses=answers(RunItemOut, 403, why=_WAITS),
    )
    def get(self, request: Request, slug: str, run: str, item: int) -> Response:
        """One item: what was sent, what came back, both parses, and the gold that they are scored against."""
        access = run_access(request.user, slug, run)
        item_view = run_item_of(access, item)
        texts = texts_of(access.run.dataset, closed_in(access.project, access.run))
        return Response(RunItemOut(item_data(item_view, full=True, closed_texts=texts)).data)


class Scores(Listing):
    renderer_classes = (JSONRenderer, CSV)

    @extend_schema(
        operation_id="run_scores_list",
        tags=["runs"],
        parameters=[SLUG, RUN],
        responses=answers_in(
            {CSV.media_type: "All items, a header and a row each, in one stream."},
            ScoreOut(many=True),
            400,
            403,
            why=NO_ACCESS,
        ),
    )
    def get(self, request: Request, slug: str, run: str) -> Response | StreamingHttpResponse:
        """The scores of every item, models in the run's order: by page as JSON, as a whole with `format=csv`."""
        access = run_access(request.user, slug, run)
        read_query(request, Strict)
        closed = closed_in(access.project, access.run)
        if request.accepted_renderer.format == CSV.format:
            self.paginator.check(request)
            response = StreamingHttpResponse(score_lines(access.run, closed), content_type="text/csv; charset=utf-8")
            response["Content-Disposition"] = f'attachment; filename="{slug}-{run}-scores.csv"'
            return response
        page = self.paginate_queryset(score_values(access.run))
        return self.answer([score_row(values, closed) for values in page], ScoreOut)
