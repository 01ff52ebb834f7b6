"""The effect of a model's drafts on belief tables: tables that experts wrote with the draft in sight against those that
they wrote blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import token_sort_ratio

from annotation.domain.anchoring.arms import DRAWS, drawn_anew_p
from annotation.domain.anchoring.estimates import Estimate, Mean, Quantity, Share, estimates, numbered
from annotation.domain.reconciliation import pairs
from annotation.domain.tables import TableRow
from core.messages import Sentence, gettext_noop
from core.plain import WHERE_THERE_IS_ONE, Json, plain
from core.statistics import ALPHA, FEWEST, RESAMPLES, holm, method

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MEASURES = {
    "recall": gettext_noop("Consensus rows that the expert wrote"),
    "missed_recall": gettext_noop("Consensus rows that the model left out, and the expert wrote"),
    "rows": gettext_noop("Rows a table"),
    "likeness": gettext_noop("Likeness of wording to the model’s draft"),
    "minutes": gettext_noop("Minutes a table"),
}
_EMPTY = {
    "recall": gettext_noop("no table of this kind is reconciled"),
    "missed_recall": gettext_noop("no reconciled table has a row that the model left out"),
    "rows": gettext_noop("no table is handed in"),
    "likeness": gettext_noop("no table is handed in"),
    "minutes": gettext_noop("no table has a time"),
}
ONE_ARM = gettext_noop("only one of the two kinds has tables")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTable:
    """A table that was handed in and has an arm.

    `consensus` rows are in the table that came of it (0 where it is not reconciled), `recalled` of them the expert
    wrote; `missed` of them the model's draft lacks, `missed_recalled` of those the expert wrote. `likeness` is summed
    over the table's `rows`; `minutes` are nan where unknown. `blind_chance` is the chance with which the arm was drawn
    blind.
    """

    story: int
    expert: int
    blind: bool
    blind_chance: float
    rows: int
    consensus: int
    recalled: int
    missed: int
    missed_recalled: int
    likeness: float
    minutes: float


@dataclass(frozen=True)
class Tables:
    """Tables as columns, each of shape (T,), by the fields of `WrittenTable`."""

    story: Ints
    expert: Ints
    blind: Bools
    blind_chance: Floats
    rows: Ints
    consensus: Ints
    recalled: Ints
    missed: Ints
    missed_recalled: Ints
    likeness: Floats
    minutes: Floats

    def __len__(self) -> int:
        return len(self.story)

    @classmethod
    def of(cls, tables: Sequence[WrittenTable]) -> Tables:
        """Return the columns of some tables."""
        kinds = {"blind": bool, "blind_chance": float, "likeness": float, "minutes": float}
        names = [column.name for column in fields(cls)]
        return cls(
            **{
                name: np.array([getattr(table, name) for table in tables], dtype=kinds.get(name, np.int64))
                for name in names
            }
        )

    def part_and_whole(self, measure: str) -> tuple[Floats, Floats]:
        """Return the numerator and the denominator of a measure for each table."""
        is_timed = np.isfinite(self.minutes)
        part, whole = {
            "recall": (self.recalled, self.consensus),
            "missed_recall": (self.missed_recalled, self.missed),
            "rows": (self.rows, np.ones(len(self))),
            "likeness": (self.likeness, self.rows),
            "minutes": (np.where(is_timed, self.minutes, 0.0), is_timed),
        }[measure]
        return part.astype(float), whole.astype(float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One of `MEASURES` shown and blind, and their difference, which is shown minus blind. `p` is that of `arm_p`,
    `p_adjusted` Holm's over the measures, and `effect` says whether that is at most 5 % (None with `effect_reason`
    where there is no test)."""

    measure: str
    told: str
    shown: Estimate
    blind: Estimate
    difference: Estimate
    p: float | None
    effect_reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    p_adjusted: float | None
    effect: bool | None


@dataclass(frozen=True, slots=True)
class TablesReport:
    """Each of `MEASURES`, and how its figures are made."""

    measures: Sequence[Measured]
    method: str
    seed: int
    resamples: int

    def as_json(self) -> Json:
        """{measures, method, fewest_stories, draws, seed, resamples}."""
        made = {"method": self.method, "fewest_stories": FEWEST, "draws": DRAWS}
        return {"measures": plain(self.measures), **made, "seed": self.seed, "resamples": self.resamples}


