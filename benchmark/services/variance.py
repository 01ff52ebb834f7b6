"""Variance components of one model's scores: samples, prompts and repetitions, over runs on one dataset."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from benchmark.models import Entrant, Run, StoryScores
from benchmark.services.conditions import asking_in_words, conditions_of
from benchmark.services.reports import reports_of
from benchmark.suites.figures import KeptScores, scores_by_turn
from benchmark.suites.registry import group_named
from benchmark.suites.results import EntrantResults
from core.kept import kept_as
from core.plain import Json
from core.statistics.variance import CLUSTERS, CONDITIONS, REPETITIONS, variance_split
from workers.models import JobState

Score = tuple[float, int, str, int]
"""(score, number of the sample, prompts in words, repetition). Samples that count together stand under the first."""
_SHARES = {CLUSTERS: "of_samples", CONDITIONS: "of_prompts", REPETITIONS: "of_repetitions"}
"""Names of a split's shares by those of the statistic."""


def prompt_splits(run: Run, groups: Mapping[str, Sequence[EntrantResults]]) -> dict[str, list[Json]]:
    """Return, by metric group, how the variance of each model's scores splits between samples, prompts and repetitions,
    if other finished runs asked the model the same with other prompts.

    A split is {model, prompts in words, samples, n of scores, of_samples, of_prompts, of_repetitions}, if present with
    the `_interval` of each share, the names of shares `below` 0, the number of samples `left_out` without all scores,
    and the `reason` for no shares.

    Of `groups`, the run's entrants by group, those of a run that asks everything several times. The runs differ in
    nothing but their prompts; of those with the same prompts the newest counts. Samples count that have a score in
    every repetition with all of them.
    """
    others = _beside(run)
    if not others:
        return {}
    reports_of([run, *others])  # what is kept of them is of their answers as they are
    splits = {group: [*_of_group(run, others, group, entrants)] for group, entrants in groups.items()}
    return {group: rows for group, rows in splits.items() if rows}


def _beside(run: Run) -> list[Run]:
    """Return the other runs that may tell of prompts, newest first: of answers that were made elsewhere nobody knows
    how they were asked for."""
    if run.control or run.imported or run.parameters.repetitions < 2:
        return []
    listed = Run.objects.listed().filter(dataset=run.dataset_id, suite=run.suite, answer_format=run.answer_format)
    finished = listed.filter(job__state=JobState.FINISHED).exclude(pk=run.pk).order_by("-pk")
    runs = finished.select_related("project", "dataset", "judge", "source", "job").prefetch_related("entrants")
    return [other for other in runs if not other.imported and asking_in_words(other) == asking_in_words(run)]


def _of_group(run: Run, others: Sequence[Run], group: str, entrants: Sequence[EntrantResults]) -> Iterable[Json]:
    own = {entrant.pk: entrant for entrant in run.entrants.all()}
    conditions = {asked.pk: conditions_of(asked, group, reads=True) for asked in (run, *others)}
    alike = [other for other in others if conditions[other.pk]["judge"] == conditions[run.pk]["judge"]]
    for entrant in entrants:
        if entrant.kind != "model" or entrant.entrant not in own:
            continue
        model = own[entrant.entrant]
        same: dict[str, tuple[str, Entrant]] = {}
        for twin in (model, *(twin for other in alike for twin in other.entrants.all())):
            if twin.name == model.name and twin.asked_as.identity == model.asked_as.identity:
                prompts, digest = conditions[twin.run_id]["prompts"] or ("", "")
                same.setdefault(digest, (prompts, twin))
        if len(same) > 1:
            yield {"model": entrant.model, **_kept(group, list(same.values()))}


def _kept(group: str, asked: Sequence[tuple[str, Entrant]]) -> Json:
    """Return the split over samples with all scores, of (prompts in words, entrant), computed once for the same
    figures."""
    scores = StoryScores.objects.current().filter(entrant__in=[entrant for _, entrant in asked])
    prompts = sorted((entrant.pk, prompts) for prompts, entrant in asked)
    facts = [group, list(scores.order_by("pk").values_list("pk", flat=True)), prompts]
    return kept_as("prompts", facts, lambda: _split(_scores(asked, group)))


def _scores(asked: Sequence[tuple[str, Entrant]], group: str) -> list[Score]:
    """Return the scores that are kept of the entrants, a repetition each, of samples that have one in every repetition
    with all of the prompts."""
    rows = StoryScores.objects.current().filter(entrant__in=[entrant for _, entrant in asked])
    kept = {pk: KeptScores(metrics) for pk, metrics in rows.values_list("entrant", "metrics")}
    by_sample: dict[int, list[Score]] = defaultdict(list)
    cells = set()
    for prompts, entrant in asked:
        columns = kept.get(entrant.pk, KeptScores()).columns(group, "repaired")
        for repetition, scores in enumerate(scores_by_turn(columns, group_named(group).score)):
            for sample, score in scores.items():
                by_sample[sample].append((score, sample, prompts, repetition))
                cells.add((prompts, repetition))
    return [score for scores in by_sample.values() if len(scores) == len(cells) for score in scores]


def _split(scores: Sequence[Score]) -> Json:
    values, samples, prompts, _ = (list(column) for column in zip(*scores, strict=True)) if scores else ([], [], [], [])
    split = variance_split(values, samples, prompts)
    optional: Json = {f"{_SHARES[name]}_interval": list(ends) for name, ends in split.intervals.items()}
    optional |= {"below": [_SHARES[name] for name in split.below], "left_out": split.left_out, "reason": split.reason}
    return {
        "prompts": sorted(set(prompts)),
        "samples": len(set(samples)) - split.left_out,
        "n": split.n,
        "of_samples": split.clusters,
        "of_prompts": split.conditions,
        "of_repetitions": split.repetitions,
    } | {name: value for name, value in optional.items() if value}
