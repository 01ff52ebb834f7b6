"""Parts of a suite's samples by which a paper compares methods, such as scenarios or genres."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.asked import Entered, Parse

PartAnswers = Mapping[str, Sequence[tuple[int, Any]]]
"""The number of each sample with what its answer says, by part."""

CATEGORY = "category"
"""What stands in place of a facet where parts are by the categories of samples."""


@dataclass(frozen=True, slots=True)
class PartMetric:
    """A metric of a part that is not a mean over samples, such as macro F1.

    `title` is its name in words, `note` says below a table what it counts. `answers(entered, parse)` returns what a
    model's answers say, parts in the order in which tables have them; `is_read(answer)` whether one of them could be
    read. `estimate(answers, seed)` is the metric of some answers. `difference(answers, others, seed)` is that by one
    method less by another over what could be read of both, on the same resamples: both have the same samples in the
    same order.
    """

    title: str
    note: str
    answers: Callable[[Entered, Parse], PartAnswers]
    is_read: Callable[[Any], bool]
    estimate: Callable[[Sequence[Any], int], BoundedEstimate]
    difference: Callable[[Sequence[Any], Sequence[Any], int], BoundedEstimate]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts by which methods are held against each other beside the whole: by the values of `Sample.content` under
    `facet`, or by CATEGORY, in the score of the metric group, or, where `facet` is empty, in a `metric` of their own.
    `part_of(value)` is the part to which a value belongs, which is the value itself where there is no such function.
    `heading` is what a part is called, `values` are those that are parts, in the order in which tables have them, none
    for all, `short` names of parts for narrow columns."""

    heading: str
    facet: str = ""
    values: tuple[str, ...] = ()
    short: Mapping[str, str] = field(default_factory=dict)
    part_of: Callable[[str], str] | None = None
    metric: PartMetric | None = None
