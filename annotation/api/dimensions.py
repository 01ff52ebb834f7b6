"""Dimensions and labels in requests: checked against the schema of the project, described as those of the reader's own
projects."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema

from annotation.domain.schema import Schema
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.forms.votes import DIMENSION_HELP, DIMENSION_KEY
from annotation.models import Project, schema_of
from core.api.bodies import ShapeBody
from core.api.fields import Pattern


class DimensionKey(Pattern):
    """A dimension of the schema in the serializer's context."""

    default_error_messages = {
        "unknown": "{dimension!r} is not a dimension of this project; expected one of {expected}."
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(DIMENSION_KEY, help_text=DIMENSION_HELP, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        key, schema = super().to_internal_value(data), self.context["schema"]
        if key not in schema:
            self.fail("unknown", dimension=key, expected=", ".join(schema.keys))
        return key


def labels_of(schemas: Iterable[Schema]) -> list[str]:
    """Return every label of any dimension, each once, in order of spelling."""
    return sorted({label for schema in schemas for dimension in schema.dimensions for label in dimension.values})


def dimensions_of(schemas: Iterable[Schema]) -> dict[str, tuple[str, list[str]]]:
    """Return name and labels by key of every dimension; where schemas have different ones of a key, the labels of
    all."""
    labels_by_key: dict[str, tuple[str, list[str]]] = {}
    for dimension in chain.from_iterable(schema.dimensions for schema in schemas):
        name, labels = labels_by_key.get(dimension.key, (dimension.name, []))
        labels_by_key[dimension.key] = name, list(dict.fromkeys([*labels, *dimension.values]))
    return labels_by_key


def described_schemas(auto_schema: AutoSchema) -> list[Schema]:
    """Return the schemas of the projects of whoever reads the description; the default one for somebody without one,
    and for a command."""
    user = getattr(getattr(auto_schema.view, "request", None), "user", None)
    if user is None or not user.is_authenticated:
        return [DEFAULT_SCHEMA]
    named = Project.objects.visible_to(user).order_by("schema_name", "schema_version")
    references = named.values_list("schema_name", "schema_version").distinct()
    return [schema_of(*reference) for reference in references] or [DEFAULT_SCHEMA]


class _DescribedDimension(OpenApiSerializerFieldExtension):
    target_class = DimensionKey

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        return {
            "type": "string",
            "enum": list(dimensions_of(described_schemas(auto_schema))),
            "description": DIMENSION_HELP,
        }


class _DescribedChanges(ShapeBody):
    """One alternative a dimension, each with its own labels."""

    target_class = "annotation.forms.votes.ChangesIn"
    priority = 2

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        described = self.target.described()
        change = described["properties"]["changes"]["items"]
        alternatives = []
        for key, (name, labels) in dimensions_of(described_schemas(auto_schema)).items():
            properties = change["properties"] | {
                "dimension": {"type": "string", "const": key},
                "label": {"type": "string", "enum": ["", *labels]},
            }
            alternatives.append(change | {"title": name, "properties": properties})
        described["properties"]["changes"]["items"] = {"oneOf": alternatives}
        return described


class _DescribedDecision(ShapeBody):
    target_class = "annotation.api.gold.DecisionIn"
    priority = 2

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        described = self.target.described()
        described["properties"]["label"]["enum"] = labels_of(described_schemas(auto_schema))
        return described
