"""Names of models that tell two of one name apart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from benchmark.suites.shown import EntrantResults

REPETITIONS = "repetitions"
"""The setting that says how often everything was asked, where that is more than once."""


def label(entrants: Sequence[EntrantResults]) -> dict[str, str]:
    """Give each entrant a `model` that no other has, by the settings in which those of its name differ, and the `own`
    settings that not all have; returns those that all share."""
    common = {}
    for name in _settings(entrants):
        having = [entrant for entrant in entrants if name in entrant["settings"] or _has(entrant, name)]
        if _alike(having, name):
            common[name] = having[0]["settings"].get(name, "–")
    taken: dict[str, int] = {}
    for entrant in entrants:
        distinct = {name: value for name, value in entrant["settings"].items() if name not in common}
        entrant["own"] = _told(distinct)
        namesakes = [other for other in entrants if other["name"] == entrant["name"]]
        endpoint = {
            name: _short(entrant["spec"].get(name)) for name in ENDPOINT_S if not _alike(namesakes, name, "spec")
        }
        differing = _told({name: value for name, value in distinct.items() if not _alike(namesakes, name)} | endpoint)
        model = f"{entrant['name']} ({differing})" if differing else entrant["name"]
        taken[model] = taken.get(model, 0) + 1
        entrant["model"] = f"{model} #{taken[model]}" if taken[model] > 1 else model
    return common


def _has(entrant: EntrantResults, name: str) -> bool:
    """Return whether a setting that the entrant says nothing of is at its default, rather than no setting of it: a
    baseline is asked as often as the run says, and reads no prompt."""
    return entrant["kind"] == "model" or (entrant["kind"] == "baseline" and name == REPETITIONS)


def _settings(entrants: Sequence[EntrantResults]) -> list[str]:
    return list(dict.fromkeys(name for entrant in entrants for name in entrant["settings"]))


def _told(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def _short(value: Any) -> str:
    """Return a value of an endpoint's spec as a short text: options can be of any length."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value or "–")
    return text if len(text) <= 40 else f"{text[:39]}…"


ENDPOINT_S = ("provider", "model", "revision", "base_url", "options")
"""Fields of an endpoint's spec that tell two of one name apart."""


def _alike(entrants: Sequence[EntrantResults], name: str, of: Literal["settings", "spec"] = "settings") -> bool:
    return len({json.dumps(entrant.get(of, {}).get(name), sort_keys=True) for entrant in entrants}) == 1
