"""Agreement of a judge with people over stories: agreement, sensitivity, specificity and kappa.

Tables are weighted by the inverse of the probability with which they were drawn. A row without a verdict of people or
of the judge is in no estimate; the bounds of an estimate are its values with all those rows at their worst, and at
their best.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from core.messages import gettext_noop
from core.plain import Json, plain
from core.statistics import (
    DIFFERENCE,
    SHARE,
    Clusters,
    Floats,
    Measure,
    Scale,
    by_cluster,
    estimate_of,
    first_by_second,
    numbered,
    ratios,
)
from judge.domain.alignment import STORIES, ClusterName
from judge.domain.calibration.means import SpannedEstimate, Strata
from judge.domain.calibration.tables import MatchCount, Row, Table, Unknown, group_of, matched

NOTHING = gettext_noop("no row has a verdict of both people and the judge")
NO_MATCH = gettext_noop("no row is matched by people")
ALL_MATCHED = gettext_noop("every row is matched by people")
ONE_VERDICT = gettext_noop("people’s verdict is the same on every row, so that nothing can be told beyond chance")


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge next to people over rows of `tables` of `stories`. `by_story` is the published measure: the share of a
    table's rows on which they agree, averaged over tables; `by_row` pools the rows. `missing` and `unclear` count
    rows without a verdict, (of people, of the judge)."""

    tables: int
    stories: int
    rows: int
    known: int
    missing: tuple[int, int]
    unclear: tuple[int, int]
    by_story: SpannedEstimate
    by_row: SpannedEstimate
    sensitivity: SpannedEstimate
    specificity: SpannedEstimate
    kappa: SpannedEstimate


Keep = Callable[[Table, Row], bool]
Columns = Callable[[Floats], Floats]
Parts = Sequence[tuple[Table, Sequence[Row]]]
TP, FN, FP, TN = range(4)
# the cells that a row without a verdict is taken for, in this order: at worst, at best
_AGREES = (FN, FP, TP, TN), (TP, TN, FP, FN)
_FOUND = (FN, TN, FP, TP), (TP, TN, FP, FN)
_SPARED = (FP, TP, FN, TN), (TN, TP, FN, FP)


def agreement(
    tables: Sequence[Table], *, seed: int, keep: Keep = lambda _table, _row: True, over: ClusterName = STORIES
) -> Agreement:
    """Return the agreement of the judge with people over the rows to `keep`."""
    parts = [(table, rows) for table in tables if (rows := [row for row in table.rows if keep(table, row)])]
    rows = [row for _, of_table in parts for row in of_table]
    drawn_in = {table.story: table.stratum for table, _ in parts}
    strata = Strata(drawn_in)
    estimate = partial(
        _ratio,
        [table for table, _ in parts],
        seed=seed,
        over=over,
        strata=strata.numbers(drawn_in.values()) if strata.count > 1 else None,
    )
    cells = _cells(parts)
    known, shares = int(cells.sum()), _share_columns(cells)

    def bounded(
        measure: Measure, n: float, empty: str, orders: Sequence[Sequence[int]], columns: Columns = np.asarray
    ) -> SpannedEstimate:
        middle, low, high = (
            estimate(columns(of_tables), measure, n=int(n), empty=empty if known else NOTHING)
            for of_tables in (cells, *(_cells(parts, order) for order in orders))
        )
        return middle.between(low, high)

    return Agreement(
        tables=len(parts),
        stories=len(drawn_in),
        rows=len(rows),
        known=known,
        missing=_without_verdict(rows, Unknown.MISSING),
        unclear=_without_verdict(rows, Unknown.UNCLEAR),
        by_story=bounded(first_by_second, shares[:, 1].sum(), NOTHING, _AGREES, _share_columns),
        by_row=bounded(_agreeing, known, NOTHING, _AGREES),
        sensitivity=bounded(_sensitivity, cells[:, [TP, FN]].sum(), NO_MATCH, _FOUND),
        specificity=bounded(_specificity, cells[:, [TN, FP]].sum(), ALL_MATCHED, _SPARED),
        kappa=estimate(cells, _kappa, n=known, empty=ONE_VERDICT if known else NOTHING, scale=DIFFERENCE),
    )


