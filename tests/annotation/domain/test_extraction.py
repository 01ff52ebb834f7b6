"""Agreement of two experts on tables."""

from __future__ import annotations

import pytest

from annotation.domain.agreement.extraction import f1_estimate, overlap_estimate


def test_the_published_overlap():
    # 360 of 430 reviewed propositions needed no remark: 83.72 % (OmniToM, appendix B.4); here of ten stories.
    estimate = overlap_estimate([(43, 36)] * 5 + [(43, 34), (43, 38)] + [(43, 36)] * 3)
    assert round(100 * estimate.value, 2) == 83.72 and estimate.n == 430
    low, high = estimate.interval
    assert low < estimate.value < high


def test_f1_is_the_mean_of_stories():
    # 2·2 / (3 + 5) = 0.5 and 2·3 / (3 + 3) = 1: mean 0.75
    estimate = f1_estimate([(3, 5, 2), (3, 3, 3)])
    assert estimate.value == pytest.approx(0.75)
    assert estimate.interval is None and "at least 5 stories" in estimate.reason


def test_without_a_story_there_is_no_figure():
    assert overlap_estimate([]).value is None and f1_estimate([]).value is None
