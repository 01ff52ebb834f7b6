"""The data of calibration: rows of tables, with what people and a judge said of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.messages import gettext_noop
from judge.domain.judgements import PassVerdict, RowJudgement


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