def _ratio(
    tables: Sequence[Table],
    columns: Floats,
    measure: Measure,
    *,
    n: int,
    empty: str,
    seed: int,
    over: ClusterName,
    scale: Scale = SHARE,
    strata: Clusters | None = None,
) -> SpannedEstimate:
    """Return `measure` of columns of tables, shape (tables, k), weighted as these are, with its interval over
    stories."""
    weights = np.array([table.weight for table in tables]).reshape(-1, 1)
    sums = by_cluster(columns * weights, numbered([table.story for table in tables]))
    estimate = estimate_of(sums, measure, n=n, scale=scale, unit=over.plural, empty=empty, seed=seed, strata=strata)
    return SpannedEstimate(estimate.value, n, estimate.interval, reason=estimate.reason or "")


def _without_verdict(rows: Iterable[Row], why: Unknown) -> tuple[int, int]:
    cases = [(row.human == why, row.judge == why) for row in rows]
    return sum(human for human, _ in cases), sum(judge for _, judge in cases)


def _cells(parts: Parts, order: Sequence[int] = ()) -> Floats:
    """Return the two-by-two table of each table, shape (tables, 4). A row without a verdict counts as the first cell in
    `order` that is possible, and not at all without an order."""
    cells: Floats = np.zeros((len(parts), 4))
    for at, (_, rows) in enumerate(parts):
        for row in rows:
            sides = [[True, False] if verdict is None else [verdict] for verdict in row.verdicts]
            possible = [(TP if judge else FN) if human else (FP if judge else TN) for human, judge in product(*sides)]
            if order or len(possible) == 1:
                cells[at, min(possible, key=order.index) if order else possible[0]] += 1
    return cells


def _share_columns(cells: Floats) -> Floats:
    """Return the share of rows that agree, and whether the table has any, shape (tables, 2)."""
    shares = _agreeing(cells)
    has = np.isfinite(shares)
    return np.column_stack([np.where(has, shares, 0), has])


def _agreeing(cells: Floats) -> Floats:
    return ratios(cells[:, TP] + cells[:, TN], cells.sum(axis=1))


def _sensitivity(cells: Floats) -> Floats:
    return ratios(cells[:, TP], cells[:, TP] + cells[:, FN])


def _specificity(cells: Floats) -> Floats:
    return ratios(cells[:, TN], cells[:, TN] + cells[:, FP])


def _kappa(cells: Floats) -> Floats:
    """Cohen's kappa (1960) of weighted cells. Undefined if people's verdict is the same on every row, as it would be 0
    whatever the judge says."""
    total = cells.sum(axis=1)
    human, judge = ratios(cells[:, TP] + cells[:, FN], total), ratios(cells[:, TP] + cells[:, FP], total)
    expected = human * judge + (1 - human) * (1 - judge)
    unlike = (human > 1e-12) & (human < 1 - 1e-12) & (1 - expected > 1e-12)
    return ratios(_agreeing(cells) - expected, np.where(unlike, 1 - expected, 0))


MOST_COUNT = 3
"""The protocol allows no larger MatchCount; a larger one is shown as one column."""
MORE = f"{MOST_COUNT + 1}+"
NO_PASSES = gettext_noop("no row was judged in two passes")
NO_COUNT = gettext_noop("no row has a MatchCount")


