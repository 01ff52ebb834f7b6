"""Correlation of two figures over the same units."""

from __future__ import annotations

import math

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


def test_units_of_one_cluster_count_as_one():
    first, second = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.5], [1.0, 3.0, 2.0, 5.0, 4.0, 6.0, 7.0]
    clusters = ["a", "b", "c", "d", "e", "f", "f"]
    over = pearson(first, second, unit="models", clusters=clusters, cluster_unit="families")
    alone = pearson(first, second, unit="models")
    assert (over.n, over.clusters, alone.clusters) == (7, 6, 7) and over.r == alone.r
    # the jackknife by hand: Fisher's z without each family; 6 of them, so that its variance is 5/6 of the squares
    z = [math.atanh(pearson(*without(first, second, clusters, name), unit="models").r) for name in "abcdef"]
    middle = sum(z) / 6
    error = (5 / 6 * sum((one - middle) ** 2 for one in z)) ** 0.5
    reach = 2.570582 * error  # t of 5 degrees of freedom
    expected = [math.tanh(math.atanh(over.r) - reach), math.tanh(math.atanh(over.r) + reach)]
    assert over.interval == pytest.approx(expected, abs=1e-5)
    # a cluster of each unit is what units are anyway
    own = pearson(first, second, unit="models", clusters=list(range(7)), cluster_unit="families")
    assert own == alone


def without(first, second, clusters, name):
    kept = [at for at, cluster in enumerate(clusters) if cluster != name]
    return [first[at] for at in kept], [second[at] for at in kept]


def test_too_few_clusters_have_no_interval_and_say_so():
    first, second = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 3.0, 2.0, 5.0, 4.0, 6.0]
    few = pearson(first, second, unit="models", clusters=["a", "b", "c", "d", "d", "d"], cluster_unit="model families")
    assert few.r is not None and few.interval is few.p is None and few.clusters == 4
    assert few.reason == "an interval needs at least 5 model families"
    # all but one family lie on a line, or are alike
    line = pearson(
        [1, 2, 3, 4, 5, 9, 9.5], [1, 2, 3, 4, 5, 1, 2], unit="models", clusters=[*"abcdeff"], cluster_unit="x"
    )
    assert line.interval is None and line.reason == "without one of the x all models lie on one line"
    flat = pearson([1, 1, 1, 1, 1, 9, 8], [1, 2, 3, 4, 5, 1, 2], unit="models", clusters=[*"abcdeff"], cluster_unit="x")
    assert flat.interval is None and flat.reason == "without one of the x one of the two is the same everywhere"
