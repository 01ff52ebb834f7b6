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
        having = [entry for entry in entries if name in entry["settings"] or entry["kind"] == "model"]
        if _alike(having, name):
            common[name] = having[0]["settings"].get(name, "–")
    taken: dict[str, int] = {}
    for entry in entries:
        distinct = {name: value for name, value in entry["settings"].items() if name not in common}
        entry["own"] = _told(distinct)
        namesakes = [other for other in entries if other["name"] == entry["name"]]
        endpoint = {name: _short(entry["spec"].get(name)) for name in ENDPOINT_S if not _alike(namesakes, name, "spec")}
        differing = _told({name: value for name, value in distinct.items() if not _alike(namesakes, name)} | endpoint)
        model = f"{entry['name']} ({differing})" if differing else entry["name"]
        taken[model] = taken.get(model, 0) + 1
        entry["model"] = f"{model} #{taken[model]}" if taken[model] > 1 else model
    return common


def _settings(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(name for entry in entries for name in entry["settings"]))


def _told(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def _short(value: Any) -> str:
    """Return a value of an endpoint's spec as a short text: options can be of any length."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value or "–")
    return text if len(text) <= 40 else f"{text[:39]}…"


ENDPOINT_S = ("provider", "model", "revision", "base_url", "options")
"""What of an endpoint's spec tells two of one name apart."""


def _alike(entries: Sequence[Entry], name: str, of: Literal["settings", "spec"] = "settings") -> bool:
    return len({json.dumps(entry.get(of, {}).get(name), sort_keys=True) for entry in entries}) == 1
