"""One figure of sums over clusters is the figure that the many-figure form gives."""

from __future__ import annotations

import numpy as np
import pytest

from core.plain import plain
from core.statistics import SHARE, Estimate, estimate_of, few, interval_of, mean_estimates, ratios

pytestmark = pytest.mark.once
RULES = {"scale": SHARE, "unit": "stories", "empty": "no story has a score"}


def _share(sums):
    return ratios(sums[:, 0], sums[:, 1])


def test_a_share_of_sums_is_the_mean_of_its_rows():
    scores = np.random.default_rng(4).integers(0, 2, 30).astype(float)
    [expected] = mean_estimates(scores[None], seed=7, resamples=400, **RULES)
    sums = np.column_stack([scores, np.ones(30)])
    assert estimate_of(sums, _share, n=30, seed=7, resamples=400, **RULES) == expected


def test_a_figure_of_few_clusters_or_of_none_has_a_reason():
    sums = np.array([[1.0, 2.0]] * 6)
    fewer = estimate_of(sums, _share, n=12, seed=7, clusters=4, **RULES)
    assert fewer == Estimate(0.5, 12, reason=few("stories"))
    nothing = Estimate(None, 0, reason="no story has a score")
    assert estimate_of(np.zeros((6, 2)), _share, n=0, seed=7, **RULES) == nothing
    assert estimate_of(np.zeros((0, 2)), _share, n=0, seed=7, **RULES) == nothing
    assert interval_of(0.5, None, 0, clusters=6, **RULES) == (None, "no story has a score")


def test_an_estimate_is_kept_with_what_there_is_of_it_and_read_as_it_was():
    kept = {"value": 0.5, "n": 12, "interval": [0.4, 0.6]}
    without = {"value": None, "n": 0, "interval": None, "clusters": 3, "reason": few("stories")}
    estimates = [Estimate(0.5, 12, (0.4, 0.6)), Estimate(None, 0, clusters=3, reason=few("stories"))]
    assert [[*plain(estimate).items()] for estimate in estimates] == [[*kept.items()], [*without.items()]]
    assert [plain(Estimate.from_json(of)) for of in (kept, without)] == [kept, without]
