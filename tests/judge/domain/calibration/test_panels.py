"""Panels of judges, and favour for one's own family."""

from __future__ import annotations

import numpy as np
import pytest

from judge.domain.calibration.panels import Skill, majority, panel, self_preference, skill, weighted
from judge.domain.calibration.tables import Unknown
from tests.judge.domain.calibration.worlds import judged_stories, row, table

pytestmark = pytest.mark.once
MISSING = Unknown.MISSING


def test_the_majority_of_counts():
    assert majority([1, 2, 0]) == 1 and majority([2, 2, 1, 0]) == 2 and majority([0, 0, 3]) == 0
    assert majority([1, 0]) == Unknown.UNCLEAR and majority([1, 1, MISSING]) == 1
    # one voice is no majority, whatever keeps the others silent; nobody's is missing
    assert majority([MISSING, 1]) == majority([Unknown.UNCLEAR, 0, MISSING]) == Unknown.UNCLEAR
    assert majority([MISSING, MISSING]) == MISSING and majority([MISSING, Unknown.UNCLEAR]) == Unknown.UNCLEAR


def test_skill_by_hand_and_what_it_weighs():
    rows = [*[row(1, 1)] * 4, row(1, 0), *[row(0, 0)] * 3, row(0, 1), row(0, MISSING)]
    found = skill([table(rows)])
    # half an observation in each cell: 4.5 of 6, 3.5 of 5
    assert (found.sensitivity, found.specificity) == pytest.approx((4.5 / 6, 3.5 / 5))
    assert skill([table(rows)], leave_out="s") == Skill(0.5, 0.5)
    good, bad = Skill(0.95, 0.95), Skill(0.6, 0.6)
    # log odds: 2.94 for, twice .41 against
    assert weighted({"good": 2, "x": 0, "y": 0}, {"good": good, "x": bad, "y": bad}) == 2
    assert weighted({"good": 0, "x": 1, "y": 1}, {"good": good, "x": bad, "y": bad}) == 0
    # of rows that are seldom matched (1 in 100: log odds −4.6) one good judge does not convince
    assert weighted({"good": 1}, {"good": good}, share=0.01) == 0 and weighted({}, {}) == MISSING


def voting(rng, right, humans, models):
    return [
        table(
            [row(int(true), int(true == (rng.random() < right))) for true in of], story=f"s{at}", model=models[at % 2]
        )
        for at, of in enumerate(humans)
    ]


def test_a_panel_is_better_than_its_judges_and_leaves_out_the_own_family():
    rng = np.random.default_rng(7)
    humans = [rng.random(40) < 0.5 for _ in range(40)]
    judges = {
        name: voting(rng, right, humans, ("gpt-4", "qwen-3"))
        for name, right in (("gpt-5", 0.75), ("claude", 0.75), ("gemini", 0.75), ("guess", 0.5))
    }
    found = panel(judges, seed=1, family_of={"gpt-5": "openai", "gpt-4": "openai"})
    # three judges that err apart on a quarter of rows: their majority on .84, and a guesser only costs without weights
    alone = max(one.by_row.value for one in found.columns.values())
    assert found.weighted.by_row.value > alone + 0.02 and found.weighted.known == found.weighted.rows
    # the majority leaves two against two open: it is worse also where a coin decides these, halfway between its bounds
    assert found.majority.known < found.majority.rows
    assert found.weighted.by_row.value > np.mean(found.majority.by_row.bounds) + 0.02
    assert found.without_family == {"gpt-5": 20, "claude": 0, "gemini": 0, "guess": 0}
    assert found.majority.tables == 40 and found.columns["guess"].by_row.value == pytest.approx(0.5, abs=0.05)


def test_where_all_judges_are_of_a_models_family_its_rows_have_no_verdict():
    rng = np.random.default_rng(7)
    humans = [rng.random(10) < 0.5 for _ in range(10)]
    judges = {name: voting(rng, 0.9, humans, ("gpt-4", "qwen-3")) for name in ("gpt-5", "gpt-6")}
    found = panel(judges, seed=1, family_of={name: "openai" for name in ("gpt-4", "gpt-5", "gpt-6")})
    assert found.without_family == {"gpt-5": 5, "gpt-6": 5}
    assert found.weighted.known == 50 and found.weighted.rows == 100 and found.weighted.missing == (0, 50)
    assert found.majority.missing == (0, 50)


def test_rows_of_which_no_judge_could_tell_are_unclear_and_not_missing():
    skills = {"a": Skill(0.8, 0.9), "b": Skill(0.8, 0.9)}
    unclear, missing = Unknown.UNCLEAR, Unknown.MISSING
    assert weighted({"a": unclear, "b": missing}, skills) == majority([unclear, missing]) == unclear
    assert weighted({"a": missing, "b": missing}, skills) == majority([missing, missing]) == missing


def test_self_preference_is_an_estimate_with_an_interval():
    rng = np.random.default_rng(8)
    ease = rng.beta(3.6, 3, 60)
    models = {
        name: judged_stories(rng, stories=60, aligned=60, ease=ease, specificity=specificity)
        for name, specificity in (("gpt-4", 0.52), ("qwen", 0.62), ("llama", 0.62))
    }
    found = self_preference(models, "openai", {"gpt-4": "openai", "qwen": "alibaba"})
    # its own invents 48 % of .45 instead of 38 %: .045 above the others
    assert found.preference.interval[0] < 0.045 < found.preference.interval[1]
    assert found.own.value - found.others.value == pytest.approx(found.preference.value)
    nobody = self_preference(models, "meta", {})
    assert nobody.preference.value is None and nobody.preference.reason
