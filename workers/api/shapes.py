"""Shapes of the responses about models. Of the key there is only the name of its variable."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from workers.api.requests import EndpointIn
from workers.models import Endpoint
from workers.services.endpoints import TryState, try_state


@extend_schema_field({"type": "object", "additionalProperties": True})
class Options(serializers.DictField):
    pass


class EndpointOut(serializers.ModelSerializer):
    base_url = serializers.CharField()
    options = Options()
    price_input = serializers.DecimalField(
        12,
        6,
        source="prices.input",
        allow_null=True,
        help_text="US dollars per million tokens. Null: unknown. 0: free.",
    )
    price_output = serializers.DecimalField(
        12, 6, source="prices.output", allow_null=True, help_text="Null: unknown. 0: free."
    )
    try_state = serializers.SerializerMethodField()
    tried = Options(help_text="What the last try said, and what it showed to be supported; empty without one.")

    class Meta:
        model = Endpoint
        fields = (*EndpointIn.model_fields, "created_at", "created_by", "tried_at", "try_state", "tried")
        read_only_fields = fields

    def get_try_state(self, endpoint: Endpoint) -> serializers.ChoiceField(choices=TryState.choices):
        return try_state(endpoint).value


class LackOut(serializers.Serializer):
    count = serializers.IntegerField()
    of = serializers.IntegerField()
    commonest = serializers.CharField(help_text="The commonest reason.")
    times = serializers.IntegerField(help_text="How often it was the reason.")


class EndedOut(serializers.Serializer):
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    unreadable = serializers.IntegerField()


class CallsOut(serializers.Serializer):
    made = serializers.IntegerField()
    reused = serializers.IntegerField(help_text="Answers that the ledger had already.")


class TokensOut(serializers.Serializer):
    input = serializers.IntegerField()
    output = serializers.IntegerField()
