"""A judge version beside people: overall, in groups, MatchCount by MatchCount, and against itself between passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from core.messages import gettext_noop
from core.plain import Json, plain
from core.statistics import SHARE, Floats, by_cluster, first_by_second, numbered
from judge.domain.calibration.agreement import Agreement, SpannedEstimate, agreement, estimate_ratio
from judge.domain.calibration.rows import MatchCount, Row, Table, Unknown, matched
from judge.domain.cluster_names import STORIES, ClusterName

MOST_COUNT = 3
"""The protocol allows no larger MatchCount; what is larger is one column."""
MORE = f"{MOST_COUNT + 1}+"
NO_PASSES = gettext_noop("no row was judged in two passes")
NO_COUNT = gettext_noop("no row has a MatchCount")


@dataclass(frozen=True, slots=True)
class CountShare:
    """The number of rows that have a MatchCount, their share of all rows that have one, and its interval over
    stories."""

    count: str
    rows: int
    share: SpannedEstimate


@dataclass(frozen=True, slots=True)
class Flips:
    """Rows judged in two passes or more. `doubtful` is the share whose verdict, matched or not, is not the same in
    all of them; `counts` that of rows whose MatchCount is not. `unanswered` rows have a verdict in some passes only.
    `names` are the doubtful rows as (table, row)."""

    passes: int
    rows: int
    unanswered: int
    doubtful: SpannedEstimate
    counts: SpannedEstimate
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration report of a judge version. The keys of groups are the values that rows or tables have;
    `by_grouping` has the groups of each key that the suite groups rows by."""

    overall: Agreement
    by_category: dict[str, Agreement]
    by_model: dict[str, Agreement]
    by_grouping: dict[str, dict[str, Agreement]]
    by_side: dict[str, Agreement]
    confusion: dict[tuple[str, str], int]
    human_counts: list[CountShare]
    judge_counts: list[CountShare]
    flips: Flips

    def as_json(self) -> Json:
        """Return it with the groups of each grouping under `by_<key>`, and the confusion as rows."""
        document: Json = {}
        for part in fields(self):
            if part.name == "by_grouping":
                document |= {f"by_{key}": plain(self.by_grouping[key]) for key in sorted(self.by_grouping)}
            elif part.name == "confusion":
                document[part.name] = [
                    {"people": people, "judge": judge, "rows": rows} for (people, judge), rows in self.confusion.items()
                ]
            else:
                document[part.name] = plain(getattr(self, part.name))
        return document


def calibration(
    tables: Sequence[Table], *, seed: int, over: ClusterName = STORIES, groupings: Sequence[str] = ()
) -> Calibration:
    """Return the report over all tables that people aligned; `groupings` are the keys that rows are grouped by."""
    return Calibration(
        overall=agreement(tables, seed=seed, over=over),
        by_category=_of_tables(tables, lambda table: table.category, seed, over),
        by_model=_of_tables(tables, lambda table: table.model, seed, over),
        by_grouping={key: _of_rows(tables, partial(_group, key), seed, over) for key in groupings},
        by_side=_of_rows(tables, lambda row: row.side.value, seed, over),
        confusion=confusion(tables),
        human_counts=match_counts(tables, lambda row: row.human, seed=seed, over=over),
        judge_counts=match_counts(tables, lambda row: row.judge, seed=seed, over=over),
        flips=flips(tables, seed=seed, over=over),
    )


def _of_tables(
    tables: Sequence[Table], group: Callable[[Table], str], seed: int, over: ClusterName
) -> dict[str, Agreement]:
    names = sorted({group(table) for table in tables})
    parts = {name: [table for table in tables if group(table) == name] for name in names}
    return {name: agreement(part, seed=seed, over=over) for name, part in parts.items()}


def _of_rows(
    tables: Sequence[Table], group: Callable[[Row], str], seed: int, over: ClusterName
) -> dict[str, Agreement]:
    names = sorted({group(row) for table in tables for row in table.rows})

    def in_group(name: str) -> Callable[[Row], bool]:
        return lambda row: group(row) == name

    return {name: agreement(tables, seed=seed, keep=in_group(name), over=over) for name in names}


def _group(key: str, row: Row) -> str:
    return row.groups.get(key, "")


def count_name(count: MatchCount) -> str:
    """Return what a MatchCount is called in tables: "0" to "3", "4+", or why there is none."""
    if isinstance(count, Unknown):
        return count.value
    return MORE if count > MOST_COUNT else str(max(count, 0))


def confusion(tables: Sequence[Table]) -> dict[tuple[str, str], int]:
    """Return how many rows have each MatchCount of people with each of the judge, as (people, judge); rows without one
    are counted under why."""
    return dict(Counter((count_name(row.human), count_name(row.judge)) for table in tables for row in table.rows))


def match_counts(
    tables: Sequence[Table], count_of: Callable[[Row], MatchCount], *, seed: int, over: ClusterName = STORIES
) -> list[CountShare]:
    """Return the distribution of the MatchCounts that rows have, and after it how many rows have none and why."""
    names = [[count_name(count_of(row)) for row in table.rows] for table in tables]
    seen = {name for row in names for name in row}
    counts = [str(count) for count in range(MOST_COUNT + 1)] + [MORE] * (MORE in seen)
    counted = np.array([sum(name in counts for name in row) for row in names])
    shares = []
    for count in counts:
        rows = np.array([row.count(count) for row in names])
        share = _share(tables, rows, counted, NO_COUNT, seed, over)
        shares.append(CountShare(count, int(rows.sum()), share))
    unknown = [why.value for why in Unknown if why.value in seen]
    nothing = SpannedEstimate(None, 0, reason=gettext_noop("these rows have no MatchCount"))
    return shares + [CountShare(why, sum(row.count(why) for row in names), nothing) for why in unknown]


def _share(
    tables: Sequence[Table], some: Floats, counted: Floats, empty: str, seed: int, over: ClusterName
) -> SpannedEstimate:
    """The share of rows, weighted as their tables are, with its interval over stories."""
    weights = np.array([[table.weight] for table in tables]).reshape(-1, 1)
    columns = by_cluster(np.column_stack([some, counted]) * weights, numbered([table.story for table in tables]))
    return estimate_ratio(
        columns,
        first_by_second,
        n=int(counted.sum()),
        scale=SHARE,
        empty=empty,
        seed=seed,
        over=over,
    )


def flips(tables: Sequence[Table], *, seed: int, over: ClusterName = STORIES) -> Flips:
    """Return how often a judge that is asked again says something else."""
    twice = [[row for row in table.rows if len(row.passes) > 1] for table in tables]
    whole = [[row for row in rows if None not in map(matched, row.passes)] for rows in twice]
    turned = [[row for row in rows if len(set(map(matched, row.passes))) > 1] for rows in whole]
    recounted = [[row for row in rows if len(set(row.passes)) > 1] for rows in whole]
    sizes = np.array([len(rows) for rows in whole])

    def share(part: list[list[Row]]) -> SpannedEstimate:
        return _share(tables, np.array([len(rows) for rows in part]), sizes, NO_PASSES, seed, over)

    return Flips(
        passes=max((len(row.passes) for rows in twice for row in rows), default=1),
        rows=int(sizes.sum()),
        unanswered=sum(map(len, twice)) - int(sizes.sum()),
        doubtful=share(turned),
        counts=share(recounted),
        names=tuple((table.key, row.name) for table, rows in zip(tables, turned, strict=True) for row in rows),
    )
