"""Items that a metric group counts within a sample, one by one: the propositions of a story, say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.domain.schema import Schema
from benchmark.suites.asked import Sample, SuiteData

Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class FinerItems:
    """The items within a sample: `noun` is what one is called, one and many, `metrics` the shares of the group by which
    one is told, the first of them as a rule.

    `texts(sample, schema)` are (who, what) of each item, in order. `scores(sample, schema, parses)` says what each of
    several repaired parses of the group's scored step comes to in each item: shape (parses, items, metrics), from 0 to
    1, nan where nothing can be told.
    """

    noun: tuple[str, str]
    metrics: tuple[str, ...]
    texts: Callable[[Sample, Schema], Sequence[tuple[str, str]]]
    scores: Callable[[Sample, Schema, Sequence[SuiteData]], Floats]
