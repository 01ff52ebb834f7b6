"""The effect of drafts on tables, against tables whose truth is known: small here, large in bench/drafting.py."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.domain.anchoring.tables import MEASURES, arm_p, left_out_by, likeness, tables_report
from annotation.domain.tables import TableRow
from bench.drafting import findings, simulated, truth
from core.statistics import FEWEST

DATA_SETS = 80


@pytest.fixture(scope="module")
def world() -> list:
    """What was found in data sets of ten stories with an effect of ten points."""
    fixed = {"stories": 10, "effect": 0.1, "blind": 0.5, "draws": 499}
    true = truth(effect=0.1, worlds=60)
    return [findings(seed, true=true, **fixed) for seed in range(DATA_SETS)]


def test_intervals_hold_the_truth(world):
    held = [one for _, _, measures in world for one in measures if one is not None]
    assert len(held) > 3 * DATA_SETS and 0.9 < np.mean(held) < 0.995


def test_an_effect_is_found_and_none_is_announced_at_the_nominal_rate(world):
    of_likeness = list(MEASURES).index("likeness")
    assert np.mean([alone[of_likeness] for _, alone, _ in world]) > 0.5
    nothing = {"stories": 10, "effect": 0.0, "blind": 0.5, "draws": 499, "true": dict.fromkeys(MEASURES, 0.0)}
    some = [findings(seed, **nothing)[0] for seed in range(DATA_SETS)]
    assert np.mean(some) < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / DATA_SETS)


def columns(*tables) -> dict[str, np.ndarray]:
    """The columns of tables, each (story, expert, blind, recalled, what else is not as usual)."""
    usual = {"rows": 6, "consensus": 10, "missed": 4, "missed_recalled": 2, "likeness": 3.0, "minutes": 20.0}
    rows = [
        dict(zip(("story", "expert", "blind", "recalled"), given, strict=True)) | usual | {"blind_chance": 0.5} | more
        for *given, more in tables
    ]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def test_a_report_by_hand():
    tables = columns((1, 1, False, 9, {"rows": 12}), (1, 2, True, 6, {}), (2, 1, True, 4, {"minutes": np.nan}))
    rows = {row["measure"]: row for row in tables_report(tables, seed=1)["measures"]}
    recall, difference = rows["recall"], rows["recall"]["difference"]
    assert (recall["shown"].value, recall["blind"].value, recall["blind"].n) == (0.9, 0.5, 20)
    assert difference.value == pytest.approx(0.4) and difference.interval is None
    assert str(FEWEST) in difference.reason
    assert (rows["rows"]["shown"].value, rows["rows"]["blind"].value) == (12, 6)
    assert (rows["minutes"]["blind"].value, rows["minutes"]["blind"].n) == (20, 1)
    assert recall["p_adjusted"] is not None and recall["effect"] is False


def test_without_the_other_arm_there_is_no_test_and_a_reason():
    tables = columns(*((story, 1, True, 5, {}) for story in range(6)))
    (recall, *_) = tables_report(tables, seed=1)["measures"]
    assert arm_p(tables, "recall", seed=1) is None and recall["effect"] is None and recall["effect_reason"]
    assert recall["shown"].value is None and recall["shown"].reason == ("no table of this kind is reconciled")
    certain = columns(*((story, 1, story > 2, 5, {"blind_chance": 0.0}) for story in range(6)))
    assert arm_p(certain, "recall", seed=1) is None  # nothing was left to chance


def test_likeness_and_what_the_draft_left_out():
    suggested = [TableRow("Ines", "The key is in the bag."), TableRow("Tomas", "It rains")]
    assert likeness(TableRow("ines", "the key is in the bag"), suggested) == 1
    assert 0.5 < likeness(TableRow("Ines", "The key is in the old bag"), suggested) < 1
    assert likeness(TableRow("Anna", "It rains"), suggested) == likeness(TableRow("Ines", "x"), []) == 0
    consensus = [
        TableRow("Ines", "The key is in the old bag"),
        TableRow("Ines", "It rains"),
        TableRow("Tomas", "It rains"),
    ]
    assert left_out_by(suggested, consensus) == [False, True, False]
    assert len(simulated(np.random.default_rng(1), stories=4, effect=0.1)["story"]) == 8
