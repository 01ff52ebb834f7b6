"""What is found in the answers of one parse besides its figures: as it is made, and as reports keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, TypeVar

from benchmark.domain.bounded_estimates import BoundedEstimate, kept_estimates
from benchmark.domain.flips import Flips
from core.plain import WHERE_THERE_IS_ONE, Json, plain, read_as

Facet = Mapping[str, BoundedEstimate]
"""The estimate of a score by the value of a facet."""
_FACETS, _REPETITIONS, _INCOMPLETE = "facets", "repetitions", "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The scores of single `repetitions`: their `mean`, the standard deviation between them (`spread`), the `lowest`
    and `highest`, the share of samples with the same score in all (`same_score`), and the shares of the variance that
    lie between samples and between repetitions with their intervals, None where it cannot be split."""

    repetitions: int
    mean: float
    spread: float | None = None
    lowest: float | None = None
    highest: float | None = None
    same_score: float | None = None
    of_samples: float | None = None
    of_repetitions: float | None = None
    of_samples_interval: Sequence[float] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    of_repetitions_interval: Sequence[float] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


@dataclass(frozen=True, slots=True)
class SameAnswers:
    """The share of samples to which all repetitions give the same answer (`same_answer`), None without a sample that
    all answered, and the `stories` to which they do not, the most first."""

    same_answer: float | None
    stories: Sequence[Flips]


@dataclass(frozen=True, slots=True)
class Repetitions:
    """The `scores` of single repetitions, None where nothing is known, and how many of their `answers` are the same,
    None where these are not compared."""

    scores: Spread | None = None
    answers: SameAnswers | None = None

    def as_json(self) -> Json:
        """{repetitions, mean, spread, lowest, highest, same_score, of_samples, of_repetitions[, same_answer,
        stories]}."""
        return {**(plain(self.scores) if self.scores else {}), **(plain(self.answers) if self.answers else {})}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """Return what `as_json` made."""
        answers = None
        if "same_answer" in kept:
            answers = SameAnswers(kept["same_answer"], [Flips(*row) for row in kept["stories"]])
        return cls(read_as(Spread, kept) if "mean" in kept else None, answers)


class Finding(Protocol):
    """What a suite finds in answers besides figures that all suites have: a dataclass that its tables and plots
    read.

    `kept_as` is the key under which reports keep its fields, empty where they stand beside what all suites have.
    """

    kept_as: ClassVar[str]

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """Return what `core.plain.plain` made of one."""


FindingT = TypeVar("FindingT", bound=Finding)


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is found in the answers of one parse: the score by `facets`, the `repetitions` of a run that asks several
    times, in how many sets not all samples were asked (`incomplete`), and the suite's own `finding`. None of what there
    is not."""

    facets: Mapping[str, Facet] | None = None
    repetitions: Repetitions | None = None
    incomplete: int | None = None
    finding: Finding | None = None

    def as_json(self) -> Json:
        """{facets, repetitions, incomplete, and the finding under its key}, without what there is not."""
        finding = {} if self.finding is None else plain(self.finding)
        key = self.finding.kept_as if self.finding else ""
        common = {_FACETS: self.facets, _REPETITIONS: self.repetitions, _INCOMPLETE: self.incomplete}
        return {
            **({} if key else finding),
            **{name: plain(value) for name, value in common.items() if value is not None},
            **({key: finding} if key else {}),
        }


@dataclass(frozen=True)
class KeptAnalysis:
    """An analysis as a report keeps it, `kept`: each part is read when it is asked for first."""

    kept: Json

    def as_json(self) -> Json:
        return self.kept

    @cached_property
    def facets(self) -> Mapping[str, Facet]:
        """The score by facet and value."""
        return {name: kept_estimates(facet) for name, facet in self.kept.get(_FACETS, {}).items()}

    @cached_property
    def repetitions(self) -> Repetitions | None:
        repetitions = self.kept.get(_REPETITIONS)
        return None if repetitions is None else Repetitions.from_json(repetitions)

    @property
    def incomplete(self) -> int:
        """The number of sets of which not all samples were asked."""
        return int(self.kept.get(_INCOMPLETE) or 0)

    def finding(self, kind: type[FindingT]) -> FindingT | None:
        """Return what a suite found, None where the report has nothing of that kind."""
        if kind not in self._findings:
            kept = self.kept.get(kind.kept_as) if kind.kept_as else self.kept
            self._findings[kind] = kind.from_json(kept) if kept else None
        finding: FindingT | None = self._findings[kind]
        return finding

    @cached_property
    def _findings(self) -> dict[type, Any]:
        return {}
