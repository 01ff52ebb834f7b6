"""Baselines: reference points without a model, key or network, which every table can hold.

What they compute belongs to apps, which register each one (`registered.py`); this module says only how they are asked.
"""

from collections.abc import Sequence
from functools import partial

from core.messages import Sentence, gettext_noop
from workers.providers.baseline.baseline import Baseline, BaselineBackend
from workers.providers.description import PRICES, RATES, FixedModel, Provider

NAME = "baseline"
LEFT_OUT = (
    "revision", "base_url", "api_key_env", "sets_temperature", "json_schema", "no_system_role", "batches",
    "context_tokens", "reasoning_tokens",
    "timeout_seconds", "max_attempts", "repeat_unknown", *RATES, *PRICES,
)  # fmt: skip


def provider_of(baselines: Sequence[Baseline]) -> Provider:
    """Return the description of a provider that has these baselines."""

    models = _models(baselines)
    model_names = ", ".join(models) or NAME
    notes = ", ".join(baseline.options_note for baseline in baselines if baseline.options_note)
    return Provider(
        name=NAME,
        label=gettext_noop("Built-in baseline"),
        sentence=Sentence("Reference points that need no model, key or network: {models}.", models=model_names),
        backend=partial(BaselineBackend, baselines=baselines),
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
        model_label=gettext_noop("Baseline"),
        options={name: types for baseline in baselines for name, types in baseline.options.items()},
        options_sentence=Sentence("A JSON object: {notes}.", notes=notes) if notes else "",
    )


def _models(baselines: Sequence[Baseline]) -> dict[str, FixedModel]:
    models: dict[str, FixedModel] = {}
    for baseline in baselines:
        sample = {"kind": baseline.task, **baseline.sample}
        first = models.get(baseline.name) or FixedModel((), sample, baseline.rules)
        models[baseline.name] = FixedModel((*first.tasks, baseline.task), first.sample, first.rules)
    return models


PROVIDER = provider_of(())
