"""Results that a suite shows beyond what every suite gets, and where they stand on a page.

Every metric group has its ranking, its score by category and by facet, its single repetitions, the differences between
all pairs and the self-test of its judge without a word of its suite.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from benchmark.domain.drawn import Plot
from benchmark.domain.inference import RankedModel
from benchmark.domain.provenance import EndpointSpec
from benchmark.domain.report_rows import BothParses
from benchmark.domain.tables import Table
from benchmark.suites.judges import JudgeTestSummary
from benchmark.suites.reports import GroupMetrics
from core.plain import NOT_KEPT
from judge.domain.corrections import Correction


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantResults:
    """One model, baseline or person of one run in one metric group, with its place in a ranking."""

    key: str
    name: str
    kind: str
    run: str
    run_title: str
    at: datetime
    entrant: int | None
    """The id of the entrant. People have none."""
    metrics: GroupMetrics
    """The figures over the samples of the ranking."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The settings of the run that bear on the figures, in words by name."""
    role: str = ""
    """The role of a person: annotator or expert."""
    judge_test: JudgeTestSummary | None = None
    within: Mapping[str, str | None] = field(default_factory=dict)
    """The names of the conditions that the ranking is within."""
    others: int | None = None
    """The number of earlier entrants that it stands for. None if all have rows of their own."""
    family: str = ""
    """The family of its model. People and baselines have none."""
    model: str = ""
    """A name that no other entrant of the ranking has."""
    own: str = ""
    """The settings that not all entrants of the ranking have."""
    ranking: Mapping[str, RankedModel | None] = field(default_factory=dict)
    """Its place in the ranking by parse (`inference.leaderboard`). None if it is not ranked."""
    no_letters: Mapping[str, str] = field(default_factory=dict)
    """The reasons why the ranking has no letters, by parse."""
    corrected: Correction | None = None
    """Its scores without the judge's error. None for a reader who may not know them."""

    # Snapshots do not keep these.
    person: str = field(default="", metadata=NOT_KEPT)
    """The user name of a person."""
    spec: EndpointSpec = field(default_factory=EndpointSpec, metadata=NOT_KEPT)
    conditions: Mapping[str, Sequence[str] | None] = field(default_factory=dict, metadata=NOT_KEPT)
    """The name and the digest of each condition that a ranking is within."""
    numbers: Sequence[int] = field(default=(), metadata=NOT_KEPT)
    """The numbers of the samples of the run."""
    scores: int = field(default=0, metadata=NOT_KEPT)
    """The id of the `StoryScores`."""

    @property
    def parses(self) -> BothParses:
        return self.metrics.parses

    @property
    def group(self) -> dict[str, str | None]:
        """The letters of models that it cannot be told apart from, by parse."""
        return {parse: rank.group if rank else None for parse, rank in self.ranking.items()}

    @property
    def unranked(self) -> bool:
        """True for people, and for a model that has no rank because too much of it was lost."""
        ranking = self.ranking.get("repaired")
        return self.kind == "person" or bool(ranking and ranking.rank is None)


EntrantsByGroup = Mapping[str, Sequence[EntrantResults]]
"""Entrants by key of metric group."""


@dataclass(frozen=True, slots=True)
class ParseResults:
    """The material of tables and pictures of one parse, for each metric group of the suite: all `entrants`, those
    that are `read`, with figures of the parse, and those that are `analysed`, with analyses of it too, which no
    leaderboard has. Nobody changes any of it: other pages are shown the same."""

    parse: str
    entrants: EntrantsByGroup
    read: EntrantsByGroup
    analysed: EntrantsByGroup


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table, which `make` makes when it is asked for.

    `groups` are the metric groups whose models have a row each; it names those that have none, with the reason.
    `keeps_unreadable` says that models without figures of the parse have a row too. `whole` says that it is over all
    samples and counts no gold, so that whoever still has work to do on some of them may see it.
    """

    make: Callable[[], Table]
    groups: tuple[str, ...] = ()
    keeps_unreadable: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture. `plot` binds what draws it to its data, when it is asked for; `groups` and `whole` are as those of a
    table. `parts` names the part of it that has the figure of a (table, column): rows of papers with such figures stand
    in it, as the `references` of its frame."""

    title: str
    plot: Callable[[], Plot]
    groups: tuple[str, ...] = ()
    whole: bool = False
    parts: Mapping[tuple[str, str], str] = field(default_factory=dict)


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
