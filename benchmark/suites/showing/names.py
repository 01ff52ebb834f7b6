"""Names of models that tell two of one name apart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from benchmark.suites.shown import Entry


def label(entries: Sequence[Entry]) -> dict[str, str]:
    """Gives each entry a `model` that no other has, by the settings in which those of its name differ, and the `own` settings that not
    all have; returns those that all share."""
    common = {}
    for name in _settings(entries):
        having = [one for one in entries if name in one["settings"] or one["kind"] == "model"]
        if _alike(having, name):
            common[name] = having[0]["settings"].get(name, "–")
    taken: dict[str, int] = {}
    for one in entries:
        own = {name: value for name, value in one["settings"].items() if name not in common}
        one["own"] = _told(own)
        namesakes = [other for other in entries if other["name"] == one["name"]]
        asked = {name: _short(one["spec"].get(name)) for name in ENDPOINT_S if not _alike(namesakes, name, "spec")}
        differing = _told({name: value for name, value in own.items() if not _alike(namesakes, name)} | asked)
        model = f"{one['name']} ({differing})" if differing else one["name"]
        taken[model] = taken.get(model, 0) + 1
        one["model"] = f"{model} #{taken[model]}" if taken[model] > 1 else model
    return common


def _settings(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(name for one in entries for name in one["settings"]))


def _told(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def _short(value: Any) -> str:
    """Of an endpoint's spec: options can be of any length."""
    told = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value or "–")
    return told if len(told) <= 40 else f"{told[:39]}…"


ENDPOINT_S = ("provider", "model", "revision", "base_url", "options")
"""What of an endpoint's spec tells two of one name apart."""


def _alike(entries: Sequence[Entry], name: str, of: Literal["settings", "spec"] = "settings") -> bool:
    return len({json.dumps(one.get(of, {}).get(name), sort_keys=True) for one in entries}) == 1
