"""Checks of options by name and type: a misspelt one must not look like a setting that was followed.

Each provider's description says which there are.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from core.messages import Sentence, gettext_noop
from workers.providers.contract import Body, Options
from workers.providers.errors import Rejected

KnownOptions = Mapping[str, tuple[type, ...]]
Fields = Mapping[str, Any]
"""Fields of a request that go to a server as they are, or of an object among them: which there are only the server
knows."""
CHAT: KnownOptions = {"max_tokens_field": (str,), "reasoning_effort": (str,), "seed": (bool,), "extra_body": (dict,)}
"""Options of whatever is asked by OpenAI's chat completions."""
BATCHED: KnownOptions = {"batch_poll_seconds": (float, int)}
"""Options of a provider that has a batch form."""
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""Names under which servers know the limit of an answer."""
OUR_OWN = frozenset({"model", "messages", "stream", "stream_options"})
COSTLY: dict[str, tuple[str, ...]] = {
    "more answers, or longer ones": (
        "n", "n_cmpl", "best_of", "num_return_sequences", "candidate_count", "use_beam_search", "num_beams", *LIMITS,
        "max_new_tokens",
        "max_tokens_to_sample", "max_length", "num_predict", "n_predict", "generation_config", "prediction",
        "modalities", "audio",
    ),
    "tools, searches and what they find": (
        "tools", "tool_choice", "functions", "function_call", "parallel_tool_calls", "tool_resources", "mcp_servers",
        "plugins",
        "connectors", "data_sources", "web_search", "web_search_options", "enable_search", "use_search",
        "search_options",
        "search_parameters", "search_settings", "enable_deep_search", "enable_code_interpreter", "compound_custom",
    ),
    "another tariff": ("service_tier", "speed", "inference_geo", "performance_config"),
    "other models, hosts or repeats": (
        "models", "route", "preset", "fallbacks", "context_window_fallbacks", "content_policy_fallbacks", "num_retries",
        "max_retries",
        "provider_options", "extra_body",
    ),
}  # fmt: skip
"""Fields that make a call cost more than was reserved for it, by what they ask for. docs/models.md lists them, too."""
PROVIDER = "provider"
"""A router's choice of hosts, each with prices of its own: taken with a highest price alone."""
_NESTS = ("options", "parameters")
"""Objects in which servers take the same fields again."""
_THINKING = (
    "thinking_budget", "budget_tokens", "thinking_budget_tokens", "thinking_token_budget", "max_thinking_tokens",
    "reasoning_budget",
    "max_reasoning_tokens",
)  # fmt: skip
"""How many tokens a model may think for, wherever that is said; `reasoning` says it as max_tokens."""


def check_options(options: Options, allowed: KnownOptions) -> None:
    """Raise Rejected for an unknown option, or one of the wrong type."""
    for name, value in options.items():
        if name not in allowed:
            way_out = gettext_noop(" Other fields of a request go into extra_body.") if "extra_body" in allowed else ""
            raise Rejected(
                Sentence(
                    "There is no option {name}; there are {allowed}.{way_out}",
                    name=repr(name),
                    allowed=", ".join(allowed) or "none",
                    way_out=way_out,
                )
            )
        if type(value) not in allowed[name]:  # not isinstance: true is not a number of GPUs
            raise Rejected(
                Sentence(
                    "The option {name} wants {type}, not {value}.",
                    name=name,
                    type=allowed[name][0].__name__,
                    value=repr(value),
                )
            )
    check_limits(options)


def check_limits(options: Options) -> None:
    """Raise Rejected for options that would let a call cost more than is reserved for it."""
    limit = options.get("max_tokens_field") or LIMITS[0]
    if limit not in LIMITS:
        raise Rejected(
            Sentence(
                "The option max_tokens_field is {limit}; expected {first} or {last}.",
                limit=repr(limit),
                first=", ".join(LIMITS[:-1]),
                last=LIMITS[-1],
            )
        )
    check_extra_body(options.get("extra_body", {}))


def check_extra_body(fields: Fields) -> None:
    """Raise Rejected for a field that a call's reserved money does not cover, or that each call sets itself."""
    for name, value in fields.items():
        plain = _plain(name)
        inner = value if plain in _NESTS and isinstance(value, Mapping) else {}
        for field, path in [(plain, name), *((_plain(key), f"{name}.{key}") for key in inner)]:
            if field in _ASKS:
                raise _too_costly(path, _ASKS[field])
        if plain in _OWN:
            raise Rejected(
                Sentence(
                    "extra_body cannot set {name}: each call says that itself. Leave the field out.", name=repr(name)
                )
            )
    highest_prices(fields)


def highest_prices(fields: Fields) -> tuple[Decimal, Decimal] | None:
    """Return the dollars per million tokens of input and output up to which a router may choose a host, None without a
    choice of hosts.

    Raises Rejected for a choice without such a limit.
    """
    choices = [value for name, value in fields.items() if _plain(name) == PROVIDER]
    if not choices:
        return None
    limits = choices[0].get("max_price") if isinstance(choices[0], Mapping) and len(choices) == 1 else None
    prompt, completion = (_price(limits, name) for name in ("prompt", "completion"))
    if prompt is None or completion is None:
        raise Rejected(
            gettext_noop(
                "extra_body's provider lets a router choose hosts of other prices. Add max_price to it, "
                "with numbers for "
                "prompt and completion (dollars per million tokens) that are not above the model's prices, or leave "
                "provider out."
            )
        )
    return prompt, completion


def _price(limits: object, name: str) -> Decimal | None:
    price = limits.get(name) if isinstance(limits, Mapping) else None
    if isinstance(price, bool) or not isinstance(price, int | float):
        return None
    return Decimal(str(price)) if price >= 0 else None


def whole(body: Body) -> Body:
    """Return a body as it is sent, with the fields in `extra_body`. Raises Rejected for fields that cost more."""
    extra: Fields = body.get("extra_body", {})
    check_extra_body(extra)
    reserved = max((body[name] for name in LIMITS if name in body), default=0)
    if over := next((name for name, most in _budgets(extra) if reserved and most > reserved), ""):
        raise _too_costly(over, gettext_noop("more thinking than the longest answer"))
    return {**{name: value for name, value in body.items() if name != "extra_body"}, **extra}


def _plain(name: str) -> str:
    """Return a field's name in one spelling: servers write max_new_tokens and maxNewTokens."""
    return name.strip().lower().replace("_", "").replace("-", "")


_OWN = frozenset(map(_plain, OUR_OWN))
_ASKS = {_plain(name): asked for asked, names in COSTLY.items() for name in names}
_BUDGETS = frozenset(map(_plain, _THINKING))


def _too_costly(name: str, asked: str) -> Rejected:
    return Rejected(
        Sentence(
            "extra_body cannot set {name}: a call could cost more than is reserved for it ({asked}). "
            "Leave the field out.",
            name=repr(name),
            asked=asked,
        )
    )


def _budgets(fields: Fields, path: str = "") -> Iterator[tuple[str, float]]:
    for name, value in fields.items():
        here = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from _budgets(value, here)
        elif isinstance(value, int | float) and (_plain(name) in _BUDGETS or here == "reasoning.max_tokens"):
            yield here, value
