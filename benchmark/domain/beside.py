"""One model asked in two ways, held beside each other: rows of the controls and of the methods of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Self

from benchmark.domain.flips import Flips
from benchmark.domain.inference.answered_pairs import Difference
from core.statistics import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain(Difference):
    """A model that was asked in another way by the run `beside`, as its entrant `beside_entrant`; both are None where
    it was not. `title` names the way."""

    key: str
    model: str
    kind: str
    entrant: int | None
    run: str
    title: str
    beside: str | None = None
    beside_entrant: int | None = None

    def with_difference(self, difference: Difference) -> Self:
        """Return the row with a difference that was made apart from it."""
        return replace(self, **{field.name: getattr(difference, field.name) for field in fields(Difference)})


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRow(AskedAgain):
    """One model under one control: its score as `published` and under the control, over the samples that the control
    changes and that were answered both ways.

    `same_score` is the share of samples with the same score both ways, `same_answer` that with the same answer, None
    where answers are not compared. `flips` are the numbers of the samples with another answer, where answers are not
    compared (`by_score`) another score, the largest difference first, and `stories` those of each cluster with one.
    """

    control: str
    published: float | None
    controlled: float | None
    same_answer: float | None
    same_score: float | None
    by_score: bool
    flips: Sequence[int]
    stories: Sequence[Flips]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRow(AskedAgain):
    """One model by one method: its `score` with its interval over the samples of the run that it was asked about by the
    method, and over those answered both ways its `own` score less that of the `plain` method. `why` says what there is
    not; `part` names the part of the samples that it is about, empty for all."""

    method: str
    score: Estimate | None = None
    own: float | None = None
    plain: float | None = None
    why: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Samples that a control leaves as they are: so many are the `same`, whose `numbers` are told in ranges, and `why`.

    `steps` are those that are not asked under it, `still` the scores of groups no sample or set of which it changes,
    which have no row, and `unread` says why the control cannot be read.
    """

    control: str
    title: str
    samples: int
    same: int
    numbers: str
    why: str
    steps: str
    noun: Sequence[str]
    still: Sequence[str] = ()
    unread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlResults:
    """The results of models under the controls of a run: `rows` by metric group and parse, `methods` a sentence on each
    of these tables, `left` what each control leaves as it is, `unfinished` the titles of runs that go on."""

    rows: Mapping[str, Mapping[str, Sequence[ControlRow]]]
    methods: Mapping[str, Mapping[str, str]]
    left: Sequence[Left]
    unfinished: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodResults:
    """The results of the models of a run by each method: `methods` are titles by name, others are held against `plain`,
    `rows` by metric group and parse, `how` a sentence on each of these tables, `unfinished` the titles of runs that go
    on. `parts` are rows of each part of the samples, of groups that have parts, `without_parts` says by group why a
    suite could not make them."""

    methods: Mapping[str, str]
    plain: str
    rows: Mapping[str, Mapping[str, Sequence[MethodRow]]]
    how: Mapping[str, Mapping[str, str]]
    unfinished: Sequence[str] = ()
    parts: Mapping[str, Mapping[str, Sequence[MethodRow]]] = field(default_factory=dict)
    without_parts: Mapping[str, str] = field(default_factory=dict)
