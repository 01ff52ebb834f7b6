"""The items of a run down to the raw answer, and their scores as one long table."""

from django.http import Http404, QueryDict, StreamingHttpResponse
from drf_spectacular.utils import extend_schema, extend_schema_field, inline_serializer
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.description import answers
from benchmark.access import closed_in, run_access, run_item_of
from benchmark.api.description import CSV, ITEM, NO_ACCESS, RUN, SLUG, answers_in
from benchmark.api.requests import RunItemFilter
from benchmark.forms.items import ItemFilter
from benchmark.services.downloads import score_lines, score_row, score_values
from benchmark.services.item_detail import item_data, texts_of
from benchmark.services.items import STATE_NAMES, items_of
from core.api.fields import Strict, read_query
from core.api.listing import Listing


@extend_schema_field({})
class Content(serializers.JSONField):
    """Any JSON: what it is depends on the suite."""


class RunItemOut(serializers.Serializer):
    """One question of a run to one model, with its answer and both parses of it."""

    item = serializers.IntegerField(help_text="Number of the item in the addresses of its page and of the API.")
    model = serializers.CharField()
    step = serializers.CharField()
    sample = serializers.IntegerField(help_text="Number of the sample in its version: a story's own number.")
    key = serializers.CharField(help_text="Name of the sample in the file that it came from.")
    cluster = serializers.CharField(help_text="Samples of one cluster are resampled together.")
    category = serializers.CharField(allow_blank=True)
    split = serializers.CharField(allow_blank=True)
    repetition = serializers.IntegerField(help_text="From 1.")
    state = serializers.ChoiceField(STATE_NAMES)
    problem = serializers.CharField(allow_blank=True, help_text="Why there is no answer, or why it cannot be used.")
    answer = serializers.CharField(allow_null=True, allow_blank=True, help_text="As it came.")
    answered_by = serializers.CharField(allow_null=True, allow_blank=True, help_text="What the provider says answered.")
    official = Content(allow_null=True, help_text="What the published code reads in the answer.")
    repaired = Content(allow_null=True, help_text="What a careful parser reads in it.")
    official_score = serializers.FloatField(allow_null=True)
    repaired_score = serializers.FloatField(allow_null=True)
    rows_not_judged = serializers.IntegerField()
    prompt = inline_serializer(
        "MessageOut",
        {
            "role": serializers.CharField(help_text="system, user, …; data of a baseline, which reads no prompt."),
            "text": serializers.CharField(allow_blank=True),
        },
        many=True, required=False, help_text="With full: what was sent.",
    )  # fmt: skip
    content = Content(required=False, help_text="With full: what the sample shows.")
    gold = Content(required=False, help_text="With full: what it is scored against.")


class ScoreOut(serializers.Serializer):
    """Scores of one item. Of a story that you still have work to do on, that they are withheld, and nothing else."""

    model = serializers.CharField()
    step = serializers.CharField(help_text="Key of the step.")
    story_id = serializers.IntegerField(help_text="Number of the sample.")
    story_category = serializers.CharField(allow_blank=True)
    official = serializers.FloatField(allow_null=True)
    repaired = serializers.FloatField(allow_null=True)
    unreadable = serializers.CharField(allow_blank=True)
    state = serializers.CharField()
    rows_not_judged = serializers.IntegerField(allow_null=True)
    repetition = serializers.IntegerField()
    sample = serializers.CharField(help_text="Name of the sample in the file that it came from.")
    cluster = serializers.CharField()


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
        full, sort = "full" in asked, asked.get("sort", "story")
        given = {name: value for name, value in asked.items() if name not in ("sort", "full")}
        if "model" in given:
            models = dict(access.run.entrants.values_list("name", "pk"))
            if given["model"] not in models:
                raise Http404(f"The run has no model {given['model']!r}; there are {', '.join(models)}.")
            given["model"] = str(models[given["model"]])
        data = QueryDict(mutable=True)
        data.update(given)
        form = ItemFilter(data, run=access.run)  # the filters as the page's form reads them
        if not form.is_valid():
            name = next(iter(form.errors))
            raise Http404(f"The run has no {name} {given.get(name, '')!r}.")
        closed = closed_in(access.project, access.run)
        rows = items_of(access.run, form.chosen, sort, closed)
        rows = rows.select_related("sample", "entrant", "item", "call")
        rows = rows.defer("sample__votes", "sample__methods", "sample__adjudications")
        rows = rows if full else rows.defer("sample__content", "sample__gold", "call__body")
        page = self.paginate_queryset(rows)
        texts = texts_of(access.run.dataset, closed) if full else []
        return self.answer([item_data(item, full=full, closed_texts=texts) for item in page], RunItemOut)


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
