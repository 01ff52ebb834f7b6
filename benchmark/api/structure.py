"""Structure against answers: do right answers come with a right belief structure?"""

from django.http import Http404, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.description import answers
from benchmark.access import results_access, waiting_for
from benchmark.addresses import table_named
from benchmark.api.description import NO_ACCESS, SLUG, TABLE
from benchmark.api.requests import StructureFilter
from benchmark.api.results import TABLE_ANSWERS, TableView
from benchmark.api.shapes import AbsentOut, MetricOut
from benchmark.services.structure import Association, Sides, association_of, choice_of, lacking, sides_of
from benchmark.services.structure_tables import CELLS, cut_text, tables_of, verdict_of
from core.api.errors import CannotBeDone
from core.api.fields import read_query


class CrossedOut(serializers.Serializer):
    """The number of questions by which of structure and answer is right."""

    model = serializers.CharField()
    both = serializers.IntegerField()
    structure = serializers.IntegerField(help_text="Structure right, answer wrong.")
    answer = serializers.IntegerField(help_text="Answer right, structure wrong.")
    neither = serializers.IntegerField()
    stories = serializers.IntegerField()
    difference = MetricOut(help_text="Right answers given right structure, less those given wrong structure.")


class StructureOut(serializers.Serializer):
    """Structure against answers, over stories with the very same text."""

    measure = serializers.CharField()
    measures = serializers.ListField(child=serializers.CharField(), help_text="All that can be chosen.")
    right = serializers.CharField(help_text="Which structures are right.")
    cut = serializers.FloatField(help_text="A fraction.")
    finding = serializers.CharField(help_text="Whether structure predicts answers beyond category.")
    how = serializers.CharField(allow_blank=True)
    models = CrossedOut(many=True, help_text="All models together first, where there are several.")
    absent = AbsentOut(many=True)
    method = serializers.CharField()
    tables = serializers.ListField(child=serializers.CharField())


def _chosen(request: Request, slug: str) -> tuple[Sides, Association]:
    asked = {name: str(value) for name, value in read_query(request, StructureFilter).items()}
    access = results_access(request.user, slug)
    sides = sides_of(access.project)
    if need := lacking(sides):
        raise Http404(need)
    models = [asked.pop("model")] if "model" in asked else []
    choice, problem = choice_of(sides, asked, models)
    if problem:
        raise CannotBeDone({"cut": [problem]})
    association = association_of(sides, choice)
    if waiting := waiting_for(access, association.stories):
        raise PermissionDenied(waiting)
    if not association.tables:
        raise Http404("No chosen model has figures of both for a common story.")
    return sides, association


class Structure(GenericAPIView):
    @extend_schema(
        operation_id="structure_read",
        tags=["runs"],
        parameters=[SLUG, StructureFilter],
        responses=answers(StructureOut, 400, 403, 422, why=NO_ACCESS),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Whether right answers come with a right belief structure, model by model, and the names of the tables. 404
        where no model has both structures and answers about the same stories."""
        sides, association = _chosen(request, slug)
        finding, how = verdict_of(association)
        body = {
            "measure": association.choice.measure.key,
            "measures": [measure.key for measure in sides.measures],
            "right": cut_text(association),
            "cut": association.cut,
            "finding": finding,
            "how": how,
            "models": [
                {"model": model, "stories": table.stories, "difference": table.difference}
                | dict(zip(CELLS, table.cells, strict=True))
                for model, table in association.tables.items()
            ],
            "absent": association.absent,
            "method": association.method,
            "tables": list(tables_of(association)),
        }
        return Response(StructureOut(body).data)


class StructureTable(TableView):
    @extend_schema(
        operation_id="structure_tables_read",
        tags=["runs"],
        parameters=[SLUG, TABLE, StructureFilter],
        responses=TABLE_ANSWERS,
    )
    def get(self, request: Request, slug: str, table: str) -> HttpResponse:
        """A table of structure against answers, by its name: JSON, or a file with `format=csv` or `format=tex`."""
        _, association = _chosen(request, slug)
        return self.file(request, table_named(tables_of(association), table), f"{slug}-structure-{table}")