def tables_report(tables: Tables, *, seed: int, resamples: int = RESAMPLES) -> TablesReport:
    """Return each of `MEASURES` shown and blind, with their difference, all tested together."""
    ps = [arm_p(tables, name, seed=seed) for name in MEASURES]
    measures = [
        _measured(tables, name, p, p_adjusted, seed=seed, resamples=resamples)
        for name, p, p_adjusted in zip(MEASURES, ps, holm(ps), strict=True)
    ]
    return TablesReport(measures, _method(seed, resamples), seed, resamples)


def _method(seed: int, resamples: int) -> str:
    return Sentence(
        "differences: randomisation test, arms drawn anew as they were drawn, {draws} times, seed "
        "{seed}, level {alpha}, Holm’s correction over the measures; sizes: {method}",
        draws=f"{DRAWS:,}",
        seed=seed,
        alpha=f"{ALPHA:.0%}",
        method=method(seed=seed, unit="stories", resamples=resamples),
    )


def _measured(
    tables: Tables, name: str, p: float | None, p_adjusted: float | None, *, seed: int, resamples: int
) -> Measured:
    quantities, stories = _quantities(tables, name)
    results = estimates(quantities, {"difference": ("shown", "blind")}, stories=stories, seed=seed, resamples=resamples)
    return Measured(
        measure=name,
        told=MEASURES[name],
        shown=results["shown"],
        blind=results["blind"],
        difference=results["difference"],
        p=p,
        effect_reason=ONE_ARM if p is None else None,
        p_adjusted=p_adjusted,
        effect=None if p_adjusted is None else p_adjusted <= ALPHA,
    )


def _quantities(tables: Tables, name: str) -> tuple[dict[str, Quantity], int]:
    """Return a measure of the tables of each arm, and how many stories there are."""
    part, whole = tables.part_and_whole(name)
    story, stories = numbered(tables.story)
    kind = Mean if name in ("rows", "minutes") else Share
    quantities: dict[str, Quantity] = {}
    for arm, rows in (("shown", ~tables.blind), ("blind", tables.blind)):
        columns = [np.bincount(story[rows], weights=column[rows], minlength=stories) for column in (part, whole)]
        quantities[arm] = kind(np.column_stack(columns), _EMPTY[name])
    return quantities, stories


def arm_p(tables: Tables, measure: str, *, seed: int, draws: int = DRAWS) -> float | None:
    """Return the two-sided p of: no table depends on whether its expert saw the model's draft. None where only one arm
    has tables that this measure counts.

    Each table is compared with the mean of its expert over both arms, which takes differences between experts out.
    """
    part, whole = tables.part_and_whole(measure)
    use = (whole > 0) & (tables.blind_chance > 0) & (tables.blind_chance < 1)
    part, whole, blind, expert = part[use], whole[use], tables.blind[use], tables.expert[use]
    if not blind.any() or blind.all():
        return None
    _, expert = np.unique(expert, return_inverse=True)
    means = np.bincount(expert, weights=part) / np.bincount(expert, weights=whole)
    return drawn_anew_p(part - means[expert] * whole, tables.blind_chance[use], blind, seed=seed, draws=draws)


def likeness(row: TableRow, suggested: Sequence[TableRow]) -> float:
    """Return how like a row's proposition is to the nearest of the model's rows of the same actor, from 0 to 1: the
    share of letters that two word-sorted texts have in common."""
    own, belief = row.key
    same = [other.key[1] for other in suggested if other.key[0] == own]
    return max((token_sort_ratio(belief, other) for other in same), default=0.0) / 100


def left_out_by(suggested: Sequence[TableRow], consensus: Sequence[TableRow]) -> list[bool]:
    """Return for each consensus row whether the model's draft lacks it: no row of the draft says the same or is
    proposed as a rewording of it."""
    mates = {at: mate for at, mate in pairs(consensus, suggested) if at is not None}
    return [mates[at] is None for at in range(len(consensus))]
