"""The results of a metric group as a report has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmark.domain.report_rows import BothParses
from benchmark.suites.analyses import KeptAnalysis
from core.plain import Json, plain, read_as


@dataclass(frozen=True, slots=True)
class Level:
    """The mean of what `n` samples come to without a model."""

    value: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineLevels:
    """Score to be expected by `chance`, and that of the answer that is right most often, the `majority`; None where
    that is not defined. `by_category` has both by name and category, of those where they are defined."""

    chance: Level | None = None
    majority: Level | None = None
    by_category: Mapping[str, Mapping[str, Level]] = field(default_factory=dict)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> BaselineLevels:
        levels = {name: read_as(Level, kept[name]) for name in ("chance", "majority") if kept.get(name)}
        by_category = {
            name: {category: read_as(Level, level) for category, level in categories.items()}
            for name, categories in (kept.get("category_levels") or {}).items()
        }
        return cls(**levels, by_category=by_category)

    def as_json(self) -> Json:
        """{chance: {value, n}, majority: {value, n}, category_levels: {chance or majority: {category: {value, n}}}},
        None of what is not defined."""
        return {
            "chance": plain(self.chance),
            "majority": plain(self.majority),
            "category_levels": plain(self.by_category) or None,
        }

    def of(self, name: str) -> Level | None:
        return self.chance if name == "chance" else self.majority

    def of_categories(self, name: str) -> Mapping[str, Level]:
        return self.by_category.get(name, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCounts:
    """Count of the stories and cells that models were asked about and a person labelled; and how many of these cells
    are settled without the person, by the other `votes`, an `expert` or the `record`, and how many stay `open`."""

    stories: int
    of_stories: int
    cells: int
    of_cells: int
    votes: int
    expert: int
    record: int
    open: int

    @property
    def settled(self) -> Mapping[str, int]:
        """The cells that are settled, by what."""
        return {"votes": self.votes, "expert": self.expert, "record": self.record}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetrics:
    """The results of somebody in a metric group.

    `reason` says why there are no official figures; `answered` counts the answers that official scoring takes, of those
    `asked`. `analyses` are those by parse, None where the parse has no figures. Of a person, in the group that the
    suite names for people, `labelled` counts what they labelled and `own` are the figures against gold with their own
    votes.
    """

    parses: BothParses = field(default_factory=BothParses)
    answered: int | None = None
    asked: int | None = None
    analyses: Mapping[str, KeptAnalysis | None] | None = None
    reason: str = ""
    levels: BaselineLevels = field(default_factory=BaselineLevels)
    labelled: LabelledCounts | None = None
    own: BothParses | None = None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> GroupMetrics:
        """Return the results that `as_json` made."""
        own, labelled, analyses = kept.get("own"), kept.get("labelled"), kept.get("analyses")
        return cls(
            parses=BothParses.from_json(kept),
            answered=kept.get("answered"),
            asked=kept.get("asked"),
            analyses=analyses and {parse: analysis and KeptAnalysis(analysis) for parse, analysis in analyses.items()},
            reason=kept.get("reason") or "",
            levels=BaselineLevels.from_json(kept),
            labelled=read_as(LabelledCounts, labelled) if labelled else None,
            own=None if own is None else BothParses.from_json(own),
        )

    def as_json(self) -> Json:
        """{official, repaired, answered, asked, analyses[, reason][, chance][, majority][, category_levels][, labelled,
        own]}."""
        there = {
            "answered": self.answered,
            "asked": self.asked,
            "analyses": plain(self.analyses),
            "reason": self.reason or None,
            **self.levels.as_json(),
            "labelled": plain(self.labelled),
            "own": plain(self.own),
        }
        return {**self.parses.as_json(), **{name: value for name, value in there.items() if value is not None}}

    def analysed(self, parse: str) -> KeptAnalysis | None:
        """Return the analysis of a parse, None where there is nothing in it."""
        analysis = (self.analyses or {}).get(parse)
        return analysis if analysis and analysis.kept else None
