"""Filters of a run's items by what their answers hold, and the number of rows of an item that each means."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmark.suites.questions import ItemView, Resources, Sample, SuiteData

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


MOST_LINES = 400
"""Lines of one answer that a page shows."""


@dataclass(frozen=True, slots=True)
class ReadLine:
    """One thing that an answer is read for: `about` says what, `part` which part of it where there are several. Lines
    of two answers that have the same `about` and `part` stand beside each other; None where a parse has nothing of
    it, or gold has not.

    `right` and `officially_right` are what the score says of the repaired and of the official parse, None where it
    does not say it of this line: no mark is made of words that are equal. `note` stands small below the repaired
    parse, and is not compared.
    """

    about: str
    part: str = ""
    gold: str | None = None
    official: str | None = None
    repaired: str | None = None
    right: bool | None = None
    officially_right: bool | None = None
    note: str = ""


def lines_of(view: ItemView) -> list[ReadLine]:
    """Return the lines of an item of any suite, none of them marked: what gold has under each key, then what the
    parses have."""
    gold, official, repaired = (
        dict(_flat(fields)) for fields in (view.question.sample.gold, view.official or {}, view.repaired or {})
    )
    lines = [ReadLine(about=f"Gold: {_worded(key)}", gold=text) for key, text in gold.items()]
    lines += [
        ReadLine(about=f"Read: {_worded(key)}", official=official.get(key), repaired=repaired.get(key))
        for key in {**official, **repaired}
    ]
    return lines[:MOST_LINES]


def _flat(fields: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, value in fields.items():
        path = (*above, str(key))
        if isinstance(value, Mapping):
            yield from _flat(value, path)
        elif isinstance(value, list) and value and all(isinstance(entry, Mapping) for entry in value):
            for at, entry in enumerate(value, 1):
                yield from _flat(entry, (*path, str(at)))
        elif isinstance(value, bool):
            yield path, "yes" if value else "no"
        elif isinstance(value, list) and all(isinstance(entry, str) for entry in value):
            yield path, ", ".join(value) or "none"
        elif value is not None:
            yield path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _worded(path: tuple[str, ...]) -> str:
    return ", ".join(key.replace("_", " ") for key in path)
