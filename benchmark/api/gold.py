"""Gold of a published version: the effect of suggestions and adjudication on it and on scores, and doubtful labels."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.description import answers
from annotation.models import Role
from benchmark.access import results_access
from benchmark.addresses import ChosenGold, chosen_doubts, chosen_gold, readable, table_named
from benchmark.api.description import NO_ACCESS, SLUG, TABLE
from benchmark.api.requests import DoubtfulGoldFilter, GoldKindsFilter
from benchmark.api.results import TABLE_ANSWERS, TableView
from benchmark.services.doubtful_gold import doubtful_table
from benchmark.services.gold_kind_tables import tables_of
from core.api.fields import read_query


class DoubtfulGold(TableView):
    @extend_schema(
        operation_id="doubtful_gold_read", tags=["runs"], parameters=[SLUG, DoubtfulGoldFilter], responses=TABLE_ANSWERS
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """Gold labels of a published version that good models of several families agree against, the least credible
        first, for experts: JSON, or a file with `format=csv` or `format=tex`. Labels stand in a row once an expert has
        looked at it again."""
        asked = {name: str(value) for name, value in read_query(request, DoubtfulGoldFilter).items()}
        chosen = readable(chosen_doubts(asked, results_access(request.user, slug, role=Role.EXPERT)))
        return self.file(request, doubtful_table(chosen.gold, chosen.dataset.schema), f"{slug}-doubtful-gold")


class GoldKindsOut(serializers.Serializer):
    """What a published version keeps of how its labels came about, and the tables of it."""

    version = serializers.IntegerField()
    versions = serializers.ListField(child=serializers.IntegerField(), help_text="Versions that models labelled.")
    dimensions = serializers.ListField(child=serializers.CharField())
    models = serializers.ListField(child=serializers.CharField())
    stories = serializers.IntegerField(help_text="Stories that all of the models were asked about.")
    cells = serializers.DictField(child=serializers.IntegerField(), help_text="Cells by kind of gold.")
    stories_with_votes = serializers.IntegerField()
    stories_with_imported_votes = serializers.IntegerField(
        help_text="Stories with imported votes, which are not known to be blind."
    )
    votes_not_known_to_be_blind = serializers.IntegerField()
    cells_with_suggestion = serializers.IntegerField()
    method = serializers.CharField()
    tables = serializers.ListField(child=serializers.CharField())


def _chosen(request: Request, slug: str) -> ChosenGold:
    asked = {name: str(value) for name, value in read_query(request, GoldKindsFilter).items()}
    return readable(chosen_gold(asked, results_access(request.user, slug)))


class GoldKinds(GenericAPIView):
    @extend_schema(
        operation_id="gold_kinds_read",
        tags=["runs"],
        parameters=[SLUG, GoldKindsFilter],
        responses=answers(GoldKindsOut, 400, 403, why=NO_ACCESS),
    )
    def get(self, request: Request, slug: str) -> Response:
        """How the labels of a published version came about, and the names of the tables of what models score on each
        kind. 404 where no finished run labelled the version."""
        chosen = _chosen(request, slug)
        metrics, kept = chosen.metrics, chosen.metrics.provenance
        body = {
            "version": chosen.dataset.version,
            "versions": [dataset.version for dataset in chosen.datasets],
            "dimensions": metrics.keys,
            "models": metrics.models,
            "stories": len(metrics.cells.stories),
            "cells": {kind.value: count for kind, count in metrics.kinds.items()},
            "stories_with_votes": kept["voted"],
            "stories_with_imported_votes": kept["imported"],
            "votes_not_known_to_be_blind": kept["unknown"],
            "cells_with_suggestion": kept["suggested"],
            "method": metrics.method,
            "tables": list(tables_of(metrics)),
        }
        return Response(GoldKindsOut(body).data)


class GoldKindsTable(TableView):
    @extend_schema(
        operation_id="gold_kinds_tables_read",
        tags=["runs"],
        parameters=[SLUG, TABLE, GoldKindsFilter],
        responses=TABLE_ANSWERS,
    )
    def get(self, request: Request, slug: str, table: str) -> HttpResponse:
        """A table of how gold was made, by its name: JSON, or a file with `format=csv` or `format=tex`."""
        chosen = _chosen(request, slug)
        named = table_named(tables_of(chosen.metrics, chosen.dimension), table)
        return self.file(request, named, f"{slug}-gold-{table}")
