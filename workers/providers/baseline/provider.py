"""Baselines: reference points without a model, key or network, which every table can hold.

What they compute belongs to apps, which register each one (`registered.py`); this module says only how they are asked.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workers.providers.contract import Backend, Body, Spec
from workers.providers.description import PRICES, RATES, FixedModel, Provider
from workers.providers.options import Known

NAME = "baseline"
LEFT_OUT = (
    "revision", "base_url", "api_key_env", "sets_temperature", "json_schema", "batches", "context_tokens",
    "reasoning_tokens",
    "timeout_seconds", "max_attempts", "repeat_unknown", *RATES, *PRICES,
)  # fmt: skip


def _no_settings(options: Mapping[str, Any], seed: int | None) -> dict[str, Any]:
    return {}


def seeded(options: Mapping[str, Any], seed: int | None) -> dict[str, Any]:
    """Return the settings of a baseline that draws: the request's seed, else that of the endpoint's options, else 0."""
    return {"seed": options.get("seed", 0) if seed is None else seed}


def generator(body: Body, key: object) -> random.Random:
    """Return the random numbers of one question: they depend on the body's seed, its repetition and the JSON value
    `key` alone."""
    return random.Random(hashlib.sha256(json.dumps([body["seed"], body["sample"], key]).encode()).digest())


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """One kind of task that a model of the provider answers.

    - `name`: the model; several baselines may share it, each for another `task`, a kind of `Request.task`.
    - `answer`: the text of the answer to a body, whose `task` is the request's.
    - `sample`: a task to try it with, without its kind.
    - `settings`: what of an endpoint's options and of the request's seed an answer depends on; it goes into the body.
      Raises Rejected for what cannot work.
    - `options`: those that it takes, and `options_note` what they are for, such as "seed for random".
    - `rules`: the version of what it computes by, None where there is only one. Runs record it.
    """

    name: str
    task: str
    answer: Callable[[Body], str]
    sample: Mapping[str, Any]
    settings: Callable[[Mapping[str, Any], int | None], dict[str, Any]] = _no_settings
    options: Known = field(default_factory=dict)
    options_note: str = ""
    rules: int | None = None


def provider_of(baselines: Sequence[Baseline]) -> Provider:
    """Return the description of a provider that has these baselines."""

    def backend(spec: Spec) -> Backend:
        from workers.providers.baseline.backend import BaselineBackend

        return BaselineBackend(spec, baselines)

    models = _models(baselines)
    model_names = ", ".join(name.replace("-", " ") for name in models) or NAME
    notes = ", ".join(baseline.options_note for baseline in baselines if baseline.options_note)
    return Provider(
        name=NAME,
        label="Built-in baseline",
        sentence=f"{model_names[0].upper()}{model_names[1:]}: reference points that need no model, key or network.",
        backend=backend,
        hosted=False,
        position=50,
        reads_prompts=False,
        fits_schemas=True,
        refuses_at="model",
        models=models,
        samples={name: name for name in models},
        defaults={"max_concurrency": 64, "repeat_unknown": 1},
        left_out=LEFT_OUT,
        placeholders={"name": f"{next(iter(models), NAME)}-2"},
        model_label="Baseline",
        options={name: types for baseline in baselines for name, types in baseline.options.items()},
        options_sentence=f"A JSON object: {notes}." if notes else "",
    )


def _models(baselines: Sequence[Baseline]) -> dict[str, FixedModel]:
    models: dict[str, FixedModel] = {}
    for baseline in baselines:
        sample = {"kind": baseline.task, **baseline.sample}
        first = models.get(baseline.name) or FixedModel((), sample, baseline.rules)
        models[baseline.name] = FixedModel((*first.tasks, baseline.task), first.sample, first.rules)
    return models


PROVIDER = provider_of(())
