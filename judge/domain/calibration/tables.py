"""The data of calibration: rows of tables, with what people and a judge said of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.messages import gettext_noop
from core.statistics import harmonic
from judge.domain.judgements import PassVerdict, RowJudgement


@dataclass(frozen=True, slots=True)
class Matches:
    """Count of matched rows of both tables of a story; of the `open` ones people could not tell, or the judge has no
    verdict: they are among the rows and not among the matched, and in no score."""

    predicted: int
    matched_predicted: int
    gold: int
    matched_gold: int
    open_predicted: int = 0
    open_gold: int = 0

    @property
    def precision(self) -> float:
        return share(self.matched_predicted, self.predicted - self.open_predicted)

    @property
    def recall(self) -> float:
        return share(self.matched_gold, self.gold - self.open_gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 where both are."""
        return harmonic(self.precision, self.recall)

    def has_value(self, metric: Metric) -> bool:
        """Return whether there is a score by that metric: not where every row of a table that it is of is open."""
        sides = {
            Metric.PRECISION: not self.predicted or self.open_predicted < self.predicted,
            Metric.RECALL: not self.gold or self.open_gold < self.gold,
        }
        return sides.get(metric, all(sides.values()))

    def settled(self, *, matched: bool) -> Matches:
        """Return these with every open row matched, or not."""
        return Matches(
            self.predicted,
            self.matched_predicted + self.open_predicted * matched,
            self.gold,
            self.matched_gold + self.open_gold * matched,
        )


def share(part: int, whole: int) -> float:
    """Return `part` of `whole`; 0 of nothing is 0, as official scoring has it."""
    return part / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class JudgedStory:
    """One model's table of one story: what the judge said, and people where they aligned it, drawn with that
    `probability` within its `stratum`, empty in a simple random sample."""

    story: str
    category: str
    judged: Matches
    human: Matches | None = None
    probability: float | None = None
    stratum: str = ""

    @property
    def certain(self) -> bool:
        """Return whether nothing can be matched, so that nobody has to look: a table without rows."""
        return not (self.judged.predicted and self.judged.gold)


class Metric(StrEnum):
    PRECISION = "precision"
    RECALL = "recall"
    F1 = "f1"


class Averaging(StrEnum):
    """Over what a score is averaged: the two official ways."""

    STORIES = "stories"
    CATEGORIES = "categories"


def score_of(matches: Matches, metric: Metric) -> float:
    """Return a story's score by that metric."""
    return float(getattr(matches, metric.value))


class Unknown(StrEnum):
    """The reason why a row has no MatchCount."""

    MISSING = gettext_noop("missing")
    UNCLEAR = gettext_noop("unclear")
    """Asked, and answered "cannot tell"."""


MatchCount = int | Unknown
"""The number of rows of the other table that a row is linked with, or why that is not known."""


def count_of(row: RowJudgement) -> MatchCount:
    """Return the MatchCount of a judged row, or why it has none."""
    if row.count is not None:
        return row.count
    return Unknown.MISSING if row.missing else Unknown.UNCLEAR


def count_read(of_pass: PassVerdict | None) -> MatchCount:
    """Return the MatchCount that one pass gives a row, or why it gives none."""
    if of_pass is None:
        return Unknown.MISSING
    return Unknown.UNCLEAR if of_pass.count is None else of_pass.count


class Side(StrEnum):
    PREDICTION = gettext_noop("prediction")
    GOLD = gettext_noop("gold")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a prediction or gold table. `name` finds it in its table; `judge` is the MatchCount that scores use,
    `passes` what the judge said each time, where it was asked more than once. `groups` are the row's groups by the
    keys of what its suite groups rows by, empty where it is in none."""

    name: str
    side: Side
    actor: str
    human: MatchCount
    judge: MatchCount
    passes: tuple[MatchCount, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """One model's prediction table of a story beside the gold table, aligned by people. `story` is the cluster;
    `probability` that with which the table was drawn to be aligned within its `stratum`, empty in a simple random
    sample."""

    key: str
    story: str
    model: str
    category: str
    probability: float
    rows: tuple[Row, ...]
    stratum: str = ""

    @property
    def weight(self) -> float:
        """Return how many tables this one stands for."""
        return 1 / self.probability


def matched(count: MatchCount) -> bool | None:
    """Return whether a row is matched; None where that is not known."""
    return None if isinstance(count, Unknown) else count > 0


def known_rows(tables: Iterable[Table]) -> int:
    """Return on how many rows both people and the judge have a verdict."""
    return sum(None not in (matched(row.human), matched(row.judge)) for table in tables for row in table.rows)
