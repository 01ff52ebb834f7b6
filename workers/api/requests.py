"""What a request to register a model carries. What the values mean is checked where the page's form is checked too."""

from __future__ import annotations

from decimal import Decimal

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from core.api.fields import Choice, Matching, Pattern, Strict, Truth, Whole
from workers.providers import registry
from workers.services.endpoint_rules import BOUNDS

NAME = r"^[-a-zA-Z0-9_]{1,60}$"
VARIABLE = r"^[A-Z_][A-Z0-9_]*$"
ADDRESS = r"^https?://[!-~]+$"
LINE = r"^[^\u0000-\u001f\u007f]+$"
PRICE, FACTOR = r"^[0-9]{1,6}(\.[0-9]{1,6})?$", r"^[0-9](\.[0-9]{1,3})?$"
_NO_KEY = "The name of an environment variable is expected, in capitals, never the key itself."
_NOBODY_KNOWS = "Null: unknown; free where nobody can send a bill (docs/models.md)."
_NO_NUMBER = 'A number of US dollars as a string is expected, such as "0.15".'


class Line(Matching):
    def __init__(self, **options) -> None:
        super().__init__(LINE, trim_whitespace=False, **options)


class Price(Pattern):
    """A decimal number as a string, so that nothing is rounded on its way."""

    def __init__(self, pattern: str = PRICE, **options) -> None:
        super().__init__(
            pattern,
            **{
                "trim_whitespace": False,
                "required": False,
                "allow_null": True,
                "error_messages": {"invalid": _NO_NUMBER},
            }
            | options,
        )

    def to_internal_value(self, data) -> Decimal:
        return Decimal(super().to_internal_value(data))


class Count(Whole):
    """A whole number within the bounds of the field `of`."""

    def __init__(self, of: str, **options) -> None:
        low, high = BOUNDS[of]
        super().__init__(required=False, min_value=low, max_value=high, **options)


@extend_schema_field({"type": "object", "additionalProperties": True})
class Options(serializers.DictField):
    pass


class ProviderName(Choice):
    """One of the providers that are registered when the request comes."""

    def __init__(self, **options) -> None:
        super().__init__([(one.name, one.label) for one in registry.registered()], **options)


class NothingIn(Strict):
    """An empty object."""


class EndpointIn(Strict):
    """A model to be registered; only name, provider and model are needed."""

    name = Pattern(NAME, trim_whitespace=False, help_text="What tables and commands call it.")
    provider = ProviderName()
    model = Line(max_length=200, help_text="The name that the provider knows the model by.")
    revision = Line(max_length=100, required=False, allow_blank=True)
    family = Line(max_length=60, required=False, allow_blank=True)
    base_url = Pattern(
        ADDRESS,
        max_length=300,
        trim_whitespace=False,
        required=False,
        allow_blank=True,
        help_text="Empty for the provider's own address.",
    )
    api_key_env = Pattern(
        VARIABLE,
        max_length=100,
        trim_whitespace=False,
        required=False,
        allow_blank=True,
        error_messages={"invalid": _NO_KEY},
        help_text=(
            "The name of the environment variable that holds the key where the worker runs, ending in _API_KEY, _KEY or "
            "_TOKEN. Never the key."
        ),
    )
    options = Options(required=False, help_text="Settings of the provider's own.")
    active = Truth(required=False)
    sets_temperature = Truth(required=False)
    json_schema = Truth(required=False)
    batches = Truth(required=False)
    context_tokens = Count("context_tokens")
    reasoning_tokens = Count("reasoning_tokens")
    price_input = Price(help_text=f"US dollars per million tokens. {_NOBODY_KNOWS}")
    price_cached = Price(help_text="Null: as input.")
    price_cache_write = Price(help_text="Null: as input.")
    price_output = Price(help_text=_NOBODY_KNOWS)
    price_batch = Price(FACTOR, allow_null=False, help_text="Factor on all prices in a batch.")
    max_concurrency = Count("max_concurrency")
    requests_per_minute = Count("requests_per_minute")
    tokens_per_minute = Count("tokens_per_minute")
    timeout_seconds = Count("timeout_seconds")
    max_attempts = Count("max_attempts")
    repeat_unknown = Count("repeat_unknown")
    retry_after_cap = Count("retry_after_cap")
