"""Choosing a judge of known quality with a test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.choosing import World, found
from core.statistics import holm
from judge.domain.calibration.agreement import agreement
from judge.domain.calibration.selection import selections
from judge.domain.calibration.tables import Unknown
from tests.judge.domain.calibration.worlds import row, table

pytestmark = pytest.mark.once


def judged(rng, right, *, humans):
    """Tables of a judge that is right on this share of rows."""
    return [
        table([row(int(true), int(true == (rng.random() < right))) for true in of], story=f"s{at}")
        for at, of in enumerate(humans)
    ]


@pytest.fixture(scope="module")
def judges():
    rng = np.random.default_rng(4)
    humans = [rng.random(40) < 0.57 for _ in range(60)]
    quality = {"GPT-5": 0.7203, "Gemini-2.5 Flash": 0.711, "DeepSeek-R1-Distill-Qwen 32B": 0.6365}
    return {name: judged(rng, right, humans=humans) for name, right in quality.items()}


def test_the_choice_is_tested_against_each_other_judge(judges):
    told = selections(judges, seed=1)["GPT-5"]
    near, far = told.rivals
    # one point of agreement on 2,400 rows is not told apart (standard error 1.3 points), eight are
    assert not near.worse and not near.better and far.worse
    assert far.p <= far.adjusted and near.difference.interval[0] < 0 < near.difference.interval[1]
    assert told.reason == ("GPT-5 is better than DeepSeek-R1-Distill-Qwen 32B; not told from Gemini-2.5 Flash.")
    assert selections(judges, seed=1)["DeepSeek-R1-Distill-Qwen 32B"].reason.startswith(
        "DeepSeek-R1-Distill-Qwen 32B is worse than GPT-5, Gemini-2.5 Flash"
    )
    assert selections({"GPT-5": judges["GPT-5"]}, seed=1)["GPT-5"].reason == "GPT-5 has no rival."
    assert selections(judges, seed=1)["GPT-5"].agreement.value == pytest.approx(
        agreement(judges["GPT-5"], seed=1).by_story.value
    )


def test_a_judge_that_said_nothing_of_the_tables_is_not_compared(judges):
    silent = [table([row(one.human, Unknown.MISSING) for one in of.rows], story=of.story) for of in judges["GPT-5"]]
    told = selections({"GPT-5": judges["GPT-5"], "silent": silent}, seed=1)["GPT-5"]
    assert told.rivals[0].p is None and told.rivals[0].difference.value is None
    assert told.reason == "GPT-5 is not compared with silent: no table has verdicts of both."


def test_too_few_stories_to_part_any_two_judges_are_said_to_be_so(judges):
    few = {name: [replace(table, story=str(at % 3)) for at, table in enumerate(judges[name])] for name in judges}
    tests = 3  # every pair of three judges
    assert selections(few, seed=1)["GPT-5"].caution.startswith(
        f"3 stories can show no difference in {tests} tests at once"
    )
    assert not selections(judges, seed=1)["GPT-5"].caution.startswith("3")


def test_the_test_is_corrected_over_all_pairs_of_judges(judges):
    told = selections(judges, seed=1)
    names = list(judges)
    p = {frozenset((name, rival.name)): rival.p for name in names for rival in told[name].rivals}
    adjusted = dict(zip(p, holm(list(p.values())), strict=True))
    assert len(p) == 3
    for name in names:
        for rival in told[name].rivals:
            pair = frozenset((name, rival.name))
            assert rival.adjusted == adjusted[pair], pair
            [turned] = [other for other in told[rival.name].rivals if other.name == name]
            assert turned.difference.value == -rival.difference.value and turned.p == rival.p
            assert [*turned.difference.interval] == [-end for end in rival.difference.interval[::-1]]


def test_the_highest_judge_is_told_without_the_optimism_of_choosing_it(judges):
    told = selections(judges, seed=1)
    assert [name for name, one in told.items() if one.without_optimism] == ["GPT-5"]
    chosen = told["GPT-5"]
    low, high = chosen.without_optimism.interval
    # 72.03 of 71.1 and 63.65: a near rival takes some of it, and the truth is held
    assert chosen.agreement.value - 0.02 < chosen.without_optimism.value < chosen.agreement.value
    assert low < 0.7203 < high
    assert chosen.highest.startswith("GPT-5 is the highest of 3. Corrected for the optimism of ")
    assert told["Gemini-2.5 Flash"].highest == "" and selections({"one": judges["GPT-5"]}, seed=1)["one"].highest == ""


def test_rows_that_one_judge_leaves_out_are_in_no_difference():
    humans = [[1, 1, 0, 0]] * 8
    all_right = [table([row(true, true) for true in of], story=f"s{at}") for at, of in enumerate(humans)]
    # right on what it says, silent on a quarter
    silent = [
        table([row(true, Unknown.MISSING if place == 0 else true) for place, true in enumerate(of)], story=f"s{at}")
        for at, of in enumerate(humans)
    ]
    [rival] = selections({"all": all_right, "silent": silent}, seed=1)["all"].rivals
    assert rival.difference.value == 0.0 and rival.difference.bounds == (0.0, 0.25) and rival.p == 1.0
    # wrong on one row that both judged: -1 of 3 there, and of four rows between -1/4 and 0
    wrong = [table([row(1, 1), row(1, 0), row(0, 0), row(0, 0)], story=f"s{at}") for at in range(8)]
    [rival] = selections({"wrong": wrong, "silent": silent}, seed=1)["wrong"].rivals
    assert rival.difference.value == pytest.approx(-1 / 3) and rival.difference.bounds == pytest.approx((-0.25, 0.0))
    assert rival.p == 1.0 and not rival.better, "the silent one could be wrong on what it left out"


def test_what_categories_differ_by_is_no_chance_where_tables_were_drawn_within_them():
    # each judge agrees alike with people on all stories of a category, up to a row, and is better in one of them
    right = {"one": {"a": 9, "b": 5}, "other": {"a": 6, "b": 9}}

    def tables(name, *, strata):
        out = []
        for at in range(12):
            category = "ab"[at % 2]
            agreeing = right[name][category] - (at % 3 == list(right).index(name))
            rows = [row(1, int(place < agreeing)) for place in range(10)]
            out.append(replace(table(rows, story=f"s{at}", category=category), stratum=category if strata else ""))
        return out

    within, simple = (selections({name: tables(name, strata=kept) for name in right}, seed=1) for kept in (True, False))
    for name in right:
        inner, outer = within[name], simple[name]
        [rival], [plain] = inner.rivals, outer.rivals
        for narrow, wide in ((inner.agreement, outer.agreement), (rival.difference, plain.difference)):
            assert narrow.value == pytest.approx(wide.value), name
            assert narrow.interval[1] - narrow.interval[0] < (wide.interval[1] - wide.interval[0]) / 2, name
        assert inner.agreement.interval == pytest.approx(
            agreement(tables(name, strata=True), seed=1).by_story.interval, abs=0.02
        )
    # "other" is ahead in whatever is drawn within the categories: its place owes nothing to luck
    held, told = within["other"].without_optimism, simple["other"].without_optimism
    assert held.value == pytest.approx(within["other"].agreement.value, abs=0.002) and told.value < held.value - 0.005
    assert held.interval[1] - held.interval[0] < told.interval[1] - told.interval[0]


def test_equal_judges_are_seldom_told_apart_and_the_interval_of_the_chosen_one_holds():
    world = World("8 equal", (0.8,) * 8)
    result = found(world, 21, repetitions=40, seed=3)
    # of 40 samples at most 2 are expected to call it better, and 38 intervals hold: 7 and 33 are beyond chance
    assert result.wrong <= 6 / 40 and result.held >= 34 / 40
    # as it was, the interval of the highest held less often, and its figure was some points too high
    assert result.held >= result.held_plain and 0 <= result.off < result.off_plain / 2
