"""Effect of suggestions and adjudication on gold: the cells of a published version and what models said of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.domain.anchoring.alternative_annotator import AlternativeAnnotator, OverStories
from annotation.domain.anchoring.gold import FEWEST_BLIND_VOTES
from annotation.models import Project
from benchmark.domain.gold_kinds import (
    NOTHING,
    REFERENCE,
    UNLABELLED,
    Ceiling,
    Cells,
    Ints,
    Kind,
    Move,
    Order,
    Scores,
    ceiling,
    kind_scores,
    moves,
    order,
    right,
    standing_in,
    story_scores,
)
from benchmark.models import Dataset, DatasetSample, Run, RunItem
from benchmark.models.run import RunQuerySet
from benchmark.services.absences import is_absent
from benchmark.services.asking import sample_of
from benchmark.services.leaderboards import SEED, entrants_of
from benchmark.services.reports import reports_of
from benchmark.suites.contract import Suite
from benchmark.suites.registry import group_named, suite_named
from benchmark.suites.results import EntrantResults
from core.kept import kept_as
from core.messages import Sentence, gettext_noop
from core.plain import Json
from core.statistics import Estimate, method
from workers.models import JobState

ALL_VOTES, BLIND_VOTES, UNKNOWN_VOTES = "all", "blind", "unknown"
"""The votes behind metrics of people: all, those that no suggestion can have touched, and these with those that may be
blind."""
OVERALL = None
"""The key of all dimensions together, in metrics by dimension."""
EVERY, WRONG, MOVED, OVERRULED, UNDECIDED = "every", "wrong", "moved", "overruled", "undecided"
WHICH = {
    EVERY: gettext_noop("All cells"),
    WRONG: gettext_noop("Where the model is not right"),
    MOVED: gettext_noop("Where the pre-filled label was changed"),
    OVERRULED: gettext_noop("Where gold is not the majority"),
    UNDECIDED: gettext_noop("Where votes have no majority"),
}


@dataclass(frozen=True, slots=True)
class Labelling:
    """The models that labelled one published version under a suite, each in the run in which it was asked about most
    stories, the newest of several."""

    dataset: Dataset
    suite: Suite
    entrants: tuple[EntrantResults, ...]

    @property
    def versions(self) -> list[object]:
        """What results are kept under."""
        return [self.dataset.digest, self.dataset.pk, sorted(entrant.scores for entrant in self.entrants)]


def labelled_versions(project: Project) -> list[Dataset]:
    """Return the published versions of a project's gold with a finished run whose suite goes by labels, newest first.
    Versions with only imported answers are last."""
    asked = _finished(project).order_by()
    here, all_ids = (
        {dataset for dataset, suite in runs.values_list("dataset_id", "suite") if suite_named(suite).gold.labels}
        for runs in (asked.made_here(), asked)
    )
    versions = Dataset.objects.filter(project=project, pk__in=all_ids, suite="").order_by("-version")
    return sorted(versions, key=lambda dataset: dataset.pk not in here)


def _finished(project: Project) -> RunQuerySet:
    return Run.objects.listed().filter(project=project, job__state=JobState.FINISHED)


def labelling_of(dataset: Dataset) -> Labelling:
    """Return the models and baselines that labelled the version. Imported answers count if they have all stories that
    all models were asked about here."""
    finished = _finished(dataset.project).filter(dataset=dataset).order_by("-id")
    finished = finished.select_related("judge", "project", "dataset", "source", "job").prefetch_related("entrants")
    runs = sorted((run for run in finished if suite_named(run.suite).gold.labels), key=lambda run: run.made_elsewhere)
    suite = suite_named(runs[0].suite)
    runs = [run for run in runs if run.suite == suite.name]
    entrants = _best([run for run in runs if not run.made_elsewhere], suite)
    common = set.intersection(*(set(entrant.numbers) for entrant in entrants.values())) if entrants else set()
    for name, entrant in _best([run for run in runs if run.made_elsewhere], suite).items():
        if name not in entrants and common <= set(entrant.numbers):
            entrants[name] = entrant
    return Labelling(dataset, suite, tuple(entrants.values()))


def _best(runs: Sequence[Run], suite: Suite) -> dict[str, EntrantResults]:
    """Return the entrant of each name with most stories, the newest of several."""
    best: dict[str, EntrantResults] = {}
    for entrant in entrants_of(runs, reports_of(runs), suite.gold.people):
        before = best.get(entrant.name)
        more = before is None or len(entrant.numbers) > len(before.numbers)
        if more and entrant.kind != "person" and not is_absent(entrant):
            best[entrant.name] = entrant
    return best


@dataclass(frozen=True, slots=True)
class Material:
    """The cells of the stories that all models of a labelling were asked about."""

    cells: Cells
    predicted: Mapping[str, Ints]
    """The codes of each model's labels by name, shape (repetitions, cells)."""
    provenance: Mapping[str, int]
    """{voted: stories with votes, imported: stories with imported votes, unknown: votes that may be blind, suggested:
    cells with a label that a model had suggested}."""
    labels: Sequence[Sequence[str]]
    """The labels of each dimension by their codes."""

    def label_of(self, dimension: int, code: int) -> str:
        """Return the label of a code. Returns "" for no label."""
        return self.labels[dimension][code] if 0 <= code < len(self.labels[dimension]) else ""