@dataclass(frozen=True, slots=True)
class Flips:
    """Rows judged in two passes or more. `doubtful` is the share of those whose verdict differs between passes,
    `counts` of those whose MatchCount does. `unanswered` rows have a verdict in some passes only. `names` are the
    doubtful rows as (table, row)."""

    passes: int
    rows: int
    unanswered: int
    doubtful: SpannedEstimate
    counts: SpannedEstimate
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration report of a judge version: its agreement with people overall, and `by` category, model, grouping
    of the suite and side, each with its groups. `confusion` counts rows by (MatchCount of people, of the judge); the
    counts of either are rows of count, rows and share."""

    overall: Agreement
    by: dict[str, dict[str, Agreement]]
    confusion: dict[tuple[str, str], int]
    human_counts: list[Json]
    judge_counts: list[Json]
    flips: Flips

    def as_json(self) -> Json:
        confusion = [
            {"people": people, "judge": judge, "rows": rows} for (people, judge), rows in self.confusion.items()
        ]
        return {
            "overall": plain(self.overall),
            **{f"by_{key}": plain(groups) for key, groups in self.by.items()},
            "confusion": confusion,
            "human_counts": plain(self.human_counts),
            "judge_counts": plain(self.judge_counts),
            "flips": plain(self.flips),
        }


def calibration(
    tables: Sequence[Table], *, seed: int, over: ClusterName = STORIES, groupings: Sequence[str] = ()
) -> Calibration:
    """Return the report over all tables that people aligned; `groupings` are keys of the groups of rows."""

    def agreement_in(key: str, name: str) -> Agreement:
        return agreement(tables, seed=seed, keep=lambda table, row: group_of(key, table, row) == name, over=over)

    def groups(key: str) -> dict[str, Agreement]:
        names = sorted({group_of(key, table, row) for table in tables for row in table.rows})
        return {name: agreement_in(key, name) for name in names}

    return Calibration(
        overall=agreement(tables, seed=seed, over=over),
        by={key: groups(key) for key in ("category", "model", *groupings, "side")},
        confusion=dict(
            Counter((count_name(row.human), count_name(row.judge)) for table in tables for row in table.rows)
        ),
        human_counts=match_counts(tables, lambda row: row.human, seed=seed, over=over),
        judge_counts=match_counts(tables, lambda row: row.judge, seed=seed, over=over),
        flips=flips(tables, seed=seed, over=over),
    )


def count_name(count: MatchCount) -> str:
    """Return a MatchCount as tables name it: "0" to "3", "4+", or why there is none."""
    if isinstance(count, Unknown):
        return count.value
    return MORE if count > MOST_COUNT else str(max(count, 0))


def match_counts(
    tables: Sequence[Table], count_of: Callable[[Row], MatchCount], *, seed: int, over: ClusterName = STORIES
) -> list[Json]:
    """Return the number of rows with each MatchCount and its share with an interval over stories, and after these the
    number of rows without one by reason."""
    by_table = [Counter(count_name(count_of(row)) for row in table.rows) for table in tables]
    total = sum(by_table, Counter[str]())
    counts = [*map(str, range(MOST_COUNT + 1)), *([MORE] if MORE in total else [])]
    counted = np.array([sum(names[count] for count in counts) for names in by_table])

    def share(count: str) -> SpannedEstimate:
        columns = np.column_stack([np.array([names[count] for names in by_table]), counted])
        return _ratio(tables, columns, first_by_second, n=int(counted.sum()), empty=NO_COUNT, seed=seed, over=over)

    nothing = SpannedEstimate(None, 0, reason=gettext_noop("these rows have no MatchCount"))
    shares = {count: share(count) for count in counts} | {why.value: nothing for why in Unknown if why.value in total}
    return [{"count": count, "rows": total[count], "share": estimate} for count, estimate in shares.items()]


def flips(tables: Sequence[Table], *, seed: int, over: ClusterName = STORIES) -> Flips:
    """Return how often a judge that is asked again changes its verdict."""
    twice = [[row for row in table.rows if len(row.passes) > 1] for table in tables]
    whole = [[row for row in rows if None not in map(matched, row.passes)] for rows in twice]
    turned = [[row for row in rows if len(set(map(matched, row.passes))) > 1] for rows in whole]
    recounted = [[row for row in rows if len(set(row.passes)) > 1] for rows in whole]
    n = sum(map(len, whole))

    def share(part: list[list[Row]]) -> SpannedEstimate:
        columns = np.array([[len(some), len(rows)] for some, rows in zip(part, whole, strict=True)]).reshape(-1, 2)
        return _ratio(tables, columns, first_by_second, n=n, empty=NO_PASSES, seed=seed, over=over)

    return Flips(
        passes=max((len(row.passes) for rows in twice for row in rows), default=1),
        rows=n,
        unanswered=sum(map(len, twice)) - n,
        doubtful=share(turned),
        counts=share(recounted),
        names=tuple((table.key, row.name) for table, rows in zip(tables, turned, strict=True) for row in rows),
    )
