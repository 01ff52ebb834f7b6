"""Variance splits: by hand, beside the mixed model of statsmodels, and against known truths."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from statsmodels.regression.mixed_linear_model import MixedLM

from core.statistics.variance import VarianceSplit, variance_split


def made(clusters: int, turns: int, *, own: float, noise: float, seed: int, levels=(0.0,), crossed: float = 0.0):
    """(scores, clusters, conditions) with these standard deviations."""
    rng = np.random.default_rng(seed)
    rows = []
    for cluster in range(clusters):
        start = 0.5 + rng.normal(0, own)
        for level, effect in enumerate(levels):
            here = start + effect + rng.normal(0, crossed)
            rows += [(here + rng.normal(0, noise), cluster, level) for _ in range(turns)]
    return [list(column) for column in zip(*rows, strict=True)]


def test_one_condition_by_hand():
    # five clusters ask twice: 0 and 2, 3 and 5, 1 and 1, 4 and 6, 2 and 6; their means 1, 4, 1, 5, 4 have a variance of
    # (4 + 1 + 4 + 4 + 1) / 4 = 3.5; within are squares 2 + 2 + 0 + 2 + 8 of 5 degrees, 2.8, half of which is in a mean
    found = variance_split([0, 2, 3, 5, 1, 1, 4, 6, 2, 6], [at // 2 for at in range(10)])
    assert (found.clusters, found.repetitions) == pytest.approx((2.1 / 4.9, 2.8 / 4.9)) and found.conditions is None
    for name in ("clusters", "repetitions"):
        low, high = found.intervals[name]
        assert 0 <= low < found.estimates[name] < high <= 1


def test_two_conditions_by_hand():
    # five clusters: means by the first condition 1, 2, 3, 4, 5, by the second one more, but two more of the last. Each
    # is asked twice, ± .5 around its mean: 10 cells of squares .5, so that the noise is .5 and that of a mean .25
    means = {(at, level): at + 1 + level * (1 + (at == 4)) for at in range(5) for level in range(2)}
    rows = [(mean + side / 2, *cell) for cell, mean in means.items() for side in (1, -1)]
    found = variance_split(*[list(column) for column in zip(*rows, strict=True)])
    # rows 1.5, 2.5, 3.5, 4.5, 6: variance 3.05. Second less first: 1, 1, 1, 1, 2, variance .2, so that what is left of
    # additivity has the mean square .1; columns 3 and 4.2, around 3.6: .36, less ½ · .1 / 5 = .01
    clusters, conditions, noise = 3.05 - 0.1 / 2, 0.35 + 0.1 - 0.25, 0.5
    total = clusters + conditions + noise
    assert found.estimates == pytest.approx(
        {"clusters": clusters / total, "conditions": conditions / total, "repetitions": noise / total}
    )
    assert found.conditions == pytest.approx(conditions / total) and found.below == ()


def test_an_estimate_below_nought_is_said():
    # cells of a cluster agree better than repetitions of a cell: there is nothing between conditions
    rows = [(at + side, at, level) for at in range(6) for level in range(2) for side in (0.5, -0.5)]
    found = variance_split(*[list(column) for column in zip(*rows, strict=True)])
    assert found.conditions == 0 and found.below == ("conditions",) and found.estimates["conditions"] < 0
    assert found.clusters + found.repetitions == pytest.approx(1) and found.intervals["conditions"][0] == 0
    assert variance_split([0, 1] * 6, [at // 2 for at in range(12)]).below == ("clusters",)


def test_clusters_without_every_condition_are_counted_and_left_out():
    scores, clusters, levels = made(8, 2, own=0.2, noise=0.1, seed=1, levels=(0.0, 0.1))
    whole = variance_split(scores, clusters, levels)
    more = variance_split([*scores, 0.1, 0.2], [*clusters, 99, 99], [*levels, 0, 0])
    assert (more.left_out, more.n, more.estimates) == (1, whole.n, whole.estimates) and whole.left_out == 0


def test_one_condition_is_the_mixed_model():
    for seed in [1, 2, 3]:
        scores, clusters, _ = made(40, 4, own=0.2, noise=0.1, seed=seed)
        fitted = MixedLM(np.array(scores), np.ones((len(scores), 1)), np.array(clusters)).fit(reml=True)
        own = float(np.asarray(fitted.cov_re)[0, 0])
        found = variance_split(scores, clusters)
        assert found.clusters == pytest.approx(own / (own + float(fitted.scale)), rel=1e-3)


def test_two_conditions_are_the_mixed_model_without_the_noise_of_means():
    scores, clusters, levels = made(30, 3, own=0.2, noise=0.1, seed=2, levels=(0.0, 0.1), crossed=0.1)
    data = pd.DataFrame({"score": scores, "cluster": clusters, "level": levels})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixedLM.from_formula(
            "score ~ C(level)", groups="cluster", re_formula="1", vc_formula={"level": "0 + C(level)"}, data=data
        )
        fitted = model.fit(reml=True)
    own, crossed, noise = float(np.asarray(fitted.cov_re)[0, 0]), float(fitted.vcomp[0]), float(fitted.scale)
    fixed = (float(fitted.fe_params.iloc[1]) / 2) ** 2 - (crossed + noise / 3) / 30 / 2
    found = variance_split(scores, clusters, levels)
    parts = np.array([own, fixed + crossed, noise])
    assert [found.clusters, found.conditions, found.repetitions] == pytest.approx(
        parts / parts.sum(), rel=2e-2, abs=1e-3
    )


def test_known_shares_are_found():
    """Of variances .04, .01 (levels .0067 fixed and .0033 crossed) and .01; means of ten data sets of 60 stories."""
    truth = np.array([0.04, np.var([0.0, 0.1, 0.2]) + 0.0033, 0.01])
    found = [
        variance_split(*made(60, 3, own=0.2, noise=0.1, seed=seed, levels=(0.0, 0.1, 0.2), crossed=0.0033**0.5))
        for seed in range(10)
    ]
    shares = np.mean([[one.clusters, one.conditions, one.repetitions] for one in found], axis=0)
    assert shares.sum() == pytest.approx(1) and np.abs(shares - truth / truth.sum()).max() < 0.04


def test_without_an_effect_the_share_is_nought_on_average_and_intervals_hold_it():
    """Ten stories, three prompts alike: the means of prompts differ by chance alone."""
    splits = [variance_split(*made(10, 3, own=0.2, noise=0.1, seed=at, levels=(0.0,) * 3)) for at in range(300)]
    shares = np.array([split.estimates["conditions"] for split in splits])
    assert abs(shares.mean()) < 3 * shares.std() / 300**0.5
    assert np.mean([split.intervals["conditions"][0] > 1e-9 for split in splits]) <= 0.06
    clusters = [split.intervals["clusters"] for split in splits]
    assert 0.91 <= np.mean([low <= 0.8 <= high for low, high in clusters]) <= 0.98


def test_intervals_hold_what_prompts_do():
    levels, crossed = (0.0, 0.1, 0.2), 0.05
    truth = (np.var(levels) + crossed**2) / (0.04 + np.var(levels) + crossed**2 + 0.01)
    ends = [
        variance_split(*made(20, 2, own=0.2, noise=0.1, seed=at, levels=levels, crossed=crossed)).intervals[
            "conditions"
        ]
        for at in range(300)
    ]
    assert 0.91 <= np.mean([low <= truth <= high for low, high in ends]) <= 0.985


def test_without_conditions_two_shares_sum_to_one():
    scores, clusters, _ = made(50, 5, own=0.1, noise=0.1, seed=4)
    found = variance_split(scores, clusters)
    assert found.conditions is None and found.clusters + found.repetitions == pytest.approx(1)
    assert found.clusters == pytest.approx(0.5, abs=0.15)
    uneven = variance_split(scores[:-1], clusters[:-1])
    assert uneven.clusters == pytest.approx(found.clusters, abs=0.02)


def test_no_difference_between_stories_is_nought_of_them():
    rng = np.random.default_rng(5)
    split = variance_split(rng.normal(0, 1, 300).tolist(), [at % 100 for at in range(300)])
    assert split.clusters < 0.1 and split.repetitions > 0.9
    alike = variance_split([0, 1] * 6, [at // 2 for at in range(12)])
    assert (alike.clusters, alike.repetitions, alike.intervals["repetitions"][1]) == (0.0, 1.0, 1.0)


def test_where_no_repetition_differs_some_stories_unseen_may():
    """3 of 4 are right: a variance of .193 between 30 stories; by the rule of three repetitions may differ in 9.5 % of
    all, by .25 at most."""
    alike = variance_split([float(at // 3 % 4 > 0) for at in range(90)], [at // 3 for at in range(90)])
    assert (alike.clusters, alike.repetitions) == (1.0, 0.0)
    unseen = (1 - 0.05 ** (1 / 30)) / 4
    between = 22 / 30 * 8 / 30 * 30 / 29
    assert alike.intervals["repetitions"] == pytest.approx((0.0, unseen / (unseen + between)))
    assert alike.intervals["clusters"] == pytest.approx((between / (unseen + between), 1.0))


def test_what_cannot_be_told_has_a_reason():
    for scores, clusters, reason in [
        ([1, 0] * 4, [at // 2 for at in range(8)], "a split needs at least 5 clusters"),
        ([1, 0, 1, 0, 1], [0, 1, 2, 3, 4], "nothing was asked twice"),
        ([1.0] * 12, [at // 2 for at in range(12)], "every score is the same"),
    ]:
        assert variance_split(scores, clusters) == VarianceSplit(len(scores), reason=reason)