def material_of(labelling: Labelling) -> Material:
    """Return the cells with what models said of them, cached."""
    return kept_as("gold-cells", labelling.versions, lambda: _Loading(labelling).material())


class _Loading:
    def __init__(self, labelling: Labelling) -> None:
        self.suite, self.schema = labelling.suite, labelling.dataset.schema
        self.codes = [{label: at for at, label in enumerate(dimension.values)} for dimension in self.schema.dimensions]
        self.names = {entrant.entrant: entrant.name for entrant in labelling.entrants if entrant.entrant is not None}
        # the repaired parses of each entrant by sample, None for one that is unreadable
        self.answers: dict[int, dict[int, list[Json | None]]] = {pk: defaultdict(list) for pk in self.names}
        step = group_named(self.suite.gold.people).scored
        items = RunItem.objects.filter(entrant__in=list(self.answers), step=step).order_by("repetition")
        rows = items.values_list("entrant_id", "sample_id", "repaired", "unreadable", "call_id")
        for entrant, pk, parsed, unreadable, call in rows:
            self.answers[entrant][pk].append(None if unreadable or not call else parsed)
        common = set.intersection(*(set(by_sample) for by_sample in self.answers.values())) if self.answers else set()
        stories = DatasetSample.objects.filter(pk__in=common, dataset=labelling.dataset)
        self.samples = list(stories.order_by("position"))
        voted = {name for sample in self.samples for name in sample.votes}
        everybody = {name for votes in labelling.dataset.samples.values_list("votes", flat=True) for name in votes}
        self.annotators = {name: number for number, name in enumerate(sorted(everybody), 1) if name in voted}

    def material(self) -> Material:
        rows = [row for at, sample in enumerate(self.samples) for row in self._cells(at, sample)]
        columns = np.array([row[:5] for row in rows], dtype=np.int64).reshape(len(rows), 5).T
        votes, blind, unknown = (
            np.array([row[at] for row in rows], dtype=np.int64).reshape(len(rows), len(self.annotators))
            for at in (6, 7, 8)
        )
        cells = Cells(
            story=columns[0], row=columns[1], dimension=columns[2], gold=columns[3], suggested=columns[4],
            method=np.array([row[5] for row in rows], dtype="U12"), votes=votes, blind_votes=blind,
            unknown_votes=unknown,
            stories=tuple(sample.number for sample in self.samples),
            dimensions=tuple(dimension.name for dimension in self.schema.dimensions),
            annotators=tuple(Sentence("Annotator {number}", number=number) for number in self.annotators.values()),
        )  # fmt: skip
        provenance = {
            "voted": sum(bool(sample.votes) for sample in self.samples),
            "imported": sum(bool(sample.gold.get("provenance", {}).get("unknown")) for sample in self.samples),
            "unknown": int((unknown != NOTHING).sum()),
            "suggested": int((cells.suggested != NOTHING).sum()),
        }
        labels = [list(dimension.values) for dimension in self.schema.dimensions]
        return Material(cells, self._predicted(len(rows)), provenance, labels)

    def _cells(self, story: int, sample: DatasetSample) -> list[tuple[Any, ...]]:
        kept = sample.gold.get("provenance", {})
        suggested, blind, unknown = (kept.get(name, ()) for name in ("suggested", "blind", "unknown"))
        return [
            (
                story, row, at, self.codes[at].get(belief["labels"].get(key, ""), NOTHING),
                self._code(at, suggested[row][at]) if suggested else NOTHING,
                sample.methods[row][at],
                *(
                    [self._code(at, by_person[name][row][at]) if name in by_person else NOTHING
                     for name in self.annotators]
                    for by_person in (sample.votes, blind, unknown)
                ),
            )
            for row, belief in enumerate(sample.beliefs)
            for at, key in enumerate(self.schema.keys)
        ]  # fmt: skip

    def _code(self, dimension: int, label: str) -> int:
        return self.codes[dimension].get(label, UNLABELLED) if label else NOTHING

    def _predicted(self, size: int) -> dict[str, Ints]:
        """Return the codes of each model's labels by name, shape (repetitions, cells)."""
        labels_in, width, start = self.suite.gold.labels, len(self.codes), 0
        assert labels_in is not None
        tries = max((len(answers) for by_sample in self.answers.values() for answers in by_sample.values()), default=1)
        predicted = {name: np.full((max(tries, 1), size), NOTHING, dtype=np.int64) for name in self.names.values()}
        for sample in self.samples:
            for entrant, name in self.names.items():
                parses = self.answers[entrant][sample.pk]
                usable = [(turn, parsed) for turn, parsed in enumerate(parses) if parsed is not None]
                read = labels_in(sample_of(sample), self.schema, [parsed for _, parsed in usable])
                for (turn, _), rows in zip(usable, read, strict=True):
                    for row, labels in rows.items():
                        first = start + row * width
                        codes = [self.codes[at].get(label, UNLABELLED) for at, label in enumerate(labels)]
                        predicted[name][turn, first : first + width] = codes
            start += len(sample.beliefs) * width
        return predicted


