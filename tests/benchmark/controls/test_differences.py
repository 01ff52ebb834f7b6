"""The paired difference of a control: by hand, and on models of which one memorised."""

from __future__ import annotations

import pytest

from bench.controls import found
from benchmark.controls.differences import paired


def test_only_samples_with_both_scores_are_paired_and_flips_are_named():
    published = {1: 1.0, 2: 1.0, 3: 0.0, 4: 0.5, 5: None, 6: 1.0}
    controlled = {1: 0.0, 2: 1.0, 3: 0.0, 4: 1.0, 5: 1.0}
    result = paired(published, controlled, {number: number for number in range(9)}, seed=1, unit="stories")
    # pairs are 1 to 4: differences 1, 0, 0 and -.5, so (1 - .5) / 4
    assert result.difference.value == 0.125 and result.difference.n == 4
    # (1 + 1 + 0 + .5) / 4 and (0 + 1 + 0 + 1) / 4
    assert (result.published, result.controlled) == (0.625, 0.5)
    # two of four are the same
    assert result.agreement == 0.5 and result.flips == (1, 4)
    assert result.difference.interval is None and "stories" in result.difference.reason


def test_nothing_in_common_is_no_figure():
    result = paired({1: 1.0}, {2: 1.0}, {1: 1, 2: 2}, seed=1, unit="stories")
    assert result.difference.value is None and result.agreement is None and result.flips == ()


@pytest.mark.parametrize("stories, questions", [(30, 4), (100, 5)])
def test_a_model_that_memorised_is_told_from_one_that_did_not(stories, questions):
    memorised = found(stories, questions, 0.4, repetitions=100, seed=1)
    honest = found(stories, questions, 0.0, repetitions=100, seed=1)
    assert 93 <= memorised.covered <= 97 and memorised.apart >= 80
    # where nothing is built in, an interval that holds the truth holds 0
    assert 93 <= honest.covered <= 97 and honest.apart == 100 - honest.covered
