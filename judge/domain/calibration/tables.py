"""The data of calibration: rows of tables, with the MatchCounts of people and of a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.messages import gettext_noop
from core.statistics import harmonic
from judge.domain.judgements import PassVerdict, RowJudgement


class Metric(StrEnum):
    PRECISION = "precision"
    RECALL = "recall"
    F1 = "f1"


class Averaging(StrEnum):
    """The two official ways to average a score."""

    STORIES = "stories"
    CATEGORIES = "categories"


@dataclass(frozen=True, slots=True)
class Matches:
    """The numbers of rows of both tables of a story, and of matched ones. `open` rows, without a verdict, are among the
    rows but in no score."""

    predicted: int
    matched_predicted: int
    gold: int
    matched_gold: int
    open_predicted: int = 0
    open_gold: int = 0

    @classmethod
    def of(cls, predicted: Sequence[bool | None], gold: Sequence[bool | None]) -> Matches:
        """Return the numbers from whether each row is matched, None for an open one."""
        return cls(
            len(predicted), predicted.count(True), len(gold), gold.count(True), predicted.count(None), gold.count(None)
        )

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

    def score(self, metric: Metric) -> float:
        return float(getattr(self, metric.value))

    def has_value(self, metric: Metric) -> bool:
        """Return False if every row of a table that the metric is of is open."""
        predicted = not self.predicted or self.open_predicted < self.predicted
        gold = not self.gold or self.open_gold < self.gold
        return {Metric.PRECISION: predicted, Metric.RECALL: gold}.get(metric, predicted and gold)

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
    """One model's table of one story by the judge, and by people if they aligned it. It was drawn for them with that
    `probability` within its `stratum`, empty in a simple random sample."""

    story: str
    category: str
    judged: Matches
    human: Matches | None = None
    probability: float | None = None
    stratum: str = ""

    @property
    def certain(self) -> bool:
        """True for a table without rows: nothing can be matched, so that nobody has to look."""
        return not (self.judged.predicted and self.judged.gold)


class Unknown(StrEnum):
    """The reason why a row has no MatchCount."""

    MISSING = gettext_noop("missing")
    UNCLEAR = gettext_noop("unclear")
    """Asked, and answered "cannot tell"."""


MatchCount = int | Unknown
"""The number of rows of the other table that a row is linked with, or why that is not known."""


def matched(count: MatchCount) -> bool | None:
    """Return whether a row is matched; None where that is not known."""
    return None if isinstance(count, Unknown) else count > 0


def count_of(row: RowJudgement) -> MatchCount:
    """Return the MatchCount of a judged row."""
    if row.count is not None:
        return row.count
    return Unknown.MISSING if row.missing else Unknown.UNCLEAR


def count_read(of_pass: PassVerdict | None) -> MatchCount:
    """Return the MatchCount that one pass gives a row."""
    if of_pass is None:
        return Unknown.MISSING
    return Unknown.UNCLEAR if of_pass.count is None else of_pass.count


class Side(StrEnum):
    PREDICTION = gettext_noop("prediction")
    GOLD = gettext_noop("gold")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a prediction or gold table, `name` in its table. Scores use the MatchCount `judge`; `passes` are those
    of each pass if the judge was asked more than once. `groups` are the row's groups by the keys of its suite's
    groupings."""

    name: str
    side: Side
    actor: str
    human: MatchCount
    judge: MatchCount
    passes: tuple[MatchCount, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdicts(self) -> tuple[bool | None, bool | None]:
        """Whether people and the judge match the row."""
        return matched(self.human), matched(self.judge)


@dataclass(frozen=True, slots=True)
class Table:
    """One model's prediction table of a story next to the gold table, aligned by people. `story` is the cluster;
    the table was drawn with `probability` within its `stratum`, empty in a simple random sample."""

    key: str
    story: str
    model: str
    category: str
    probability: float
    rows: tuple[Row, ...]
    stratum: str = ""

    @property
    def weight(self) -> float:
        """The number of tables that this one represents."""
        return 1 / self.probability


def group_of(key: str, table: Table, row: Row) -> str:
    """Return the group of a row by its category, model, side, or a grouping of its suite."""
    groups = {"category": table.category, "model": table.model, "side": row.side.value}
    return groups.get(key) or row.groups.get(key, "")
