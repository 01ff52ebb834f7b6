"""Values that answers of several subjects have."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

COST = "US dollars. Null where some calls have no price."


@extend_schema_field({"type": "object", "additionalProperties": True})
class Anything(serializers.JSONField):
    """An object whose fields depend on the suite."""