@dataclass(frozen=True, slots=True)
class GoldMetrics:
    """Metrics of the models that labelled a version, by dimension (OVERALL among them) and kind of gold."""

    cells: Cells
    provenance: Mapping[str, int]
    keys: tuple[str, ...]
    """The keys of the dimensions."""
    kinds: Mapping[Kind, int]
    """The number of cells of each kind that the version has."""
    scores: Mapping[int | None, Scores]
    orders: Mapping[int | None, Mapping[Kind, Order]]
    moves: Mapping[int | None, Mapping[Move, Estimate]]
    ceilings: Mapping[str, Mapping[int | None, Ceiling]]
    """Ceilings by ALL_VOTES and BLIND_VOTES."""
    standing_in: Mapping[str, Mapping[str, tuple[AlternativeAnnotator, OverStories]]]
    """The alternative annotator test of each model, published and over stories, by BLIND_VOTES and, if votes may be
    blind, by UNKNOWN_VOTES."""
    unranked: Sequence[str]
    """Baselines, which have no part in the order of models."""

    @property
    def models(self) -> list[str]:
        return list(self.scores[OVERALL])

    @property
    def method(self) -> str:
        return method(seed=SEED, unit=gettext_noop("stories"))


def gold_metrics_of(labelling: Labelling) -> GoldMetrics:
    """Return the metrics of these models on the gold of their version. They rest on what the version keeps, so that
    they are the same at any later time."""
    return kept_as("gold-kinds", labelling.versions, lambda: _gold_metrics(labelling))


