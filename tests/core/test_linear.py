"""Intervals and tests of figures that are sums over clusters."""

from __future__ import annotations

import numpy as np

from core.statistics import DIFFERENCE, linear_interval, linear_p


def test_a_p_value_is_below_five_per_cent_where_the_interval_leaves_out_no_difference():
    """Also where all clusters are alike, of which few say little."""
    for spread in [0.0, 0.02, 0.4]:
        for count in [5, 8, 20, 60]:
            moves = spread * np.random.default_rng(1).normal(size=count) / count
            apart = set()
            for value in np.linspace(-0.9, 0.9, 37):
                ends, _ = linear_interval(value, moves, count=count, most=count - 1, scale=DIFFERENCE, unit="stories")
                p = linear_p(value, moves, count=count, most=count - 1, scale=DIFFERENCE)
                assert 0 <= p <= 1
                apart.add(p < 0.05)
                assert (p < 0.05) == (ends[0] > 0 or ends[1] < 0), (value, ends, p)
            assert apart == {True, False}
