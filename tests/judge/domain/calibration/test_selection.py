"""Choosing a judge with a test, and the layouts of the published tables from judges of known quality."""

from __future__ import annotations

import numpy as np
import pytest

from judge.domain.calibration.agreement import agreement
from judge.domain.calibration.selection import judge_block, level_block, select, stage_block
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


def test_the_judge_block_is_ordered_and_marked(judges):
    block = judge_block("Judges", {name: agreement(of, seed=1).by_story for name, of in judges.items()})
    assert next(iter(block.rows)) in ("GPT-5", "Gemini-2.5 Flash") and list(block.rows)[-1].startswith("DeepSeek")
    assert block.rows["GPT-5"][0] == pytest.approx(72.03, abs=3)
    [best], [second] = block.marked(0), block.marked(1)
    assert best[0] == next(iter(block.rows)) and second[0] == list(block.rows)[1]


def test_tables_5_and_9_have_the_published_layout():
    published = {"Llama-3.3 70B": (37.99, 36.97, 45.47, 67.5), "Qwen3 32B": (32.24, 46.32, 49.45, 67.82)}
    values = {(name, level): value for name, row_ in published.items() for level, value in enumerate(row_, 1)}
    block = level_block("Stage 1: Belief Extraction (F1)", values)
    assert block.columns == ("L1", "L2", "L3", "L4") and block.rows == published
    assert block.marked(0) == {("Llama-3.3 70B", "L4"), ("Qwen3 32B", "L4")}
    table_5 = {
        "Gemma-3 27B": (64.99, 92.82),
        "GPT-5": (None, 91.82),
        "Claude-Sonnet-4.5": (72.88, 93.62),
        "Mistral-Large 123B": (70.13, 93.19),
        "Llama-3.3 70B": (67.5, 93.48),
    }
    stages = stage_block("Calibration model selection", table_5)
    assert next(iter(stages.rows)) == "Claude-Sonnet-4.5" and list(stages.rows)[-1] == "GPT-5"
    assert stages.marked(0) == {("Claude-Sonnet-4.5", "ST1"), ("Claude-Sonnet-4.5", "ST2")}
    assert stages.marked(1) == {("Mistral-Large 123B", "ST1"), ("Llama-3.3 70B", "ST2")}