def _gold_metrics(labelling: Labelling) -> GoldMetrics:
    material = material_of(labelling)
    cells, predicted, golds = material.cells, material.predicted, material.cells.by_kind()
    kinds = {kind: count for kind, gold in golds.items() if (count := int((gold >= 0).sum()))}
    golds = {kind: golds[kind] for kind in kinds}
    ranked = {entrant.name: predicted[entrant.name] for entrant in labelling.entrants if entrant.kind == "model"}
    ranked = ranked if len(ranked) > 1 else dict(predicted)
    parts = OVERALL, *range(len(cells.dimensions))
    votes = {BLIND_VOTES: cells.blind_votes}
    if not cells.is_all_known:
        votes[UNKNOWN_VOTES] = cells.perhaps_blind
    return GoldMetrics(
        cells=cells,
        provenance=material.provenance,
        keys=labelling.dataset.schema.keys,
        kinds=kinds,
        scores={at: kind_scores(cells, predicted, golds, at, seed=SEED) for at in parts},
        orders={at: _orders(cells, ranked, golds, at) for at in parts},
        moves={at: moves(cells, at, seed=SEED) for at in parts},
        ceilings={
            name: {at: ceiling(cells, given, predicted, at, seed=SEED) for at in parts}
            for name, given in ((ALL_VOTES, cells.votes), (BLIND_VOTES, cells.blind_votes))
        },
        standing_in={
            name: {model: standing_in(cells, given, codes[0], seed=SEED) for model, codes in predicted.items()}
            for name, given in votes.items()
        },
        unranked=[name for name in predicted if name not in ranked],
    )


def _orders(
    cells: Cells, models: Mapping[str, Ints], golds: Mapping[Kind, Ints], dimension: int | None
) -> dict[Kind, Order]:
    by_kind = {
        kind: {model: story_scores(cells, codes, gold, dimension) for model, codes in models.items()}
        for kind, gold in golds.items()
    }
    return {
        kind: order(by_kind[REFERENCE[kind]], scores, seed=SEED)
        for kind, scores in by_kind.items()
        if kind in REFERENCE and REFERENCE[kind] in by_kind
    }


def places_of(
    material: Material, *, kind: Kind, dimension: int | None, model: str, show: str, closed: Collection[int]
) -> list[int]:
    """Return the places of the cells of a kind of gold and a dimension that `show` selects, without `closed`
    stories."""
    cells, majority = material.cells, material.cells.majority()
    gold = cells.by_kind()[kind]
    keep = (gold >= 0) & cells.in_dimension(dimension)
    keep &= ~np.isin(np.array(cells.stories)[cells.story], list(closed))
    if show == WRONG and model:
        keep &= ~(right(material.predicted[model], gold) == 1)
    if show == MOVED:
        keep &= (cells.suggested != NOTHING) & (cells.suggested != gold)
    if show == OVERRULED:
        keep &= (majority != NOTHING) & (majority != gold)
    if show == UNDECIDED:
        keep &= ((cells.votes != NOTHING).sum(axis=1) >= FEWEST_BLIND_VOTES) & (majority == NOTHING)
    return [int(at) for at in np.flatnonzero(keep)]


def cell_rows(labelling: Labelling, material: Material, kind: Kind, model: str, places: Sequence[int]) -> list[Json]:
    """Return {story, actor, belief, dimension, gold, method, suggested, majority, predicted, right, run, item} of each
    cell. `item` is the run item with the model's answer."""
    cells, gold, majority = material.cells, material.cells.by_kind()[kind], material.cells.majority()
    numbers = {cells.stories[cells.story[at]] for at in places}
    stories = DatasetSample.objects.filter(dataset=labelling.dataset, number__in=numbers)
    samples = {sample.number: sample for sample in stories}
    entrant = next((entrant for entrant in labelling.entrants if entrant.name == model), None)
    items: dict[int, int] = {}
    if entrant:
        asked = RunItem.objects.filter(entrant=entrant.entrant, repetition=0, sample__in=samples.values())
        asked = asked.filter(step=group_named(labelling.suite.gold.people).scored)
        items = dict(asked.values_list("sample__number", "pk"))
    rows = []
    for at in places:
        number, dimension = cells.stories[cells.story[at]], int(cells.dimension[at])
        belief = samples[number].beliefs[int(cells.row[at])]
        predicted = material.predicted[model][0, at] if model else NOTHING
        codes = {"gold": gold, "suggested": cells.suggested, "majority": majority}
        rows.append(
            {name: material.label_of(dimension, int(code[at])) for name, code in codes.items()}
            | {
                "story": number,
                "actor": belief["actor"],
                "belief": belief["belief"],
                "dimension": cells.dimensions[dimension],
                "method": str(cells.method[at]),
                "predicted": material.label_of(dimension, int(predicted)),
                "right": None if predicted == NOTHING else bool(predicted == gold[at]),
                "run": entrant.run if entrant else "",
                "item": items.get(number),
            }
        )
    return rows
