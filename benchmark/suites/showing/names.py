"""Names of models that tell two of one name apart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from benchmark.domain.provenance import EndpointSpec
from benchmark.suites.results import NamedEntrant, RunEntrant
from core.messages import listed, noted

REPETITIONS = "repetitions"
"""The setting that says how often everything was asked, where that is more than once."""


class Nameable(Protocol):
    """Object with a name, which others may have, and what tells it from them."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, str]: ...
    @property
    def spec(self) -> EndpointSpec: ...


@dataclass(frozen=True, slots=True)
class Labels:
    """Names of entrants that stand beside each other: `models` has for each a name that no other has, made of the
    settings in which those of its model differ; `own` the settings that not all have, in words; `common` those that all
    share."""

    models: Sequence[str]
    own: Sequence[str]
    common: Mapping[str, str]


def label(entrants: Sequence[RunEntrant]) -> tuple[list[NamedEntrant], Mapping[str, str]]:
    """Return the entrants with their `labels_of`, and the settings that all share."""
    labels = labels_of(entrants)
    named = [
        NamedEntrant.of(entrant, model=model, own=own)
        for entrant, model, own in zip(entrants, labels.models, labels.own, strict=True)
    ]
    return named, labels.common


def labels_of(entrants: Sequence[Nameable]) -> Labels:
    common = {}
    for name in _settings(entrants):
        having = [entrant for entrant in entrants if name in entrant.settings or _has(entrant, name)]
        if _alike(having, name):
            common[name] = having[0].settings.get(name, "–")
    models: list[str] = []
    taken: dict[str, int] = {}
    distinct = [{name: value for name, value in entrant.settings.items() if name not in common} for entrant in entrants]
    for entrant, settings in zip(entrants, distinct, strict=True):
        differing = _differing(entrant, settings, [other for other in entrants if other.name == entrant.name])
        model = noted(entrant.name, differing) if differing else entrant.name
        taken[model] = taken.get(model, 0) + 1
        models.append(f"{model} #{taken[model]}" if taken[model] > 1 else model)
    return Labels(models, [_settings_text(settings) for settings in distinct], common)


def _differing(entrant: Nameable, settings: Mapping[str, str], namesakes: Sequence[Nameable]) -> str:
    """Return in which settings and in what of its endpoint an entrant differs from those of its name."""
    endpoint = {name: _short(getattr(entrant.spec, name)) for name in ENDPOINT_S if _asked_apart(namesakes, name)}
    return _settings_text({name: value for name, value in settings.items() if not _alike(namesakes, name)} | endpoint)


def _has(entrant: Nameable, name: str) -> bool:
    """Return whether a setting that the entrant says nothing of is at its default, rather than no setting of it: a
    baseline is asked as often as the run says, and reads no prompt."""
    return entrant.kind == "model" or (entrant.kind == "baseline" and name == REPETITIONS)


def _settings(entrants: Sequence[Nameable]) -> list[str]:
    return list(dict.fromkeys(name for entrant in entrants for name in entrant.settings))


def _settings_text(settings: Mapping[str, str]) -> str:
    return listed((f"{name} {value}" for name, value in settings.items()))


def _short(value: Any) -> str:
    """Return a value of an endpoint's spec as a short text: options can be of any length."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value or "–")
    return text if len(text) <= 40 else f"{text[:39]}…"


ENDPOINT_S = ("provider", "model", "revision", "base_url", "options")
"""Fields of an endpoint's spec that tell two of one name apart."""


def _asked_apart(entrants: Sequence[Nameable], name: str) -> bool:
    """Return whether a field of their endpoints' specs differs."""
    return len({json.dumps(getattr(entrant.spec, name), sort_keys=True) for entrant in entrants}) > 1


def _alike(entrants: Sequence[Nameable], name: str) -> bool:
    return len({entrant.settings.get(name) for entrant in entrants}) == 1
