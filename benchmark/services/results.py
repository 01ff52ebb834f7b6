"""Outcomes of a run's questions, one model after another, as suites measure them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from benchmark.models import DatasetSample, Entrant, Run, RunItem
from benchmark.services.asking import DatasetResources, all_at_once, sample_asked, settings_of
from benchmark.suites.questions import Entered, Outcome, Sample
from benchmark.suites.reasons import CALL_FAILED, CANCELLED, OPEN
from benchmark.suites.registry import suite_named
from workers.models import ItemState

WITHOUT_CALL = {ItemState.FAILED: CALL_FAILED, ItemState.CANCELLED: CANCELLED}
"""Reasons why an item has no answer, by the state of its work; `OPEN` in all others."""


def samples_of(run: Run) -> dict[int, Sample]:
    """The samples that a run has items of, as it asks about them, by id, in the order of the dataset."""
    sample_ids = RunItem.objects.filter(entrant__run=run).order_by().values("sample").distinct()
    rows = all_at_once(DatasetSample.objects.filter(pk__in=sample_ids))
    return {row.pk: sample_asked(run, row) for row in rows}


def each_entered(
    run: Run, samples: Mapping[int, Sample], among: Collection[int] | None = None
) -> Iterator[tuple[int, Entered]]:
    """Yield (entrant id, the outcomes of its questions) one after another: those of twenty models over a whole corpus
    fill a gigabyte at once. `among` are the ids of the entrants, all of the run where it is None."""
    whole = not run.control and len(samples) == run.dataset.samples.count()
    resources = DatasetResources(run.dataset, preloaded=[*samples.values()] if whole else None)
    settings = settings_of(run)
    unchanged = _unchanged(run, samples)
    published = (
        {entrant.endpoint_id: entrant for entrant in run.original.entrants.all()} if run.original and unchanged else {}
    )
    entrants = run.entrants.select_related("endpoint")
    for entrant in entrants if among is None else entrants.filter(pk__in=among):
        kind = "model" if entrant.endpoint.about.reads_prompts else "baseline"
        outcomes = _outcomes(entrant, samples)
        entered = Entered(entrant.name, kind, list(samples.values()), outcomes, run.steps, settings, resources)
        if before := published.get(entrant.endpoint_id):
            left = replace(entered, samples=list(unchanged.values()), outcomes=_outcomes(before, unchanged))
            entered = replace(entered, unchanged=left)
        yield entrant.pk, entered


def _unchanged(run: Run, samples: Mapping[int, Sample]) -> dict[int, Sample]:
    """Return the samples of the run as published that the control of this one leaves as they are, by id; none where the
    suite counts no sets, to which alone they belong."""
    if run.original is None or not any(group.counts for group in suite_named(run.suite).groups):
        return {}
    asked = RunItem.objects.filter(entrant__run=run.original).order_by().values("sample").distinct()
    rows = DatasetSample.objects.filter(pk__in=asked).exclude(pk__in=samples)
    spec = {
        row.pk: sample_asked(run, row) for row in rows.defer("votes", "methods", "adjudications").order_by("position")
    }
    return {pk: sample for pk, sample in spec.items() if sample.published is None}


def _outcomes(entrant: Entrant, samples: Mapping[int, Sample]) -> dict[str, list[Outcome]]:
    """The outcomes of the questions about these samples, in the order of the dataset."""
    rows = RunItem.objects.filter(entrant=entrant).order_by("sample__position", "repetition")
    outcomes: dict[str, list[Outcome]] = {}
    for sample, step, official, repaired, unreadable, call, state, repetition in rows.values_list(
        "sample_id", "step", "official", "repaired", "unreadable", "call_id", "item__state", "repetition"
    ):
        if sample not in samples:
            continue
        without = "" if call else unreadable or WITHOUT_CALL.get(state, OPEN)
        outcome = Outcome(step, official, repaired, unreadable if call else "", without, repetition)
        outcomes.setdefault(samples[sample].key, []).append(outcome)
    return outcomes
