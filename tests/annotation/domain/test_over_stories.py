"""The alternative annotator test over stories, by hand: stories that fail as a whole may be unseen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtr

from annotation.domain.anchoring.alternative_annotator import (
    NO_ITEMS,
    alternative_annotator_over_stories,
    alternative_annotator_test,
    clustered_p,
    story_sums,
    unseen_p,
)

CELLS = 4


def found(labels: np.ndarray, model: np.ndarray, stories: int):
    published = alternative_annotator_test(labels, model)
    story = np.repeat(np.arange(stories), len(model) // stories)
    return alternative_annotator_over_stories(published, labels, model, story, seed=1)


def alike(stories: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((CELLS * stories, 3), dtype=int), np.zeros(CELLS * stories, dtype=int)


def test_stories_that_all_succeed_are_not_certain():
    for stories, rate in [(10, 0.0), (18, 0.0), (19, 1.0), (40, 1.0)]:
        # nobody differs: the mean difference is 0, .15 from ε. Were .15 of all stories lost (each .85 past ε, the
        # others .15 short of it), it would be ε: the chance of none among n is .85ⁿ, .0536 of 18 and .0456 of 19
        result = found(*alike(stories), stories)
        assert (result.winning_rate, result.passes) == (rate, rate >= 0.5)
        sums = story_sums(*alike(stories), 0, np.repeat(np.arange(stories), CELLS))
        assert unseen_p(sums, 0.15) == pytest.approx(0.85**stories)
        # and the interval is that of the rule of three, not [1, 1]
        assert result.advantage.value == 1 and result.advantage.interval == pytest.approx([0.05 ** (1 / stories), 1])


def test_stories_that_all_fail_are_not_certain():
    labels, model = alike(12)
    result = found(labels, model + 1, 12)
    assert result.winning_rate == 0 and result.advantage.value == 0
    assert result.advantage.interval == pytest.approx([0, 1 - 0.05 ** (1 / 12)])


def test_a_single_lost_cell_does_not_make_the_rest_certain():
    labels, model = alike(20)
    model[0] = 1
    result = found(labels, model, 20).advantage
    # at least as far as a share of 1 - .05^(1/20) of stories that all fail, or all succeed, would take it
    assert result.interval[0] <= result.value * 0.05 ** (1 / 20)
    assert result.interval[1] >= result.value + (1 - 0.05 ** (1 / 20)) * (1 - result.value)


def test_the_clustered_test_by_hand():
    # six stories of four cells; the model loses 0, 1, 0, 1, 0, 1 of them to the first annotator, nobody else differs
    labels, model = alike(6)
    model[[4, 12, 20]] = 1
    sums = story_sums(labels, model, 0, np.repeat(np.arange(6), CELLS))
    # mean 3/24 = .125, less ε −.025; stories lie ±.5 cells apart: moves ±.5/24 · √(6/5), error √(6 · .25 · 1.2) / 24
    error = np.sqrt(6 * 0.25 * 1.2) / 24
    assert clustered_p(sums, 0.15) == pytest.approx(float(stdtr(5, -0.025 / error)))
    assert unseen_p(sums, 0.15) == pytest.approx((1 - 0.025 / (0.85 + 0.025)) ** 6)


def test_where_nothing_can_be_said_there_is_a_reason():
    labels, model = alike(4)
    few = found(labels, model, 4)
    assert (few.winning_rate, few.passes, few.reason) == (None, None, "an interval needs at least 5 stories")
    nobody = found(np.full((40, 3), -1), np.zeros(40, dtype=int), 10)
    assert nobody.winning_rate is None and nobody.reason
    assert (nobody.advantage.value, nobody.advantage.reason) == (None, NO_ITEMS)
