"""Shapes of answers about versions: they are named by their number."""

from rest_framework import serializers

from benchmark.api.shapes.values import Anything
from benchmark.models import Dataset


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


class CopyFileOut(serializers.Serializer):
    name = serializers.CharField()
    holds = serializers.CharField()
    optional = serializers.BooleanField(help_text="Whether it may be missing.")


class CopySourceOut(serializers.Serializer):
    """Where users get a copy of a benchmark, and what of it is read."""

    publisher = serializers.CharField()
    address = serializers.CharField()
    folder = serializers.CharField(allow_blank=True, help_text="The folder there that has the files.")
    licence = serializers.CharField(help_text="The terms of use, in our own words.")
    checked = serializers.CharField(help_text="What a copy is held against.")
    files = CopyFileOut(many=True)


class BenchmarkOut(serializers.Serializer):
    """A benchmark whose copies become datasets."""

    suite = serializers.CharField(source="name")
    title = serializers.CharField()
    source = CopySourceOut(source="copied.source", allow_null=True)


class StepOut(serializers.Serializer):
    key = serializers.CharField()
    label = serializers.CharField()
    judged = serializers.BooleanField(help_text="Whether the judge is asked.")


class SettingOut(serializers.Serializer):
    """Something that the launch of a run lets choose, under `options`."""

    name = serializers.CharField()
    label = serializers.CharField()
    default = serializers.JSONField()
    choices = serializers.ListField(child=serializers.JSONField(), help_text="Empty where anything of its type can be.")


class AskedOut(serializers.Serializer):
    """The choices of a run on the version."""

    suite = serializers.CharField()
    title = serializers.CharField()
    steps = StepOut(many=True)
    settings = SettingOut(many=True)


class DatasetDetailOut(DatasetOut):
    origin = serializers.SerializerMethodField(
        help_text="Title, licence, files with their digests, options, and the problems of a copy."
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

    def get_origin(self, dataset: Dataset) -> Anything:
        return dataset.origin
