"""Filters of a run's items by what their answers hold, and the number of rows of an item that each means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmark.suites.asked import Resources, Sample, SuiteData

Choice = tuple[str, str]
"""(value, label)"""

OF_EVERY_SUITE = frozenset(
    ("model", "step", "state", "problem", "category", "split", "parse", "sort", "page")
)  # fmt: skip
"""Names in the address of the page of items that every suite has; no filter of a suite can have one of these names."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A choice by which the page of items narrows to those that hold rows of a kind; `name` is that of its parameter in
    addresses.

    Where its choices depend on another filter, `on` names that one, and `choices_on` has them by what it is set to;
    else they are `choices`. `steps` are those whose items have such rows, empty for all that have rows.
    """

    name: str
    label: str
    choices: tuple[Choice, ...] = ()
    on: str = ""
    choices_on: Mapping[str, tuple[Choice, ...]] = field(default_factory=dict)
    steps: tuple[str, ...] = ()

    def offered(self, chosen: Mapping[str, str]) -> tuple[Choice, ...]:
        """The choices beside what else is `chosen`, by name."""
        return self.choices_on.get(chosen.get(self.on, ""), ()) if self.on else self.choices


@dataclass(frozen=True, slots=True)
class KeptParse:
    """An item's answer in one of both parses: `parsed` is what `Parsed` has of it, `official` says of
    which."""

    sample: Sample
    step: str
    official: bool
    parsed: SuiteData
    resources: Resources


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that figures count. The items of `steps` hold them.

    `count(parse, chosen)` is (rows meant, rows they are among) of one item, where `chosen` are the values of
    `filters` by name, those that are set alone. `share(chosen)` is the heading of that pair where it is the share that
    a figure averages, so that items with rows of which none is meant are listed as well; empty where only items with a
    row that is meant are. `unreadable(parse)` is how many rows were asked for where official parsing gets nothing out
    of the answer, else 0; without it nobody is offered the official parse.
    """

    steps: tuple[str, ...]
    filters: tuple[Filter, ...]
    count: Callable[[KeptParse, Mapping[str, str]], tuple[int, int]]
    share: Callable[[Mapping[str, str]], str] | None = None
    unreadable: Callable[[KeptParse], int] | None = None

    def steps_of(self, chosen: Mapping[str, str]) -> frozenset[str]:
        """The steps whose items can hold the rows of all chosen filters."""
        steps = frozenset(self.steps)
        for item_filter in self.filters:
            if item_filter.name in chosen and item_filter.steps:
                steps &= frozenset(item_filter.steps)
        return steps
