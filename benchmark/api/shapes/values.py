"""Values that answers of several subjects have."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

COST = "US dollars. Null where some calls have no price."


@extend_schema_field({"type": "object", "additionalProperties": True})
class Anything(serializers.JSONField):
    """An object whose fields depend on the suite."""


class Ends(serializers.ListField):
    """[low, high], or null."""

    def __init__(self, **kwargs) -> None:
        super().__init__(child=serializers.FloatField(), min_length=2, max_length=2, allow_null=True, **kwargs)
