from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.renderers import SafeDumper  # type: ignore[attr-defined]  # imported there as its own choice

from core.api.fields import Strict
from core.messages import Sentence

SafeDumper.add_representer(Sentence, lambda dumper, sentence: dumper.represent_str("".join(sentence)))


class StrictBody(OpenApiSerializerExtension):
    """Unknown names are refused, and the description says so."""

    target_class = Strict
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        return auto_schema._map_serializer(self.target, direction, bypass_extensions=True) | {
            "additionalProperties": False
        }


class Described(AutoSchema):
    def _get_request_body(self, direction: str = "request") -> dict[str, Any] | None:
        """A body that an operation describes must be sent."""
        body = super()._get_request_body(direction)  # type: ignore[no-untyped-call]  # drf-spectacular's
        return body and {**body, "required": True}
