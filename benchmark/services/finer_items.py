"""Scores of models on the items within samples: the propositions of stories, one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.domain.schema import Schema
from benchmark.domain.item_response import mean_by_model
from benchmark.models import Dataset, DatasetSample, RunItem
from benchmark.services.asking import all_at_once, sample_of
from benchmark.suites.groups import FinerItems, Floats
from benchmark.suites.registry import group_named
from benchmark.suites.results import EntrantResults
from core.kept import kept_as

AT_ONCE = 100
"""Samples of which answers are read together."""
ItemKey = tuple[int, int]
"""(number of the sample, position of the item in it)"""


@dataclass(frozen=True, slots=True)
class FinerScores:
    """Scores of each entrant on every item, the mean over its repetitions: `scores` of shape (entrants, items,
    metrics), nan where nothing is known; `numbers` and `places` say which item of which sample each one is."""

    numbers: Floats
    places: Floats
    scores: Floats

    def among(self, stories: Collection[int] | None) -> FinerScores:
        """Return those of some samples alone."""
        if stories is None:
            return self
        keep = np.isin(self.numbers, list(stories))
        return FinerScores(self.numbers[keep], self.places[keep], self.scores[:, keep])


def finer_scores(dataset: Dataset, entrants: Sequence[EntrantResults], group: str) -> FinerScores:
    """Return the scores of entrants on the finer items of a metric group that has them, repaired parse, read once for
    the same answers."""
    asked = [dataset.digest, [entrant.scores for entrant in entrants], group]
    return kept_as("finer-items", asked, lambda: _read(dataset, [entrant.entrant for entrant in entrants], group))


def _read(dataset: Dataset, entrants: Sequence[int | None], group: str) -> FinerScores:
    described = group_named(group)
    assert described.finer is not None
    of_all = RunItem.objects.filter(entrant__in=entrants, step=described.scored, call__isnull=False, unreadable="")
    asked = of_all.order_by().values("sample").distinct()
    samples = list(all_at_once(DatasetSample.objects.filter(dataset=dataset, pk__in=asked)))
    numbers, places, scores = [], [], []
    for first in range(0, len(samples), AT_ONCE):
        some = samples[first : first + AT_ONCE]
        parses: dict[ItemKey, list[Mapping[str, Any]]] = defaultdict(list)
        answered = of_all.filter(sample__in=[sample.pk for sample in some]).order_by("repetition")
        for entrant, sample_id, parsed in answered.values_list("entrant_id", "sample_id", "repaired"):
            if parsed is not None:
                parses[entrant, sample_id].append(parsed)
        for sample in some:
            own = [parses.get((entrant or 0, sample.pk), []) for entrant in entrants]
            scores.append(_of_sample(described.finer, sample, own, dataset.schema))
            numbers.append(np.full(scores[-1].shape[1], sample.number))
            places.append(np.arange(scores[-1].shape[1]))
    none = np.empty((len(entrants), 0, len(described.finer.metrics)))
    return FinerScores(
        np.concatenate([*numbers, np.empty(0)]).astype(int), np.concatenate([*places, np.empty(0)]).astype(int),
        np.concatenate([none, *scores], axis=1),
    )  # fmt: skip


def _of_sample(
    finer: FinerItems, sample: DatasetSample, parses: Sequence[Sequence[Mapping[str, Any]]], schema: Schema
) -> Floats:
    """Return the mean over the parses of each entrant: shape (entrants, items, metrics)."""
    values = finer.scores(sample_of(sample), schema, [parsed for own in parses for parsed in own])
    whose = [at for at, own in enumerate(parses) for _ in own]
    flat = mean_by_model(values.reshape(len(values), -1), whose, len(parses))
    return flat.reshape(len(parses), *values.shape[1:])


def texts_of(dataset: Dataset, group: str, places: Sequence[ItemKey]) -> dict[ItemKey, tuple[str, str]]:
    """Return who holds what in each of these items."""
    finer = group_named(group).finer
    assert finer is not None
    rows = DatasetSample.objects.filter(dataset=dataset, number__in={number for number, _ in places})
    texts = {row.number: finer.texts(sample_of(row), dataset.schema) for row in all_at_once(rows)}
    return {(number, at): texts[number][at] for number, at in places}
