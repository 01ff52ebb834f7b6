"""People beside models: what a person labelled, and the gold that holds without the person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.domain.leave_one_out import By
from annotation.domain.schema import Schema
from benchmark.domain.report_rows import BothParses
from benchmark.suites.questions import BySample, Measured, Metrics, Resources, Sample, SuiteData
from benchmark.suites.reports import GroupMetrics, LabelledCounts
from benchmark.suites.settings import Settings
from core.plain import Json, plain

Labels = Sequence[Sequence[str]]
"""[[label of each dimension, "" without one] of each proposition]"""
Settled = Sequence[Sequence[tuple[str, By]]]
"""[[(gold label, by what it is settled) without the person of each dimension] of each proposition]"""

LabelsOf = Callable[[Sample, Schema, Sequence[SuiteData]], Sequence[Mapping[int, Sequence[str]]]]
"""See `Suite.labels`."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One sample with the labels that a person gave it, and its gold without this person; the gold of `sample` contains
    the person's own votes."""

    sample: Sample
    labels: Labels
    settled: Settled


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who voted (`role` annotator) or adjudicated (expert), the `number`-th of the dataset by name.

    `samples` are those that models were asked about, `labelled` those of them in which the person labelled something;
    `settings` are what the run was launched with.
    """

    name: str
    role: str
    number: int
    labelled: Sequence[Labelled]
    samples: Sequence[Sample]
    settings: Settings
    resources: Resources


@dataclass(frozen=True, slots=True)
class PersonMetrics:
    """The figures of a person as those of a model, with how much is `labelled` and the `own` figures, both as
    `PersonMeasured` has them."""

    metrics: Metrics | None
    labelled: LabelledCounts
    own: BothParses

    def reported(self) -> GroupMetrics:
        """Return the figures as a report has them."""
        metrics = self.metrics.reported() if self.metrics else GroupMetrics()
        return replace(metrics, labelled=self.labelled, own=self.own)


@dataclass(frozen=True, slots=True)
class PersonBySample:
    """The figures of a person sample by sample, and the `own` ones."""

    by_sample: BySample | None
    own: BySample

    def as_json(self) -> Json:
        """Return what `BySample.as_json` says, and own."""
        return {**(plain(self.by_sample) or {}), "own": plain(self.own)}


@dataclass(frozen=True, slots=True)
class MeasuredOfPerson:
    """The result of the metric group that a suite names for people."""

    metrics: PersonMetrics
    by_sample: PersonBySample


@dataclass(frozen=True, slots=True)
class PersonMeasured:
    """The results of a person's labels: figures by metric group as of a model, against gold without the person, and
    `own`, the figures against gold that contains the person's own votes, with how much the person `labelled`."""

    measured: Mapping[str, Measured | None]
    own: tuple[BothParses, BySample]
    labelled: LabelledCounts

    def by_group(self, of_people: str) -> dict[str, Measured | MeasuredOfPerson | None]:
        """Return the results by metric group; those of `of_people`, which the suite names for people, say what is
        labelled and own too."""
        result, (own, own_by_sample) = self.measured[of_people], self.own
        metrics = PersonMetrics(result.metrics if result else None, self.labelled, own)
        by_sample = PersonBySample(result.by_sample if result else None, own_by_sample)
        return {**self.measured, of_people: MeasuredOfPerson(metrics, by_sample)}
