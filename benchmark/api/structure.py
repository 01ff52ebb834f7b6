"""Structure against answers: do right answers come with a right belief structure?"""

from __future__ import annotations

from django.http import Http404, HttpResponse
from drf_spectacular.utils import extend_schema
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
from benchmark.api.shapes.results import StructureOut
from benchmark.services.structure import Association, association_of
from benchmark.services.structure_choice import choice_of, lacking
from benchmark.services.structure_sides import Sides, sides_of
from benchmark.services.structure_tables import cut_text, tables_of, verdict_of
from core.api.errors import CannotBeDone
from core.api.fields import read_query


def _chosen(request: Request, slug: str) -> tuple[Sides, Association]:
    asked = {name: str(value) for name, value in read_query(request, StructureFilter).items()}
    access = results_access(request.user, slug)
    sides = sides_of(access.project)
    if why := lacking(sides, access.project):
        raise Http404(why.message)
    models = [asked.pop("model")] if "model" in asked else []
    choice, problems = choice_of(sides, asked, models)
    if problems:
        raise CannotBeDone({"cut": problems})
    association = association_of(sides, choice)
    if waiting := waiting_for(access, association.stories):
        raise PermissionDenied(waiting)
    if association.metrics is None:
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
        assert association.metrics is not None
        verdict = verdict_of(association)
        body = {
            "measure": association.choice.measure.key,
            "measures": [measure.key for measure in sides.measures],
            "right": cut_text(association),
            "cut": association.cut,
            "finding": verdict.finding,
            "how": verdict.how,
            "models": [
                {"model": model, **dict(zip(("both", "structure", "answer", "neither"), table.cells, strict=True))}
                | {"stories": table.stories, "difference": table.difference}
                for model, table in association.metrics.tables.items()
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
