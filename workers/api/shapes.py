"""Shapes of bodies and responses about models and jobs. Of the key there is only the name of its variable."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from django.db.models import Field
from drf_spectacular.utils import extend_schema_field
from pydantic import AfterValidator, create_model
from pydantic import Field as PydanticField
from rest_framework import serializers

from core.incoming.misfit import refusal
from core.incoming.shapes import Given, Shape, Within, may_lack
from workers.domain.pricing import Dollars
from workers.models import Endpoint
from workers.providers import registry
from workers.services.endpoint_rules import AMOUNTS, BOUNDS, SWITCHES, TEXTS
from workers.services.endpoints import TryState, try_state


class ActionIn(Shape):
    """Body of an action on a job."""

    budget: Dollars = PydanticField(
        "", description="resume: a new hard cap in US dollars, as a string; without it the present one stays."
    )


def _type_of(field: Field[Any, Any]) -> Any:
    """Return the type of a field of a model in a body, with its bounds."""
    if field.name in TEXTS:
        return Annotated[str, TEXTS[field.name]]
    if field.name in AMOUNTS:
        amount = Annotated[str, AMOUNTS[field.name], AfterValidator(Decimal)]
        return amount | None if field.null else amount
    if field.name in BOUNDS:
        return Annotated[int, Within(*BOUNDS[field.name], pointed=True)]
    return dict[str, Any] if field.name == "options" else bool


def _registered(provider: str) -> str:
    """Raise a refusal for a provider that is not registered when the request comes."""
    if provider not in registry.names():
        raise refusal(f"one of {', '.join(registry.names())}")
    return provider


def _with_providers(described: dict[str, Any]) -> None:
    described["enum"] = registry.names()


_NAMES = (*TEXTS, *AMOUNTS, *BOUNDS, *SWITCHES, "options")
_FIELDS: dict[str, Any] = {
    field.name: (_type_of(field), may_lack(str(field.help_text)))
    for field in Endpoint._meta.fields
    if field.name in _NAMES
} | {"provider": (Annotated[str, AfterValidator(_registered)], PydanticField(json_schema_extra=_with_providers))}
for _name in ("name", "model"):
    _FIELDS[_name] = (_FIELDS[_name][0], PydanticField(description=_FIELDS[_name][1].description))
EndpointIn = create_model(
    "EndpointIn",
    __base__=Given,
    __doc__="A model to be registered; only name, provider and model are needed.",
    **_FIELDS,
)


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

    @extend_schema_field(serializers.ChoiceField(choices=TryState.choices))
    def get_try_state(self, endpoint: Endpoint) -> str:
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
