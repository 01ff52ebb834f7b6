"""Which options each provider takes, and of what type: what is misspelt must not look like a setting that was followed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers.backends.errors import Rejected

Known = Mapping[str, tuple[type, ...]]
_CHAT: Known = {"max_tokens_field": (str,), "reasoning_effort": (str,), "extra_body": (dict,)}
_BATCHED: Known = {"batch_poll_seconds": (float, int)}
OPTIONS: dict[str, Known] = {
    "openai": {**_CHAT, **_BATCHED},
    "vllm": _CHAT,
    "anthropic": {"effort": (str,), "cache": (bool,), **_BATCHED},
    "baseline": {"seed": (int,), "threshold": (float, int)},
    "scripted": {"script": (list, str), "default": (str,), "delay": (float, int), "function": (str,), "log": (str,)},
}
"""By provider; the engine's lie beside it (workers/backends/vllm_engine.py)."""


def check_options(options: Mapping[str, Any], known: Known) -> None:
    """Raises Rejected for an option that is not known or of the wrong type."""
    for name, value in options.items():
        if name not in known:
            way_out = " Other fields of a request go into extra_body." if "extra_body" in known else ""
            raise Rejected(f"There is no option {name!r}; there are {', '.join(known)}.{way_out}")
        if type(value) not in known[name]:  # not isinstance: true is no number of GPUs
            raise Rejected(f"The option {name} wants {known[name][0].__name__}, not {value!r}.")
