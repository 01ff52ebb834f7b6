"""Versions of a project's gold and imported copies: what runs are on."""

from typing import Any

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access
from annotation.api.description import answers
from annotation.models import Role
from benchmark.access import dataset_of
from benchmark.api.description import SLUG, VERSION
from benchmark.api.shapes import Anything
from benchmark.models import Dataset
from benchmark.services.datasets import samples_by
from benchmark.suites.registry import suites, suites_of
from core.api.fields import Strict, read_query
from core.api.listing import Listing


class DatasetOut(serializers.ModelSerializer):
    """A version: samples that no longer change."""

    suite = serializers.CharField(
        allow_blank=True, help_text="The suite that an imported copy is of; empty for published gold."
    )
    samples = serializers.IntegerField(source="stories_count")
    propositions = serializers.IntegerField(source="propositions_count")
    left_out = serializers.IntegerField(help_text="Stories with a table whose cells were not all settled.")
    methods = serializers.DictField(
        child=serializers.IntegerField(), help_text="Cells by how they were settled; empty for an imported copy."
    )
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)
    runs = serializers.IntegerField(source="runs_count", help_text="How many runs are on it.")

    class Meta:
        model = Dataset
        fields: tuple[str, ...] = (
            "version", "title", "suite", "digest", "samples", "propositions", "left_out", "methods", "schema_name",
            "schema_version", "rule_version", "note", "created_at", "created_by", "runs",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields

    title = serializers.CharField(allow_blank=True, help_text="What an imported copy is of.")


class BenchmarkOut(serializers.Serializer):
    """A benchmark whose copies become datasets."""

    suite = serializers.CharField(source="name")
    title = serializers.CharField()
    source = inline_serializer(
        "CopySourceOut",
        {
            "publisher": serializers.CharField(),
            "address": serializers.CharField(),
            "folder": serializers.CharField(allow_blank=True, help_text="The folder there that has the files."),
            "licence": serializers.CharField(help_text="The terms of use, in our own words."),
            "checked": serializers.CharField(help_text="What a copy is compared with."),
            "files": inline_serializer(
                "CopyFileOut",
                {
                    "name": serializers.CharField(),
                    "holds": serializers.CharField(),
                    "optional": serializers.BooleanField(help_text="Whether it may be missing."),
                },
                many=True,
            ),
        },
        source="copied.source",
        allow_null=True,
        help_text="Where users get a copy of a benchmark, and what of it is read.",
    )


class AskedOut(serializers.Serializer):
    """The choices of a run on the version."""

    suite = serializers.CharField()
    title = serializers.CharField()
    steps = inline_serializer(
        "StepOut",
        {
            "key": serializers.CharField(),
            "label": serializers.CharField(),
            "judged": serializers.BooleanField(help_text="Whether the judge is asked."),
        },
        many=True,
    )
    settings = inline_serializer(
        "SettingOut",
        {
            "name": serializers.CharField(),
            "label": serializers.CharField(),
            "default": serializers.JSONField(),
            "choices": serializers.ListField(
                child=serializers.JSONField(), help_text="Empty where anything of its type can be."
            ),
        },
        many=True,
        help_text="What the launch of a run lets choose, under `options`.",
    )


class DatasetDetailOut(DatasetOut):
    origin = Anything(
        read_only=True, help_text="Title, licence, files with their digests, options, and the problems of a copy."
    )
    splits = serializers.DictField(child=serializers.IntegerField(), help_text="Samples by split.")
    categories = serializers.DictField(child=serializers.IntegerField(), help_text="Samples by category.")
    suites = serializers.ListField(
        child=serializers.CharField(),
        help_text="Names of the suites that can ask about it: of published gold there may be several.",
    )
    asked = AskedOut(allow_null=True, help_text="Of the first of its suites; null where there is none any more.")

    class Meta(DatasetOut.Meta):
        fields = (*DatasetOut.Meta.fields, "origin", "splits", "categories", "suites", "asked")
        read_only_fields = fields


class Datasets(Listing):
    @extend_schema(
        operation_id="datasets_list",
        tags=["runs"],
        parameters=[SLUG],
        responses=answers(DatasetOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Published versions of the gold and imported copies, the newest first. Experts and admins."""
        access = project_access(request.user, slug, role=Role.EXPERT)
        read_query(request, Strict)
        rows = Dataset.objects.filter(project=access.project).select_related("created_by")
        return self.page(rows.counting_runs().order_by("-version"), DatasetOut)


class Benchmarks(GenericAPIView):
    pagination_class = None  # as many as there are suites

    @extend_schema(
        operation_id="benchmarks_list",
        tags=["runs"],
        parameters=[SLUG],
        responses=answers(BenchmarkOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Benchmarks whose copies become datasets: where users get one, which files are read, under which terms.
        Experts and admins."""
        project_access(request.user, slug, role=Role.EXPERT)
        read_query(request, Strict)
        importable = [suite for suite in suites().values() if suite.copied.load]
        return Response(BenchmarkOut(importable, many=True).data)


class OneDataset(GenericAPIView):
    @extend_schema(
        operation_id="datasets_read",
        tags=["runs"],
        parameters=[SLUG, VERSION],
        responses=answers(DatasetDetailOut, 403),
    )
    def get(self, request: Request, slug: str, version: int) -> Response:
        """A version with its origin, its splits and categories, and what a run on it lets choose. Experts and
        admins."""
        dataset: Any = dataset_of(project_access(request.user, slug, role=Role.EXPERT), version)
        dataset.runs_count = dataset.runs.originals().count()
        dataset.splits, dataset.categories = (samples_by(dataset, name) for name in ("split", "category"))
        able = suites_of(dataset.suite, dataset.schema)
        suite = able[0] if able else None
        dataset.suites, dataset.asked = [each.name for each in able], None
        if suite:
            settings = [
                {
                    "name": setting.name,
                    "label": setting.label,
                    "default": setting.default,
                    "choices": [choice for choice, _ in setting.choices],
                }
                for setting in suite.settings
            ]
            dataset.asked = {"suite": suite.name, "title": suite.title, "steps": suite.launched, "settings": settings}
        return Response(DatasetDetailOut(dataset).data)
