"""The effect of a model's drafts on belief tables: tables that experts wrote with the draft in sight against those that
they wrote blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import token_sort_ratio

from annotation.domain.anchoring.estimates import Mean, Share, estimates, numbered
from annotation.domain.anchoring.randomisation import DRAWS, drawn_anew_p
from annotation.domain.reconciliation import DraftRow, pairs
from core.language import gettext_noop
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


@dataclass(frozen=True)
class Tables:
    """Tables that were handed in and have an arm: one row a table, every column of shape (T,).

    `consensus` rows are in the table that came of it (0 where it is not reconciled), `recalled` of them the expert
    wrote; `missed` of them the model's draft lacks, `missed_recalled` of those the expert wrote. `likeness` is summed
    over the table's `rows`; `minutes` are nan where unknown. `blind_chance` is the chance with which the arm was drawn
    blind.
    """

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
    def of(cls, rows: Sequence[dict[str, Any]]) -> Tables:
        """Return the tables of one dictionary each, which names every column."""
        kinds = {"blind": bool, "blind_chance": float, "likeness": float, "minutes": float}
        return cls(
            **{
                field.name: np.array([row[field.name] for row in rows], dtype=kinds.get(field.name, np.int64))
                for field in fields(cls)
            }
        )

    def part_and_whole(self, measure: str) -> tuple[Floats, Floats]:
        """Return the numerator and the denominator of a measure for each table."""
        one = np.ones(len(self))
        known = np.isfinite(self.minutes)
        part, whole = {
            "recall": (self.recalled, self.consensus),
            "missed_recall": (self.missed_recalled, self.missed),
            "rows": (self.rows, one),
            "likeness": (self.likeness, self.rows),
            "minutes": (np.where(known, self.minutes, 0.0), known),
        }[measure]
        return part.astype(float), whole.astype(float)


def tables_report(tables: Tables, *, seed: int, resamples: int = RESAMPLES) -> dict[str, Any]:
    """Return each of `MEASURES` shown and blind, with their difference; ready for JSON.

    An estimate is {value, n, stories, interval[, reason]}; `difference` is shown minus blind. `p` is that of
    `arm_p`, `p_adjusted` Holm's over the measures, and `effect` says whether that is at most 5 % (None with
    `effect_reason` where there is no test).
    """
    rows = [
        {"measure": name, "told": told} | _measure(tables, name, seed, resamples) for name, told in MEASURES.items()
    ]
    adjusted = holm([row["p"] for row in rows])
    for row, p in zip(rows, adjusted, strict=True):
        row |= {"p_adjusted": p, "effect": None if p is None else p <= ALPHA}
    return {
        "measures": rows,
        "method": _method(seed, resamples),
        "fewest_stories": FEWEST,
        "draws": DRAWS,
        "seed": seed,
        "resamples": resamples,
    }


def _method(seed: int, resamples: int) -> str:
    return gettext_noop(
        f"differences: randomisation test, arms drawn anew as they were drawn, {DRAWS:,} times, seed {seed}, level "
        f"{ALPHA:.0%}, Holm’s correction over the measures; sizes: "
        f"{method(seed=seed, unit='stories', resamples=resamples)}"
    )


def _measure(tables: Tables, name: str, seed: int, resamples: int) -> dict[str, Any]:
    part, whole = tables.part_and_whole(name)
    story, stories = numbered(tables.story)
    kind = Mean if name in ("rows", "minutes") else Share
    quantities = {}
    for arm, rows in (("shown", ~tables.blind), ("blind", tables.blind)):
        columns = [np.bincount(story[rows], weights=column[rows], minlength=stories) for column in (part, whole)]
        quantities[arm] = kind(np.column_stack(columns), _EMPTY[name])
    found = estimates(quantities, {"difference": ("shown", "blind")}, stories=stories, seed=seed, resamples=resamples)
    p = arm_p(tables, name, seed=seed)
    return {**found, "p": p} | ({"effect_reason": ONE_ARM} if p is None else {})


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


def likeness(row: DraftRow, suggested: Sequence[DraftRow]) -> float:
    """Return how like a row's proposition is to the nearest of the model's rows of the same actor, from 0 to 1: the
    share of letters that two word-sorted texts have in common."""
    own, belief = row.key
    same = [other.key[1] for other in suggested if other.key[0] == own]
    return max((token_sort_ratio(belief, other) for other in same), default=0.0) / 100


def left_out_by(suggested: Sequence[DraftRow], consensus: Sequence[DraftRow]) -> list[bool]:
    """Return for each consensus row whether the model's draft lacks it: no row of the draft says the same or is
    proposed as a rewording of it."""
    mates = {at: mate for at, mate in pairs(consensus, suggested) if at is not None}
    return [mates[at] is None for at in range(len(consensus))]
