"""Cells of a published version with how each came about, and the labels that the models of its runs gave them."""

from __future__ import annotations

import pickle
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.core.cache import cache

from annotation.domain.schema import Schema
from annotation.models import Project
from benchmark.domain.gold_kinds.cells import NOTHING, UNLABELLED, Cells, Ints
from benchmark.models import Dataset, DatasetSample, Run, RunItem
from benchmark.models.run import RunQuerySet
from benchmark.services.absences import is_absent
from benchmark.services.asking import sample_of
from benchmark.services.leaderboards import KEPT_SECONDS, entrants_of
from benchmark.services.reports import reports_of
from benchmark.suites.contract import Suite
from benchmark.suites.people import LabelsOf
from benchmark.suites.registry import group_named, suite_named
from benchmark.suites.results import RunEntrant
from core.digests import json_digest
from core.made_by import made_by
from core.messages import Sentence
from workers.models import JobState

PROVENANCE = "provenance"


@dataclass(frozen=True, slots=True)
class Labelling:
    """The models that labelled one published version under a suite, each in the run in which it was asked about most
    stories, the newest of several."""

    dataset: Dataset
    suite: Suite
    entrants: tuple[RunEntrant, ...]

    @property
    def digest(self) -> str:
        """Return what figures of them are kept under."""
        asked = [made_by(), self.dataset.digest, self.dataset.pk, sorted(entrant.scores for entrant in self.entrants)]
        return json_digest(asked)

    def only(self, names: Iterable[str]) -> Labelling:
        """Return those of these names, all where it has none of them."""
        chosen = tuple(entrant for entrant in self.entrants if entrant.name in set(names))
        return Labelling(self.dataset, self.suite, chosen or self.entrants)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Provenance of votes that the version keeps: `voted` stories have votes, of which `imported` ones have votes that
    were made elsewhere: `unknown` votes, of which it is not known whether they are blind. `suggested` cells have the
    label that a model had suggested."""

    voted: int
    imported: int
    unknown: int
    suggested: int


@dataclass(frozen=True, slots=True)
class Material:
    """`predicted` has the codes of each model's labels by name, shape (repetitions, cells). `labels` are the labels of
    each dimension by their codes."""

    cells: Cells
    predicted: Mapping[str, Ints]
    provenance: Provenance
    labels: tuple[tuple[str, ...], ...]

    def label_of(self, dimension: int, code: int) -> str:
        """Return the label of a code; empty for none."""
        return self.labels[dimension][code] if 0 <= code < len(self.labels[dimension]) else ""


def labelled_versions(project: Project) -> list[Dataset]:
    """Return the published versions of a project's gold with a finished run whose suite goes by labels, newest first.
    Versions with nothing but answers made elsewhere are last."""
    here, all_ids = (_with_labels(runs) for runs in (_finished(project).made_here(), _finished(project)))
    versions = Dataset.objects.filter(project=project, pk__in=all_ids, suite="").order_by("-version")
    return sorted(versions, key=lambda dataset: dataset.pk not in here)


def _with_labels(runs: RunQuerySet) -> set[int]:
    """Return the ids of the datasets with a run whose suite goes by labels."""
    pairs = runs.order_by().values_list("dataset_id", "suite").distinct()
    return {dataset for dataset, suite in pairs if suite_named(suite).gold.labels}


def _finished(project: Project) -> RunQuerySet:
    return Run.objects.listed().filter(project=project, job__state=JobState.FINISHED)


def labelling_of(dataset: Dataset) -> Labelling:
    """Return who labelled the version; models, and baselines beside them. Figures are of the stories that all of them
    were asked about, so that answers made elsewhere take part where they have all stories of the runs made here."""
    runs = [
        run
        for run in _finished(dataset.project)
        .filter(dataset=dataset)
        .select_related("judge", "project", "dataset", "source", "job")
        .prefetch_related("entrants")
        .order_by("-id")
        if suite_named(run.suite).gold.labels
    ]
    runs.sort(key=lambda run: run.made_elsewhere)
    suite = suite_named(runs[0].suite)
    runs = [run for run in runs if run.suite == suite.name]
    here = [run for run in runs if not run.made_elsewhere]
    entrants = _best(here, suite)
    common = set.intersection(*(set(entrant.numbers) for entrant in entrants.values())) if entrants else set()
    for name, entrant in _best([run for run in runs if run not in here], suite).items():
        if name not in entrants and common <= set(entrant.numbers):
            entrants[name] = entrant
    return Labelling(dataset, suite, tuple(entrants.values()))


def _best(runs: Sequence[Run], suite: Suite) -> dict[str, RunEntrant]:
    """Return the entrant of each name with most stories, the newest where several have as many."""
    best: dict[str, RunEntrant] = {}
    for entrant in entrants_of(runs, reports_of(runs), suite.gold.people):
        if entrant.kind == "person" or is_absent(entrant):
            continue
        before = best.get(entrant.name)
        if before is None or len(entrant.numbers) > len(before.numbers):
            best[entrant.name] = entrant
    return best


def material_of(labelling: Labelling) -> Material:
    """Return the cells of the stories that all of the models were asked about, kept for a while."""
    key = f"gold-cells:{labelling.digest}"
    kept: bytes | None = cache.get(key)
    if kept is not None:
        material: Material = pickle.loads(zlib.decompress(kept))
        return material
    material = _Loading(labelling).material()
    cache.set(key, zlib.compress(pickle.dumps(material), 1), KEPT_SECONDS)
    return material


class _Loading:
    def __init__(self, labelling: Labelling) -> None:
        self.dataset, self.suite = labelling.dataset, labelling.suite
        self.schema: Schema = self.dataset.schema
        self.codes = [{label: at for at, label in enumerate(dimension.values)} for dimension in self.schema.dimensions]
        self.names = {entrant.entrant: entrant.name for entrant in labelling.entrants}
        self.answers = self._answers()
        asked = [set(by_sample) for by_sample in self.answers.values()] or [set()]
        common = set.intersection(*asked)
        stories = DatasetSample.objects.filter(pk__in=common, dataset=self.dataset)
        self.samples = list(stories.order_by("position"))
        voted = {name for sample in self.samples for name in sample.votes}
        everybody = {name for votes in self.dataset.samples.values_list("votes", flat=True) for name in votes}
        self.annotators = {name: number for number, name in enumerate(sorted(everybody), 1) if name in voted}

    def _answers(self) -> dict[int, dict[int, list[dict | None]]]:
        """Return the repaired parses of each entrant by sample, None for what cannot be used."""
        step = group_named(self.suite.gold.people).scored
        answers: dict[int, dict[int, list[dict | None]]] = {
            pk: defaultdict(list) for pk in self.names if pk is not None
        }
        items = RunItem.objects.filter(entrant__in=list(answers), step=step).order_by("repetition")
        for entrant, sample, parsed, unreadable, call in items.values_list(
            "entrant_id", "sample_id", "repaired", "unreadable", "call_id"
        ):
            answers[entrant][sample].append(None if unreadable or not call else parsed)
        return answers

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
        labels = tuple(tuple(dimension.values) for dimension in self.schema.dimensions)
        return Material(cells, self._predicted(len(rows)), self._provenance(cells), labels)

    def _code(self, dimension: int, label: str) -> int:
        return self.codes[dimension].get(label, UNLABELLED) if label else NOTHING

    def _cells(self, story: int, sample: DatasetSample) -> list[tuple]:
        kept = sample.gold.get(PROVENANCE, {})
        suggested, blind, unknown = (kept.get(name, ()) for name in ("suggested", "blind", "unknown"))
        rows = []
        for row, belief in enumerate(sample.beliefs):
            for at, key in enumerate(self.schema.keys):
                rows.append((
                    story, row, at, self.codes[at].get(belief["labels"].get(key, ""), NOTHING),
                    self._code(at, suggested[row][at]) if suggested else NOTHING,
                    sample.methods[row][at],
                    self._given(sample.votes, row, at),
                    self._given(blind, row, at),
                    self._given(unknown, row, at),
                ))  # fmt: skip
        return rows

    def _given(self, by_person: Mapping[str, Sequence[Sequence[str]]], row: int, at: int) -> list[int]:
        return [self._code(at, by_person[name][row][at]) if name in by_person else NOTHING for name in self.annotators]

    def _predicted(self, size: int) -> dict[str, Ints]:
        tries = max((len(answers) for by_sample in self.answers.values() for answers in by_sample.values()), default=1)
        predicted = {name: np.full((max(tries, 1), size), NOTHING, dtype=np.int64) for name in self.names.values()}
        labels_of, start = self.suite.gold.labels, 0
        assert labels_of is not None
        for sample in self.samples:
            for entrant, name in self.names.items():
                if entrant is not None:
                    self._fill(predicted[name], start, sample, self.answers[entrant][sample.pk], labels_of)
            start += len(sample.beliefs) * len(self.codes)
        return predicted

    def _fill(
        self, into: Ints, start: int, sample: DatasetSample, parses: Sequence[dict | None], labels_of: LabelsOf
    ) -> None:
        usable = [(turn, parsed) for turn, parsed in enumerate(parses) if parsed is not None]
        read = labels_of(sample_of(sample), self.schema, [parsed for _, parsed in usable])
        for (turn, _), rows in zip(usable, read, strict=True):
            for row, labels in rows.items():
                first = start + row * len(self.codes)
                into[turn, first : first + len(self.codes)] = [
                    self.codes[at].get(label, UNLABELLED) for at, label in enumerate(labels)
                ]

    def _provenance(self, cells: Cells) -> Provenance:
        return Provenance(
            voted=sum(bool(sample.votes) for sample in self.samples),
            imported=sum(bool(sample.gold.get(PROVENANCE, {}).get("unknown")) for sample in self.samples),
            unknown=int((cells.unknown_votes != NOTHING).sum()),
            suggested=int((cells.suggested != NOTHING).sum()),
        )
