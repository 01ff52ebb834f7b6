"""Variance components of one model's scores: samples, prompts and repetitions, over runs on one dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmark.models import Run, RunItem
from benchmark.services.conditions import conditions_of
from benchmark.suites.registry import group_named, keys_of
from core.statistics.variance import variance_split


class NotSplit(ValueError):
    """Runs whose variance cannot be split. Its text says why in one sentence."""


def split_of(runs: Sequence[Run], model: str, group: str = "") -> dict[str, Any]:
    """Return {"group", "model", "prompts": [in words], "samples", "n", "of_samples", "of_prompts", "of_repetitions"[, "reason"]}.

    The scores are those of the repaired reading at the group's step, of all runs and repetitions; `of_prompts` is None where all runs have the
    same prompts. `group` is the first that the suite ranks by, if not given. Raises NotSplit.
    """
    if len({run.dataset_id for run in runs}) > 1 or len({run.suite for run in runs}) > 1:
        raise NotSplit("The runs are of different datasets; their scores have no stories in common.")
    keys = keys_of(runs[0].suite)
    if group and group not in keys:
        raise NotSplit(f"There are no scores of {group!r}; there are: {', '.join(keys)}.")
    rows = _rows(runs, model, group or keys[0])
    if not rows:
        raise NotSplit(f"{model} has no scores of {group or keys[0]} in these runs.")
    scores, samples, prompts = (list(column) for column in zip(*rows, strict=True))
    split = variance_split(scores, samples, prompts)
    document = {
        "group": group or keys[0],
        "model": model,
        "prompts": sorted(set(prompts)),
        "samples": len(set(samples)),
        "n": split["n"],
    }
    if "reason" in split:
        return document | {"of_samples": None, "of_prompts": None, "of_repetitions": None, "reason": split["reason"]}
    return document | {
        f"of_{name}": split[key]
        for name, key in (("samples", "clusters"), ("prompts", "conditions"), ("repetitions", "repetitions"))
    }


def _rows(runs: Sequence[Run], model: str, group: str) -> list[tuple[float, int, str]]:
    """Return (score, sample, prompts in words) of every usable answer."""
    rows: list[tuple[float, int, str]] = []
    for run in runs:
        prompts = conditions_of(run, group, reads=True)["prompts"]
        items = RunItem.objects.filter(entrant__run=run, entrant__name=model, stage=group_named(group).scored)
        scored = items.filter(repaired_score__isnull=False).order_by("sample", "repetition")
        rows += [
            (score, sample, prompts[0] if prompts else "")
            for score, sample in scored.values_list("repaired_score", "sample_id")
        ]
    return rows
