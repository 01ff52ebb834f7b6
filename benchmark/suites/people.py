"""People beside models: what a person labelled, and the gold that holds without the person."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from annotation.domain.resolution import By
from annotation.domain.schema import Schema
from benchmark.suites.questions import Resources, Sample, SuiteData
from benchmark.suites.reports import GroupMetrics, LabelledCounts
from benchmark.suites.settings import Settings

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
class PersonMeasured:
    """The results of a person's labels: figures by metric group as of a model, against gold without the person, and
    `own`, the figures against gold that contains the person's own votes, with how much the person `labelled`."""

    measured: Mapping[str, GroupMetrics | None]
    own: GroupMetrics
    labelled: LabelledCounts
