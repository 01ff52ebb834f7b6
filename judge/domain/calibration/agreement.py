"""Agreement of a judge with people, in four figures: agreement, sensitivity, specificity and kappa, over stories.

Tables are weighted by the inverse of the probability with which they were drawn. A row of which people or the judge did
not say whether it is matched is in no estimate; the bounds beside an estimate are what it would be were all those rows
at their worst, and at their best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
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
    Scale,
    by_cluster,
    estimate_of,
    first_by_second,
    numbered,
    ratios,
    spanning,
)
from core.statistics import Measure as Ratio
from judge.domain.alignment import STORIES, ClusterName
from judge.domain.calibration.tables import MatchCount, Row, Table, Unknown, matched

FEWEST_OF_ONE = 2
"""Aligned stories of a stratum: one shows no spread."""


class Strata:
    """The strata of a sample. Those with fewer than two aligned stories make one together; where that has fewer than
    two as well, they belong to the smallest other one."""

    def __init__(self, strata: Mapping[str, str]) -> None:
        """Take the stratum of each aligned story, by story."""
        counts = Counter(strata.values())
        own = [name for name in sorted(counts) if counts[name] >= FEWEST_OF_ONE]
        left = sum(count for name, count in counts.items() if name not in own)
        self._numbers = {name: at for at, name in enumerate(own)}
        if left >= FEWEST_OF_ONE or not own:
            self._rest = len(own)
        else:
            self._rest = self._numbers[min(own, key=lambda name: (counts[name], name))]
        self.count = len({*self._numbers.values(), *([self._rest] if left or not own else [])})

    def of(self, stratum: str) -> int:
        """Return the number of a stratum, from 0 on."""
        return self._numbers.get(stratum, self._rest)

    def numbers(self, strata: Iterable[str]) -> Clusters:
        """Return the number of each stratum."""
        return np.array([self.of(stratum) for stratum in strata], dtype=np.int64)


NOTHING = gettext_noop("no row has a verdict of both people and the judge")
NO_MATCH = gettext_noop("no row is matched by people")
ALL_MATCHED = gettext_noop("every row is matched by people")
ONE_VERDICT = gettext_noop("people’s verdict is the same on every row, so that nothing can be told beyond chance")


@dataclass(frozen=True, slots=True)
class SpannedEstimate:
    """An estimate over `n` rows (or tables) with its 95 % interval over stories, and where it can lie whatever is
    missing: `bounds`, with the interval that spans both ends, `spanned`. None with a `reason`."""

    value: float | None
    n: int
    interval: tuple[float, float] | None = None
    bounds: tuple[float, float] | None = None
    spanned: tuple[float, float] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge beside people over some rows of `tables` of `stories`. `by_story` is the published measure: the share of
    a table's rows on which they agree, averaged over tables; `by_row` pools the rows. `missing` and `unclear` count
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


Keep = Callable[[Row], bool]
TP, FN, FP, TN = range(4)


def agreement(
    tables: Sequence[Table], *, seed: int, keep: Keep = lambda _: True, over: ClusterName = STORIES
) -> Agreement:
    """Return how far the judge agrees with people over the rows to `keep`."""
    parts = [(table, [row for row in table.rows if keep(row)]) for table in tables]
    parts = [(table, rows) for table, rows in parts if rows]
    rows = [row for _, rows_ in parts for row in rows_]
    sums = _Sums(parts, seed, over)
    verdicts = sums.compared_rows
    return Agreement(
        tables=len(parts),
        stories=len({table.story for table, _ in parts}),
        rows=len(rows),
        known=verdicts,
        missing=_count(rows, "missing"),
        unclear=_count(rows, "unclear"),
        by_story=sums.by_story(),
        by_row=sums.estimate(_agreeing, NOTHING, SHARE, worst=_wrong, best=_right),
        sensitivity=sums.estimate(
            _sensitivity, NO_MATCH if verdicts else NOTHING, SHARE, cells=(TP, FN), worst=_missed, best=_matched
        ),
        specificity=sums.estimate(
            _specificity, ALL_MATCHED if verdicts else NOTHING, SHARE, cells=(TN, FP), worst=_invented, best=_spared
        ),
        kappa=sums.estimate(_kappa, ONE_VERDICT if verdicts else NOTHING, DIFFERENCE),
    )


def _count(rows: Iterable[Row], why: str) -> tuple[int, int]:
    cases = [(row.human == why, row.judge == why) for row in rows]
    return sum(human for human, _ in cases), sum(judge for _, judge in cases)


def _cell(row: Row) -> int | None:
    """The cell of the two-by-two table that a row is in, None where a verdict is not known."""
    human, judge = matched(row.human), matched(row.judge)
    if human is None or judge is None:
        return None
    return (TP if judge else FN) if human else (FP if judge else TN)


def _possible(row: Row) -> list[int]:
    """The cells that a row could be in, whatever is not known of it."""
    human, judge = matched(row.human), matched(row.judge)
    humans, judges = ([verdict] if verdict is not None else [True, False] for verdict in (human, judge))
    return [
        (TP if by_judge else FN) if true else (FP if by_judge else TN) for true, by_judge in product(humans, judges)
    ]


Choice = Callable[[list[int]], int]


def _first_of(*order: int) -> Choice:
    """Choose the first cell of this order that is possible."""
    return lambda cells: next(cell for cell in order if cell in cells)


_wrong, _right = _first_of(FN, FP, TP, TN), _first_of(TP, TN, FN, FP)
_missed, _matched = _first_of(FN, TN, FP, TP), _first_of(TP, TN, FP, FN)
_invented, _spared = _first_of(FP, TP, FN, TN), _first_of(TN, TP, FN, FP)


def _agreeing(cells: Floats) -> Floats:
    return ratios(cells[:, TP] + cells[:, TN], cells.sum(axis=1))


def _sensitivity(cells: Floats) -> Floats:
    return ratios(cells[:, TP], cells[:, TP] + cells[:, FN])


def _specificity(cells: Floats) -> Floats:
    return ratios(cells[:, TN], cells[:, TN] + cells[:, FP])


def _kappa(cells: Floats) -> Floats:
    """Cohen's kappa (1960), of weighted cells; undefined where people's verdict is the same on every row, as it would
    be 0 whatever the judge says."""
    total = cells.sum(axis=1)
    human, judge = ratios(cells[:, TP] + cells[:, FN], total), ratios(cells[:, TP] + cells[:, FP], total)
    expected = human * judge + (1 - human) * (1 - judge)
    unlike = (human > 1e-12) & (human < 1 - 1e-12) & (1 - expected > 1e-12)
    return ratios(_agreeing(cells) - expected, np.where(unlike, 1 - expected, 0))


class _Sums:
    """The weighted two-by-two tables of all tables, and estimates of their sums over stories."""

    def __init__(self, parts: Sequence[tuple[Table, list[Row]]], seed: int, over: ClusterName) -> None:
        self._parts, self._seed, self._over = parts, seed, over
        self._clusters = numbered([table.story for table, _ in parts])
        drawn_in = {table.story: table.stratum for table, _ in parts}
        strata = Strata(drawn_in)
        self._strata = strata.numbers(drawn_in.values()) if strata.count > 1 else None
        self._weights = np.array([table.weight for table, _ in parts])
        self._counted = np.zeros((len(parts), 4))
        self._open: list[tuple[int, list[int]]] = []
        """The table of each row of which not all is known, and the cells that it could be in."""
        for at, (_, rows) in enumerate(parts):
            for row in rows:
                cell = _cell(row)
                if cell is None:
                    self._open.append((at, _possible(row)))
                else:
                    self._counted[at, cell] += 1

    @property
    def compared_rows(self) -> int:
        """Return how many rows both people and the judge say something of."""
        return int(self._counted.sum())

    def _cells(self, choose: Choice) -> Floats:
        """Cells of each table, shape (tables, 4), unweighted; `choose` says where a row stands of which not all is
        known."""
        out = self._counted.copy()
        for at, possible in self._open:
            out[at, choose(possible)] += 1
        return out

    def estimate(
        self,
        measure: Ratio,
        empty: str,
        scale: Scale,
        *,
        cells: tuple[int, ...] = (TP, FN, FP, TN),
        worst: Choice | None = None,
        best: Choice | None = None,
    ) -> SpannedEstimate:
        """Return an estimate of the weighted sums of cells, with bounds where it has them; its n counts the rows in
        `cells`."""
        n = int(self._counted[:, cells].sum())
        middle = self._unbounded(self._counted * self._weights[:, None], measure, n, scale, empty)
        if worst is None or best is None:
            return middle
        low, high = (
            self._unbounded(self._cells(choose) * self._weights[:, None], measure, n, scale, empty)
            for choose in (worst, best)
        )
        return _bounded(middle, low, high)

    def by_story(self) -> SpannedEstimate:
        """Return the mean over tables of the share of their rows on which people and the judge agree."""
        low, middle, high = (self._macro(cells) for cells in (self._cells(_wrong), self._counted, self._cells(_right)))
        return _bounded(middle, low, high)

    def _macro(self, cells: Floats) -> SpannedEstimate:
        shares = _agreeing(cells)
        has = np.isfinite(shares)
        columns: Floats = np.column_stack([np.where(has, shares, 0), has])
        columns = columns * self._weights[:, None]
        return self._unbounded(columns, first_by_second, int(has.sum()), SHARE, NOTHING)

    def _unbounded(self, columns: Floats, measure: Ratio, n: int, scale: Scale, empty: str) -> SpannedEstimate:
        sums = by_cluster(columns, self._clusters)
        return estimate_ratio(
            sums, measure, n=n, scale=scale, empty=empty, seed=self._seed, over=self._over, strata=self._strata
        )


def estimate_ratio(
    sums: Floats,
    measure: Ratio,
    *,
    n: int,
    scale: Scale,
    empty: str,
    seed: int,
    over: ClusterName,
    strata: Clusters | None = None,
) -> SpannedEstimate:
    """Return `measure` of sums over clusters, shape (clusters, k), with its interval; `empty` is why there is none.
    `strata` numbers the stratum of each cluster, if there are several."""
    estimate = estimate_of(sums, measure, n=n, scale=scale, unit=over.plural, empty=empty, seed=seed, strata=strata)
    ends = estimate.interval
    return SpannedEstimate(estimate.value, n, (ends[0], ends[1]) if ends else None, reason=estimate.reason or "")


def _bounded(middle: SpannedEstimate, low: SpannedEstimate, high: SpannedEstimate) -> SpannedEstimate:
    if low.value is None or high.value is None:
        return middle
    ends, _ = spanning(_ends(low), _ends(high))
    return SpannedEstimate(
        middle.value,
        middle.n,
        middle.interval,
        bounds=(low.value, high.value),
        spanned=(ends[0], ends[1]) if ends else None,
        reason=middle.reason,
    )


def _ends(estimate: SpannedEstimate) -> tuple[list[float] | None, str]:
    return (list(estimate.interval) if estimate.interval else None), estimate.reason


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
