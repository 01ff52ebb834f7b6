"""Results that a suite shows beyond what every suite gets, and where they stand on a page.

Every metric group has its ranking, its score by category and by facet, its single repetitions, the differences between
all pairs and the self-test of its judge without a word of its suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from benchmark.domain.drawn import Plot
from benchmark.domain.inference import ComparedModel
from benchmark.domain.provenance import EndpointSpec
from benchmark.domain.report_rows import BothParses, ParseRows
from benchmark.domain.tables import Table
from benchmark.suites.judges import JudgeTestSummary
from benchmark.suites.reports import BaselineLevels, GroupMetrics
from core.plain import Json, plain
from judge.domain.corrections import Correction


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntrant:
    """One model, baseline or person of one run in one metric group, as the run's report has it.

    `metrics` are the group's of the report, `settings` what bears on them, in words by name, `conditions` the name and
    the digest of each condition that a ranking is within, and `within` their names, one for each digest. `person` is
    the user name of a person, `role` what they are, `scores` the id of the `StoryScores`, `numbers` the samples of the
    run; `others` is how many earlier entrants it stands for, None where all are shown. What is kept of a report has no
    user name, numbers, scores, spec or conditions.
    """

    key: str
    name: str
    kind: str
    run: str
    run_title: str
    at: datetime
    entrant: int | None
    metrics: GroupMetrics
    settings: Mapping[str, str] = field(default_factory=dict)
    role: str = ""
    person: str = ""
    judge_test: JudgeTestSummary | None = None
    spec: EndpointSpec = field(default_factory=EndpointSpec)
    conditions: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    numbers: Sequence[int] = ()
    scores: int = 0
    within: Mapping[str, str | None] = field(default_factory=dict)
    others: int | None = None
    family: str = ""
    """The family of its model. It is empty for people and baselines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEntrant(RunEntrant):
    """An entrant beside others: `model` is a name that none of them has, `own` the settings that not all have."""

    model: str
    own: str

    @classmethod
    def of(cls, entrant: RunEntrant, *, model: str, own: str) -> NamedEntrant:
        return cls(model=model, own=own, **_fields_of(entrant, RunEntrant))


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantParses(BothParses):
    """The figures of an entrant over the stories of its ranking, by parse.

    `reason` says why there is no official parse. `own` are a person's against gold with the person's own votes.
    `levels` is what chance and the majority come to on these stories, None where its run is about more. `tells_levels`
    is not for who may not know them.
    """

    own: BothParses | None = None
    reason: str = ""
    levels: BaselineLevels | None = None
    tells_levels: bool = False

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> EntrantParses:
        """Return the figures that `as_json` made."""
        own, levels = kept.get("own"), kept.get("levels")
        return cls(
            official=ParseRows.from_json(kept["official"]),
            repaired=ParseRows.from_json(kept["repaired"]),
            own=None if own is None else BothParses.from_json(own),
            reason=kept.get("reason", ""),
            levels=BaselineLevels.from_json(levels) if levels else None,
            tells_levels="levels" in kept,
        )

    def as_json(self) -> Json:
        """{official, repaired[, own][, levels][, reason]}, the reason where there is no official parse."""
        return {
            **BothParses.as_json(self),
            **({} if self.own is None else {"own": self.own.as_json()}),
            **({"levels": plain(self.levels)} if self.tells_levels else {}),
            **({} if self.official else {"reason": self.reason}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantResults(NamedEntrant):
    """An entrant in a ranking, which tables and pictures are made of.

    `parses` are its figures over the stories of the ranking; by parse too are `ranking`, what `inference.leaderboard`
    says of it under the keys of entrants, None where it is not ranked, `group`, its letters, and `no_letters`, why the
    ranking has none. On a leaderboard of figures that rest on a judge, `corrected` are its
    scores without the judge's error, None for who may not know them.
    """

    parses: EntrantParses
    ranking: Mapping[str, ComparedModel | None] = field(default_factory=dict)
    group: Mapping[str, str | None] = field(default_factory=dict)
    no_letters: Mapping[str, str] = field(default_factory=dict)
    corrected: Correction | None = None

    @classmethod
    def ranked(
        cls,
        entrant: NamedEntrant,
        *,
        parses: EntrantParses,
        ranking: Mapping[str, ComparedModel | None],
        no_letters: Mapping[str, str],
    ) -> EntrantResults:
        group = {name: rank.group if rank else None for name, rank in ranking.items()}
        named = _fields_of(entrant, NamedEntrant)
        return cls(parses=parses, ranking=ranking, group=group, no_letters=no_letters, **named)


def _fields_of(entrant: RunEntrant, kind: type[RunEntrant]) -> dict[str, Any]:
    return {field.name: getattr(entrant, field.name) for field in fields(kind)}


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
