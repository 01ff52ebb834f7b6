"""Choosing a judge of known quality with a test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from judge.domain.calibration.agreement import agreement
from judge.domain.calibration.rows import Unknown
from judge.domain.calibration.selection import select
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
    found = select(judges, "GPT-5", seed=1)
    near, far = found.rivals
    # one point of agreement on 2,400 rows is not told apart (standard error 1.3 points), eight are
    assert not near.worse and not near.better and far.worse
    assert far.p <= far.adjusted and near.difference.interval[0] < 0 < near.difference.interval[1]
    assert found.reason == ("GPT-5 is better than DeepSeek-R1-Distill-Qwen 32B; not told from Gemini-2.5 Flash.")
    assert select(judges, "DeepSeek-R1-Distill-Qwen 32B", seed=1).reason.startswith(
        "DeepSeek-R1-Distill-Qwen 32B is worse than GPT-5, Gemini-2.5 Flash"
    )
    assert select({"GPT-5": judges["GPT-5"]}, "GPT-5", seed=1).reason == "GPT-5 has no rival."
    assert select(judges, "GPT-5", seed=1).agreement.value == pytest.approx(
        agreement(judges["GPT-5"], seed=1).by_story.value
    )


def test_a_judge_that_said_nothing_of_the_tables_is_not_compared(judges):
    silent = [table([row(one.human, Unknown.MISSING) for one in of.rows], story=of.story) for of in judges["GPT-5"]]
    found = select({"GPT-5": judges["GPT-5"], "silent": silent}, "GPT-5", seed=1)
    assert found.rivals[0].p is None and found.rivals[0].difference.value is None
    assert found.reason == "GPT-5 is not compared with silent: no table has verdicts of both."


def test_too_few_stories_to_part_any_two_judges_are_said_to_be_so(judges):
    few = {name: [replace(table, story=str(at % 3)) for at, table in enumerate(judges[name])] for name in judges}
    tests = len(judges) - 1
    assert select(few, "GPT-5", seed=1).caution.startswith(f"3 stories can show no difference in {tests} tests at once")
    assert not select(judges, "GPT-5", seed=1).caution.startswith("3")
