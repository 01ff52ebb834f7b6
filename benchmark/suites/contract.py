"""What a suite says of itself: everything outside its folder is made from this.

A suite is a folder of `benchmark/suites` with a `suite.py` that holds one `Suite`, and a line in `registry.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option of `score_outputs`; `default` also says its type."""

    name: str
    default: str | int
    help: str
    choices: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """Metrics that rest on the same answers and stand in one table; models are ranked within a group.

    `key` is unique among all suites: addresses, kept reports and files name a group by it. `shares` are the metrics that every story has,
    as fractions from 0 to 1; `headers` name those of a table's row, in order, the mean of the categories' means of a share (under
    `<share>_category_mean`) among them where `category_mean` names that share. `score` is the share that models are ranked and compared by,
    `score_title` its name in words. `prompt` is the step whose prompt the model reads, `rests_on` all steps whose answers count, `scored` the
    one whose items carry the figures. `judged` says whether a judge stands between answer and figure; `notes` explain metrics under a table.
    """

    key: str
    title: str
    noun: str
    shares: tuple[str, ...]
    headers: Mapping[str, str]
    score: str
    score_title: str
    prompt: str
    rests_on: tuple[str, ...]
    scored: str
    judged: bool = False
    category_mean: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """A benchmark. `score(data, answers, **options)` reads answers made elsewhere: both paths in, {"official", "repaired"} out; raises ValueError."""

    name: str
    title: str
    groups: tuple[MetricGroup, ...]
    score: Callable[..., dict[str, Any]]
    options: tuple[Option, ...] = ()
