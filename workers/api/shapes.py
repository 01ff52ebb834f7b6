"""Shapes of bodies and responses about models and jobs. Of the key there is only the name of its variable."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from drf_spectacular.utils import extend_schema_field
from pydantic import AfterValidator, Field, field_validator
from rest_framework import serializers

from core.incoming.misfit import refusal
from core.incoming.shapes import Given, Shape, Within, may_lack
from workers.domain.pricing import FACTOR, PRICE, Dollars
from workers.models import Endpoint
from workers.providers import registry
from workers.services.endpoint_rules import BOUNDS, TEXTS
from workers.services.endpoints import TryState, try_state

_NULL_PRICE = "Null: unknown; free where nobody can send a bill (docs/models.md)."

Name = Annotated[str, TEXTS["name"]]
Model = Annotated[str, TEXTS["model"]]
Revision = Annotated[str, TEXTS["revision"]]
Family = Annotated[str, TEXTS["family"]]
Address = Annotated[str, TEXTS["base_url"]]
Variable = Annotated[str, TEXTS["api_key_env"]]
Price = Annotated[str, PRICE, AfterValidator(Decimal)]
Factor = Annotated[str, FACTOR, AfterValidator(Decimal)]


def _within(field: str) -> Any:
    """The type of a whole number within the bounds of a field."""
    return Annotated[int, Within(*BOUNDS[field], pointed=True)]


def _with_providers(described: dict[str, Any]) -> None:
    described["enum"] = registry.names()


class ActionIn(Shape):
    """Body of an action on a job."""

    budget: Dollars = Field(
        "",
        description="resume: a new hard cap in US dollars, as a string; without it the present one stays.",
    )


class EndpointIn(Given):
    """A model to be registered; only name, provider and model are needed."""

    name: Name = Field(description="What tables and commands call it.")
    provider: str = Field(json_schema_extra=_with_providers)
    model: Model = Field(description="The name that the provider knows the model by.")
    revision: Revision = may_lack()
    family: Family = may_lack()
    base_url: Address = may_lack("Empty for the provider's own address, where it has one.")
    api_key_env: Variable = may_lack(
        "The name of the environment variable that holds the key where the worker runs, ending in _API_KEY, "
        "_KEY or _TOKEN. Never the key."
    )
    options: dict[str, Any] = may_lack("Settings of the provider's own.")
    active: bool = may_lack()
    sets_temperature: bool = may_lack()
    json_schema: bool = may_lack()
    no_system_role: bool = may_lack("The system text then goes in front of the first user message.")
    batches: bool = may_lack()
    context_tokens: _within("context_tokens") = may_lack()
    reasoning_tokens: _within("reasoning_tokens") = may_lack()
    price_input: Price | None = may_lack(f"US dollars per million tokens. {_NULL_PRICE}")
    price_cached: Price | None = may_lack("Null: as input.")
    price_cache_write: Price | None = may_lack("Null: as input.")
    price_output: Price | None = may_lack(_NULL_PRICE)
    price_batch: Factor = may_lack("Factor on all prices in a batch.")
    max_concurrency: _within("max_concurrency") = may_lack()
    requests_per_minute: _within("requests_per_minute") = may_lack()
    tokens_per_minute: _within("tokens_per_minute") = may_lack()
    timeout_seconds: _within("timeout_seconds") = may_lack()
    max_attempts: _within("max_attempts") = may_lack()
    repeat_unknown: _within("repeat_unknown") = may_lack()
    retry_after_cap: _within("retry_after_cap") = may_lack()

    @field_validator("provider")
    @classmethod
    def _is_registered(cls, provider: str) -> str:
        """Raise a refusal for a provider that is not registered when the request comes."""
        names = registry.names()
        if provider not in names:
            raise refusal(f"one of {', '.join(names)}")
        return provider


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
