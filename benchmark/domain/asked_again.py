"""One model asked in two ways, such as published and under a control, or plain and by a method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmark.domain.flips import Flips
from benchmark.domain.inference.answered_pairs import Difference
from core.statistics import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain(Difference):
    """The difference of a model's scores in two ways: published less controlled, or by a method less plain."""

    key: str
    model: str
    kind: str
    entrant: int | None
    run: str
    way: str
    """The name of the control or of the method."""
    title: str
    beside: str | None = None
    """The run that asked it this way, and its entrant. None if no run did."""
    beside_entrant: int | None = None
    means: Sequence[float | None] = (None, None)
    """The scores in both ways, over the samples of the difference."""
    score: Estimate | None = None
    """The score by the method over all samples that it was asked."""
    why: str = ""
    """The reason why the row has no score or no difference."""
    part: str = ""
    """The part of the samples. Empty for all of them."""
    same_answer: float | None = None
    """The share of samples with the same answer in both ways. None if answers are not compared."""
    same_score: float | None = None
    flips: Sequence[int] = ()
    """The numbers of the samples with another answer; with another score, largest difference first, if answers are not
    compared."""
    stories: Sequence[Flips] = ()
    """The flips of each cluster that has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """The samples that a control leaves unchanged: how many, which as ranges, and why."""

    title: str
    control: str
    samples: int
    same: int
    numbers: str
    why: str
    steps: str
    """The steps that are not asked under the control."""
    noun: Sequence[str]
    still: Sequence[str] = ()
    """The scores of metric groups that the control leaves unchanged."""
    unread: str = ""
    """The reason why answers under the control cannot be read."""


Rows = Mapping[str, Mapping[str, Sequence[AskedAgain]]]
"""Rows by metric group and parse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgainResults:
    """The rows of all models under the controls of a run, or by each method."""

    rows: Rows
    ways: Mapping[str, str] = field(default_factory=dict)
    """The titles of methods by name; the first is plain."""
    parts: Rows = field(default_factory=dict)
    """Rows of each part of the samples, of metric groups that have parts."""
    without_parts: Mapping[str, str] = field(default_factory=dict)
    """The reasons why a suite could not make them, by metric group."""
    left: Sequence[Left] = ()
    unfinished: Sequence[str] = ()
    """The titles of the runs that are not finished."""
