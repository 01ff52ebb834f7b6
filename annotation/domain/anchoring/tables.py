"""The effect of a model's drafts on belief tables: tables that experts wrote with the draft in sight against those that
they wrote blind."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import token_sort_ratio

from annotation.domain.anchoring.estimates import NUMBERS, SHARES, estimates, numbered, ratio
from annotation.domain.anchoring.randomisation import DRAWS, drawn_anew_p
from annotation.domain.reconciliation import pairs
from annotation.domain.tables import TableRow
from core.messages import Sentence, gettext_noop
from core.plain import Json
from core.statistics import ALPHA, FEWEST, RESAMPLES, holm, method

Floats = NDArray[np.float64]
Tables = Mapping[str, NDArray[Any]]
"""Tables that were handed in and have an arm, as columns of shape (T,).

story, expert; `blind`, and the chance with which that was drawn, `blind_chance`; `rows`. `consensus` rows are in the
table that came of it (0 where it is not reconciled), `recalled` of them the expert wrote; `missed` of them the model's
draft lacks, `missed_recalled` of those the expert wrote. `likeness` is summed over the table's rows; `minutes` are nan
where unknown.
"""
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


def part_and_whole(tables: Tables, measure: str) -> tuple[Floats, Floats]:
    """Return the numerator and the denominator of a measure for each table."""
    is_timed = np.isfinite(tables["minutes"])
    part, whole = {
        "recall": (tables["recalled"], tables["consensus"]),
        "missed_recall": (tables["missed_recalled"], tables["missed"]),
        "rows": (tables["rows"], np.ones(len(is_timed))),
        "likeness": (tables["likeness"], tables["rows"]),
        "minutes": (np.where(is_timed, tables["minutes"], 0.0), is_timed),
    }[measure]
    return part.astype(float), whole.astype(float)


def tables_report(tables: Tables, *, seed: int, resamples: int = RESAMPLES) -> Json:
    """Return {measures, method, fewest_stories, draws, seed, resamples}, all measures tested together.

    A measure is {measure, told, shown, blind, difference (shown minus blind), p (that of `arm_p`)[, effect_reason],
    p_adjusted (Holm's), effect}: whether that is at most 5 %, None with `effect_reason` where there is no test.
    """
    story, stories = numbered(tables["story"])
    ps = [arm_p(tables, name, seed=seed) for name in MEASURES]
    measures = []
    for (name, told), p, p_adjusted in zip(MEASURES.items(), ps, holm(ps), strict=True):
        part, whole = part_and_whole(tables, name)
        quantities = {}
        for arm, rows in (("shown", ~tables["blind"]), ("blind", tables["blind"])):
            sums = [np.bincount(story[rows], weights=column[rows], minlength=stories) for column in (part, whole)]
            scales = NUMBERS if name in ("rows", "minutes") else SHARES
            quantities[arm] = ratio(np.column_stack(sums), _EMPTY[name], scales)
        differences = {"difference": ("shown", "blind")}
        found = estimates(quantities, differences, stories=stories, seed=seed, resamples=resamples)
        measures.append({
            "measure": name, "told": told, **found, "p": p, **({"effect_reason": ONE_ARM} if p is None else {}),
            "p_adjusted": p_adjusted, "effect": None if p_adjusted is None else p_adjusted <= ALPHA,
        })  # fmt: skip
    sentence = Sentence(
        "differences: randomisation test, arms drawn anew as they were drawn, {draws} times, seed "
        "{seed}, level {alpha}, Holm’s correction over the measures; sizes: {method}",
        draws=f"{DRAWS:,}",
        seed=seed,
        alpha=f"{ALPHA:.0%}",
        method=method(seed=seed, unit="stories", resamples=resamples),
    )
    made = {"method": sentence, "fewest_stories": FEWEST, "draws": DRAWS}
    return {"measures": measures, **made, "seed": seed, "resamples": resamples}


def arm_p(tables: Tables, measure: str, *, seed: int, draws: int = DRAWS) -> float | None:
    """Return the two-sided p of: no table depends on whether its expert saw the model's draft. None where only one arm
    has tables that this measure counts.

    Each table is compared with the mean of its expert over both arms, which takes differences between experts out.
    """
    part, whole = part_and_whole(tables, measure)
    chance = tables["blind_chance"]
    use = (whole > 0) & (chance > 0) & (chance < 1)
    part, whole, blind, expert = part[use], whole[use], tables["blind"][use], tables["expert"][use]
    if not blind.any() or blind.all():
        return None
    _, expert = np.unique(expert, return_inverse=True)
    means = np.bincount(expert, weights=part) / np.bincount(expert, weights=whole)
    return drawn_anew_p(part - means[expert] * whole, chance[use], blind, seed=seed, draws=draws)


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
