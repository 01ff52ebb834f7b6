"""Checking options by name and type: what is misspelt must not look like a setting that was followed.

Which there are, each provider says in its description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workers.providers.errors import Rejected

Known = Mapping[str, tuple[type, ...]]
CHAT: Known = {"max_tokens_field": (str,), "reasoning_effort": (str,), "extra_body": (dict,)}
"""Options of whatever is asked by OpenAI's chat completions."""
BATCHED: Known = {"batch_poll_seconds": (float, int)}
"""Options of a provider that has a batch form."""
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""Names under which servers know the longest answer."""
OUR_OWN = frozenset({"model", "messages", "stream", "stream_options"})
COSTLY = frozenset({
    *LIMITS, "n", "best_of", "use_beam_search", "tools", "tool_choice", "functions", "function_call", "parallel_tool_calls",
    "web_search_options", "plugins", "service_tier", "modalities", "audio", "models", "route", "extra_body", "max_new_tokens",
    "max_tokens_to_sample", "maxoutputtokens", "num_predict", "candidate_count", "candidatecount", "generation_config",
    "generationconfig", "search_parameters", "enable_search", "search_options", "prediction",
})  # fmt: skip
"""Fields that make a call cost more than was reserved for it: more answers, longer ones, tools, another tariff, another model."""
_NESTS = ("options", "parameters")
"""Objects in which servers take the same fields again."""
_THINKING = {"thinking_budget", "thinkingbudget", "budget_tokens", "max_thinking_tokens", "reasoning_budget"}
"""How many tokens a model may think for, wherever that is said; `reasoning` says it as max_tokens."""


def check_options(options: Mapping[str, Any], known: Known) -> None:
    """Raises Rejected for an option that is not known or of the wrong type."""
    for name, value in options.items():
        if name not in known:
            way_out = " Other fields of a request go into extra_body." if "extra_body" in known else ""
            raise Rejected(f"There is no option {name!r}; there are {', '.join(known) or 'none'}.{way_out}")
        if type(value) not in known[name]:  # not isinstance: true is no number of GPUs
            raise Rejected(f"The option {name} wants {known[name][0].__name__}, not {value!r}.")
    check_limits(options)


def check_limits(options: Mapping[str, Any]) -> None:
    """Raises Rejected for options that would let a call cost more than is reserved for it."""
    limit = options.get("max_tokens_field") or LIMITS[0]
    if limit not in LIMITS:
        raise Rejected(f"The option max_tokens_field is {limit!r}; expected {', '.join(LIMITS[:-1])} or {LIMITS[-1]}.")
    check_extra_body(options.get("extra_body", {}))


def check_extra_body(fields: Mapping[str, Any]) -> None:
    """Raises Rejected for a field that a call's reserved money does not cover, or that is said elsewhere."""
    for name in fields:
        plain = _plain(name)
        inner = fields[name] if plain in _NESTS and isinstance(fields[name], Mapping) else {}
        costly = name if plain in COSTLY else next((f"{name}.{one}" for one in inner if _plain(one) in COSTLY), "")
        if costly:
            raise _too_costly(costly)
        if plain in OUR_OWN:
            raise Rejected(f"extra_body cannot set {name!r}: each call says that itself. Leave the field out.")


def whole(body: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent: `extra_body` is no field of a request but holds some. Raises Rejected."""
    extra = body.get("extra_body", {})
    check_extra_body(extra)
    reserved = max((body[name] for name in LIMITS if name in body), default=0)
    if over := next((name for name, most in _budgets(extra) if reserved and most > reserved), ""):
        raise _too_costly(over)
    return {name: value for name, value in body.items() if name != "extra_body"} | extra


def _plain(name: str) -> str:
    return name.strip().lower()


def _too_costly(name: str) -> Rejected:
    return Rejected(
        f"extra_body cannot set {name!r}: a call could cost more than is reserved for it. Leave the field out."
    )


def _budgets(fields: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, float]]:
    for name, value in fields.items():
        here = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from _budgets(value, here)
        elif isinstance(value, int | float) and (_plain(name) in _THINKING or here == "reasoning.max_tokens"):
            yield here, value
