"""Choosing a judge of known quality with a test."""

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
GPT, GEMINI, DEEPSEEK = "GPT-5", "Gemini-2.5 Flash", "DeepSeek-R1-Distill-Qwen 32B"


@pytest.fixture(scope="module")
def judges():
    """Judges that are right on so many rows of 60 tables."""
    rng = np.random.default_rng(4)
    humans = [rng.random(40) < 0.57 for _ in range(60)]
    return {
        name: [
            table([row(int(true), int(true == (rng.random() < right))) for true in of], story=f"s{at}")
            for at, of in enumerate(humans)
        ]
        for name, right in ((GPT, 0.7203), (GEMINI, 0.711), (DEEPSEEK, 0.6365))
    }


def test_the_choice_is_tested_against_each_other_judge(judges):
    told = selections(judges, seed=1)
    chosen, alone = told[GPT], selections({GPT: judges[GPT]}, seed=1)[GPT]
    near, far = chosen.rivals
    # one point of agreement on 2,400 rows is not told apart (standard error 1.3 points), eight are
    assert not near.worse and not near.better and far.worse
    assert far.p <= far.adjusted and near.difference.interval[0] < 0 < near.difference.interval[1]
    assert chosen.reason == f"{GPT} is better than {DEEPSEEK}; not told from {GEMINI}."
    assert told[DEEPSEEK].reason.startswith(f"{DEEPSEEK} is worse than {GPT}, {GEMINI}")
    assert (alone.reason, alone.highest) == (f"{GPT} has no rival.", "")
    assert chosen.agreement.value == pytest.approx(agreement(judges[GPT], seed=1).by_story.value)
    # the test is corrected over all pairs of judges
    p = {frozenset((name, rival.name)): rival.p for name in judges for rival in told[name].rivals}
    adjusted = dict(zip(p, holm(list(p.values())), strict=True))
    assert len(p) == 3
    for name in judges:
        for rival in told[name].rivals:
            assert rival.adjusted == adjusted[frozenset((name, rival.name))]
            [turned] = [other for other in told[rival.name].rivals if other.name == name]
            assert turned.difference.value == -rival.difference.value and turned.p == rival.p
            assert [*turned.difference.interval] == [-end for end in rival.difference.interval[::-1]]
    # the highest is told without the optimism of choosing it: 72.03 of 71.1 and 63.65, of which a near rival takes some
    assert [name for name, one in told.items() if one.without_optimism] == [GPT] and told[GEMINI].highest == ""
    low, high = chosen.without_optimism.interval
    assert chosen.agreement.value - 0.02 < chosen.without_optimism.value < chosen.agreement.value
    assert low < 0.7203 < high
    assert chosen.highest.startswith("GPT-5 is the highest of 3. Corrected for the optimism of ")


def test_too_little_to_compare_is_said_to_be_so(judges):
    silent = [table([row(one.human, Unknown.MISSING) for one in of.rows], story=of.story) for of in judges[GPT]]
    told = selections({GPT: judges[GPT], "silent": silent}, seed=1)[GPT]
    assert told.rivals[0].p is None and told.rivals[0].difference.value is None
    assert told.reason == "GPT-5 is not compared with silent: no table has verdicts of both."
    few = {name: [replace(table, story=str(at % 3)) for at, table in enumerate(judges[name])] for name in judges}
    caution = "3 stories can show no difference in 3 tests at once"  # every pair of three judges
    assert selections(few, seed=1)[GPT].caution.startswith(caution)
    assert not selections(judges, seed=1)[GPT].caution.startswith("3")


def test_rows_that_one_judge_leaves_out_are_in_no_difference():
    def tables(*rows):
        return [table([row(human, said) for human, said in zip((1, 1, 0, 0), rows, strict=True)], story=f"s{at}")
                for at in range(8)]  # fmt: skip

    # right on what it says, silent on a quarter
    all_right, silent = tables(1, 1, 0, 0), tables(Unknown.MISSING, 1, 0, 0)
    [rival] = selections({"all": all_right, "silent": silent}, seed=1)["all"].rivals
    assert rival.difference.value == 0.0 and rival.difference.bounds == (0.0, 0.25) and rival.p == 1.0
    # wrong on one row that both judged: -1 of 3 there, and of four rows between -1/4 and 0
    [rival] = selections({"wrong": tables(1, 0, 0, 0), "silent": silent}, seed=1)["wrong"].rivals
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
