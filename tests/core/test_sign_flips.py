from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import permutation_test
from statsmodels.stats.multitest import multipletests

from core.statistics import caution, flips_for, holm, sign_flip_p
from core.statistics.sign_flips import FLIPS


def test_sign_flips_by_hand():
    # differences 1, 2, 3: of 8 sign patterns only +++ and −−− reach |6| → 2/8
    # 1, −1 and a zero, which no flip moves: every pattern reaches |0| → 1; all zero: 1; nothing: undefined
    rows = np.array([[1, 2, 3], [1, -1, 0], [0, 0, 0], [np.nan] * 3])
    assert sign_flip_p(rows, seed=1) == [0.25, 1.0, 1.0, None]
    # 3, 2, −1 → |4|; +++ 6, ++− 4, +−+ 2, +−− 0 and their mirrors → 4/8
    assert sign_flip_p(np.array([[3.0, np.nan, 2, -1]]), seed=1) == [0.5]
    # 0.1 + 0.2 − 0.3 is not quite 0 in floating point, yet all 8 patterns are at least as extreme as 0
    assert sign_flip_p(np.array([[0.1, 0.2, -0.3]]), seed=1) == [1.0]


def test_sign_flips_agree_with_scipys_permutation_test():
    for stories in [9, 14, 15, 40]:
        rows = np.random.default_rng(stories).normal(0.3, 1, (3, stories))
        for row, found in zip(rows, sign_flip_p(rows, seed=5), strict=True):
            told = permutation_test(
                (row,), np.mean, permutation_type="samples", n_resamples=2**14 if stories <= 14 else 20_000, rng=1
            ).pvalue
            # exact on both sides up to 14; beyond, the standard errors of two drawn shares, four times over
            near = 4 * (max(told, 1e-3) * (1 - told) * (1 / 20_000 + 1 / FLIPS)) ** 0.5
            assert found == pytest.approx(told, abs=1e-12 if stories <= 14 else near)


def test_the_smallest_p_is_never_nought_and_leaves_room_for_holm():
    # 40 differences of 1: no drawn pattern reaches 40, so (0 + 1) / (9,999 + 1)
    assert sign_flip_p(np.ones((1, 40)), seed=1) == [1e-4]
    # 1,520 tests: 1,520 / (flips + 1) has to be at most 0.05 / 4 → flips + 1 = 121,600
    assert flips_for(1520) == 121_599 and flips_for(190) == 15_199 and flips_for(3) == FLIPS


def test_holm_by_hand_and_as_statsmodels_has_it():
    # sorted 0.01, 0.02, 0.03 → 3·0.01 = 0.03, max(0.03, 2·0.02) = 0.04, max(0.04, 0.03) = 0.04; None does not count
    assert holm([0.03, None, 0.01, 0.02]) == pytest.approx([0.04, None, 0.03, 0.04])
    assert holm([]) == [] and holm([None]) == [None] and holm([0.9, 0.8]) == [1.0, 1.0]
    p = list(np.random.default_rng(2).beta(0.3, 3, 40))
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1])


def test_below_thirty_clusters_the_test_says_what_it_assumes():
    assert caution(30, "stories") == ""
    assert caution(29, "stories").startswith("with fewer than 30 stories the sign-flip test assumes")
