"""Variance components of one model's scores: samples, prompts and repetitions, over runs on one dataset."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.core.cache import cache

from benchmark.models import Entrant, Run, RunItem, StoryScores
from benchmark.services.conditions import asking_told, conditions_of
from benchmark.services.leaderboards import KEPT_SECONDS
from benchmark.services.reports import reports_of
from benchmark.suites.registry import group_named, keys_of
from benchmark.suites.shown import EntrantResults
from core.made_by import made_by
from core.statistics.variance import variance_split
from workers.models import JobState

IDENTITY = ("provider", "model", "revision", "options")
"""Fields of an endpoint's spec that, beside its name, make it another model; its address does not."""


class NotSplit(ValueError):
    """Runs whose variance cannot be split. Its text says why in one sentence."""


class Score(NamedTuple):
    """The score of one usable answer: of which sample, with which prompts in words, in which repetition."""

    score: float
    sample: int
    prompts: str
    repetition: int


def split_of(runs: Sequence[Run], model: str, group: str = "") -> dict[str, Any]:
    """Return {"group", "model", "prompts": [in words], "samples", "n", "of_samples", "of_prompts", "of_repetitions"[,
    "reason"]}.

    The scores are those of the repaired parse at the group's step, of all runs and repetitions; `of_prompts` is None
    where all runs have the same prompts. `group` is the first that the suite ranks by, if not given. Raises NotSplit.
    """
    if len({run.dataset_id for run in runs}) > 1 or len({run.suite for run in runs}) > 1:
        raise NotSplit("The runs are of different datasets; their scores have no stories in common.")
    keys = keys_of(runs[0].suite)
    if group and group not in keys:
        raise NotSplit(f"There are no scores of {group!r}; there are: {', '.join(keys)}.")
    group = group or keys[0]
    told = {run.pk: _prompts_told(run, group) for run in runs}
    scores = _scores(Entrant.objects.filter(run__in=runs, name=model), group, told)
    if not scores:
        raise NotSplit(f"{model} has no scores of {group} in these runs.")
    return {"group": group, "model": model} | _split(scores)


def prompt_splits(run: Run, stages: Mapping[str, Sequence[EntrantResults]]) -> dict[str, list[dict[str, Any]]]:
    """Return, by metric group, what the variance of each model's scores lies between, where other finished runs asked
    it the same with other prompts: {"model", "prompts", "samples", "n", "of_samples", "of_prompts", "of_repetitions"[,
    "reason"]}.

    Of `stages`, the run's entrants by group, those of a run that asks everything several times. The runs differ in
    nothing but their prompts; of those with the same prompts the newest counts. Samples count that have a score in
    every repetition with all of them.
    """
    others = _beside(run)
    if not others:
        return {}
    reports_of([run, *others])  # what is kept of them is of their items as they are
    splits = {stage: [*_of_group(run, others, stage, entrants)] for stage, entrants in stages.items()}
    return {stage: rows for stage, rows in splits.items() if rows}


def _beside(run: Run) -> list[Run]:
    """Return the other runs that may tell of prompts, newest first: of answers that were made elsewhere nobody knows
    how they were asked for."""
    if run.control or run.imported or run.params.get("repetitions", 1) < 2:
        return []
    listed = Run.objects.listed().filter(dataset=run.dataset_id, suite=run.suite, form=run.form)
    finished = listed.filter(job__state=JobState.FINISHED).exclude(pk=run.pk).order_by("-pk")
    runs = finished.select_related("project", "dataset", "judge", "source", "job").prefetch_related("entrants")
    return [other for other in runs if not other.imported and asking_told(other) == asking_told(run)]


def _of_group(
    run: Run, others: Sequence[Run], stage: str, entrants: Sequence[EntrantResults]
) -> Iterable[dict[str, Any]]:
    own = {entrant.pk: entrant for entrant in run.entrants.all()}
    known = {one.pk: conditions_of(one, stage, reads=True) for one in (run, *others)}
    for entrant in entrants:
        if entrant.kind != "model" or entrant.entrant not in own:
            continue
        same = {(known[run.pk]["prompts"] or ["", ""])[1]: own[entrant.entrant]}
        for other in others:
            if known[other.pk]["judge"] == known[run.pk]["judge"] and (twin := _twin(own[entrant.entrant], other)):
                same.setdefault((known[other.pk]["prompts"] or ["", ""])[1], twin)
        if len(same) > 1:
            told = {one.run_id: (known[one.run_id]["prompts"] or [""])[0] for one in same.values()}
            yield {"model": entrant.model} | _kept(stage, list(same.values()), told)


def _twin(entrant: Entrant, run: Run) -> Entrant | None:
    """Return the same model as it was asked in another run."""
    return next(
        (
            other
            for other in run.entrants.all()
            if other.name == entrant.name and all(other.spec.get(name) == entrant.spec.get(name) for name in IDENTITY)
        ),
        None,
    )


def _kept(stage: str, entrants: Sequence[Entrant], told: Mapping[int, str]) -> dict[str, Any]:
    """Return the split over samples with all scores, computed once for the same figures."""
    metrics = StoryScores.objects.filter(entrant__in=entrants).order_by("pk").values_list("pk", flat=True)
    facts = [made_by(), stage, list(metrics), sorted((one.pk, told[one.run_id]) for one in entrants)]
    key = f"prompts:{hashlib.sha256(json.dumps(facts).encode()).hexdigest()}"
    split: dict[str, Any] | None = cache.get(key)
    if split is None:
        split = _split(_complete(_scores(entrants, stage, told)))
        cache.set(key, split, KEPT_SECONDS)
    return split


def _complete(scores: Sequence[Score]) -> list[Score]:
    """Leave out samples without a score in some repetition with some of the prompts."""
    by_sample: dict[int, list[Score]] = defaultdict(list)
    for score in scores:
        by_sample[score.sample].append(score)
    cells = len({(score.prompts, score.repetition) for score in scores})
    return [score for of_sample in by_sample.values() if len(of_sample) == cells for score in of_sample]


def _split(scores: Sequence[Score]) -> dict[str, Any]:
    prompts = sorted({score.prompts for score in scores})
    samples = [score.sample for score in scores]
    split = variance_split([score.score for score in scores], samples, [score.prompts for score in scores])
    document = {"prompts": prompts, "samples": len(set(samples)), "n": split.n}
    shares = {"of_samples": split.clusters, "of_prompts": split.conditions, "of_repetitions": split.repetitions}
    return document | shares | ({"reason": split.reason} if split.reason else {})


def _prompts_told(run: Run, group: str) -> str:
    prompts = conditions_of(run, group, reads=True)["prompts"]
    return prompts[0] if prompts else ""


def _scores(entrants: Iterable[Entrant], group: str, told: Mapping[int, str]) -> list[Score]:
    """Return the score of every usable answer of the entrants; `told` has the prompts of their runs in words."""
    scores: list[Score] = []
    for entrant in entrants:
        items = RunItem.objects.filter(entrant=entrant, stage=group_named(group).scored, repaired_score__isnull=False)
        scores += [
            Score(score, sample, told[entrant.run_id], repetition)
            for score, sample, repetition in items.order_by("sample", "repetition").values_list(
                "repaired_score", "sample_id", "repetition"
            )
        ]
    return scores
