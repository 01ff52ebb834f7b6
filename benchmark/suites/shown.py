"""Results that a suite shows beyond what every suite gets, and where they stand on a page.

Every metric group has its ranking, its score by category and by facet, its single repetitions, the differences between
all pairs and the self-test of its judge without a word of its suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from benchmark.domain.tables import Table


class EntrantResults(TypedDict):
    """One model, baseline or person of one run in one metric group, as plain data; one that was frozen may be older
    than some of it.

    `model` is its unique label, `own` the settings that not all have, `figures` the group's of the report, `scores` the
    id of its `StoryScores`; `others` is how many earlier entrants it stands for, `within` what all models of its
    ranking have in common. A ranking adds `parses`, the figures of its selection, and by parse `ranking`, `group`,
    its letters, and `no_letters`, why there are none.
    """

    key: str
    name: str
    model: str
    kind: str
    run: str
    run_title: str
    entrant: int | None
    settings: dict[str, str]
    own: str
    figures: dict[str, Any]
    readings: dict[str, Any]
    role: NotRequired[str]
    person: NotRequired[str]
    at: NotRequired[Any]
    judge_test: NotRequired[dict[str, Any] | None]
    spec: NotRequired[dict[str, Any]]
    conditions: NotRequired[dict[str, Any]]
    numbers: NotRequired[Sequence[int]]
    scores: NotRequired[int]
    within: NotRequired[dict[str, str]]
    others: NotRequired[int]
    ranking: NotRequired[dict[str, Any]]
    group: NotRequired[dict[str, Any]]
    no_letters: NotRequired[dict[str, str]]


EntrantsByGroup = Mapping[str, Sequence[EntrantResults]]
"""Entrants by key of metric group."""


@dataclass(frozen=True, slots=True)
class ParseResults:
    """The material of tables and pictures of one parse, for each metric group of the suite: all `entrants`, those
    that are `read`, with figures of the parse, and those that are `analysed`, with analyses of it too, which no
    leaderboard has."""

    parse: str
    entrants: EntrantsByGroup
    read: EntrantsByGroup
    analysed: EntrantsByGroup


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table, which `make` makes when it is asked for.

    `groups` are the metric groups whose models have a row each; it names those that have none, with the reason.
    `keeps_unread` says that models without figures of the parse have a row too. `whole` says that it is over all
    samples and counts no gold, so that whoever still has work to do on some of them may see it.
    """

    make: Callable[[], Table]
    groups: tuple[str, ...] = ()
    keeps_unread: bool = False
    whole: bool = False


Plot = Callable[..., bytes]
"""Takes what `ShownPicture.arguments` makes, its `positional` first, then `note`, and `format`, `theme` and `width`:
`benchmark.domain.plots.drawing.plot` makes one."""


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture. `plot()` is what draws it, and is only then imported, as matplotlib takes a second to load; `groups`
    and `whole` are as those of a table."""

    title: str
    plot: Callable[[], Plot]
    arguments: Callable[[], Mapping[str, Any]]
    groups: tuple[str, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: pictures, then the tables behind them, by their names without the parse. One of the
    benchmark's `paper` holds tables that it prints: these stand before everything else, in the order of the suite, with
    the tables open."""

    title: str
    pictures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    paper: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A reader's choice: `field` names it in an address, `options` are (value, label), the first to begin
    with."""

    field: str
    label: str
    options: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Explored:
    """The content of an `Explorer` at one choice, by names without the parse. `matrix` names both a table and a picture
    of it: a row for each label under `gold`, a count for each label said, its share of the row under `<label> share`,
    and `total`. `picture` and `table` stand below it."""

    matrix: str
    picture: str
    table: str


@dataclass(frozen=True, slots=True)
class Explorer:
    """A part of a page in which a reader looks at one of many confusion matrices. `key` is its anchor in an address,
    `choices(results)` are what is chosen by, none where there is nothing to show, and `shows` is what a choice shows,
    from the value of each field."""

    key: str
    title: str
    choices: Callable[[ParseResults], Sequence[Choice]]
    shows: Callable[[Mapping[str, str]], Explored]


def nothing(results: ParseResults) -> dict[str, Any]:
    """Return what a suite shows beyond what every suite gets, unless it says so."""
    return {}
