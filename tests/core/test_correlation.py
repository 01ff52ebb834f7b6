"""Correlation of two figures over the same units."""

from __future__ import annotations

import pytest

from core.statistics.correlation import pearson


def test_it_is_the_one_by_hand():
    # deviations -2 -1 0 1 2 and -1 -2 1 0 2: 2 + 2 + 0 + 0 + 4 = 8, over the root of 10 · 10
    result = pearson([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], unit="models")
    assert result.r == pytest.approx(0.8) and result.n == 5 and not result.reason
    # Fisher: artanh 0.8 = 1.0986, with 1.96 / √(5 - 3) = 1.3859 to either side
    assert result.interval == pytest.approx((-0.2796, 0.9862), abs=1e-4)
    # t = 0.8 · √3 / 0.6 = 2.3094 at 3 degrees of freedom
    assert result.p == pytest.approx(0.1041, abs=1e-4)


def test_what_has_no_correlation_or_interval_says_why():
    four = pearson([1, 2, 3, 4], [2, 1, 4, 3], unit="models")
    assert four.r == pytest.approx(0.6) and four.interval is four.p is None
    assert four.reason == "an interval needs at least 5 models"
    line = pearson([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], unit="models")
    assert (line.r, line.interval, line.reason) == (pytest.approx(1.0), None, "all models lie on one line")
    assert pearson([1, 2, 3, 4, 5], [7] * 5, unit="models").reason == "one of the two is the same everywhere"
    for two in ([], [1, 2]):
        few = pearson(two, two, unit="models")
        assert (few.r, few.n, few.reason) == (None, len(two), "a correlation needs at least 3 models")
