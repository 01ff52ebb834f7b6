"""Variance splits: by hand, beside the mixed model of statsmodels, and against known truths."""

import warnings

import numpy as np
import pandas as pd
import pytest
from statsmodels.regression.mixed_linear_model import MixedLM

from core.statistics.variance import VarianceSplit, variance_split

TWOS = [at // 2 for at in range(12)]


def made(clusters: int, turns: int, *, seed: int, own=0.2, noise=0.1, levels=(0.0,), crossed: float = 0.0):
    """(scores, clusters, conditions) with these standard deviations."""
    rng = np.random.default_rng(seed)
    rows = []
    for cluster in range(clusters):
        start = 0.5 + rng.normal(0, own)
        for level, effect in enumerate(levels):
            here = start + effect + rng.normal(0, crossed)
            rows += [(here + rng.normal(0, noise), cluster, level) for _ in range(turns)]
    return columns(rows)


def columns(rows: list[tuple]) -> list[list]:
    return [list(column) for column in zip(*rows, strict=True)]


def test_one_condition_by_hand():
    # five clusters ask twice: 0 and 2, 3 and 5, 1 and 1, 4 and 6, 2 and 6; their means 1, 4, 1, 5, 4 have a variance of
    # (4 + 1 + 4 + 4 + 1) / 4 = 3.5; within are squares 2 + 2 + 0 + 2 + 8 of 5 degrees, 2.8, half of which is in a mean
    found = variance_split([0, 2, 3, 5, 1, 1, 4, 6, 2, 6], TWOS[:10])
    assert (found.clusters, found.repetitions) == pytest.approx((2.1 / 4.9, 2.8 / 4.9)) and found.conditions is None
    for name in ("clusters", "repetitions"):
        low, high = found.intervals[name]
        assert 0 <= low < found.estimates[name] < high <= 1


def test_two_conditions_by_hand():
    # five clusters: means by the first condition 1, 2, 3, 4, 5, by the second one more, but two more of the last. Each
    # is asked twice, ± .5 around its mean: 10 cells of squares .5, so that the noise is .5 and that of a mean .25
    means = {(at, level): at + 1 + level * (1 + (at == 4)) for at in range(5) for level in range(2)}
    rows = [(mean + side / 2, *cell) for cell, mean in means.items() for side in (1, -1)]
    found = variance_split(*columns(rows))
    # rows 1.5, 2.5, 3.5, 4.5, 6: variance 3.05. Second less first: 1, 1, 1, 1, 2, variance .2, so that what is left of
    # additivity has the mean square .1; columns 3 and 4.2, around 3.6: .36, less ½ · .1 / 5 = .01
    parts = {"clusters": 3.05 - 0.1 / 2, "conditions": 0.35 + 0.1 - 0.25, "repetitions": 0.5}
    assert found.estimates == pytest.approx({name: part / sum(parts.values()) for name, part in parts.items()})
    assert found.conditions == found.estimates["conditions"] and found.below == ()


def test_an_estimate_below_nought_is_said():
    # cells of a cluster agree better than repetitions of a cell: there is nothing between conditions
    rows = [(at + side, at, level) for at in range(6) for level in range(2) for side in (0.5, -0.5)]
    found = variance_split(*columns(rows))
    assert found.conditions == 0 and found.below == ("conditions",) and found.estimates["conditions"] < 0
    assert found.clusters + found.repetitions == pytest.approx(1) and found.intervals["conditions"][0] == 0
    alike = variance_split([0, 1] * 6, TWOS)
    assert alike.below == ("clusters",)
    assert (alike.clusters, alike.repetitions, alike.intervals["repetitions"][1]) == (0.0, 1.0, 1.0)


def test_clusters_without_every_condition_are_counted_and_left_out():
    scores, clusters, levels = made(8, 2, seed=1, levels=(0.0, 0.1))
    whole = variance_split(scores, clusters, levels)
    more = variance_split([*scores, 0.1, 0.2], [*clusters, 99, 99], [*levels, 0, 0])
    assert (more.left_out, more.n, more.estimates) == (1, whole.n, whole.estimates) and whole.left_out == 0


def test_it_is_the_mixed_model_without_the_noise_of_means():
    for seed in [1, 2, 3]:
        scores, clusters, _ = made(40, 4, seed=seed)
        fitted = MixedLM(np.array(scores), np.ones((len(scores), 1)), np.array(clusters)).fit(reml=True)
        own = float(np.asarray(fitted.cov_re)[0, 0])
        shares = variance_split(scores, clusters)
        assert shares.clusters == pytest.approx(own / (own + float(fitted.scale)), rel=1e-3)
    scores, clusters, levels = made(30, 3, seed=2, levels=(0.0, 0.1), crossed=0.1)
    data = pd.DataFrame({"score": scores, "cluster": clusters, "level": levels})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        how = {"groups": "cluster", "re_formula": "1", "vc_formula": {"level": "0 + C(level)"}, "data": data}
        fitted = MixedLM.from_formula("score ~ C(level)", **how).fit(reml=True)
    own, crossed, noise = float(np.asarray(fitted.cov_re)[0, 0]), float(fitted.vcomp[0]), float(fitted.scale)
    fixed = (float(fitted.fe_params.iloc[1]) / 2) ** 2 - (crossed + noise / 3) / 30 / 2
    found, parts = variance_split(scores, clusters, levels), np.array([own, fixed + crossed, noise])
    shares = pytest.approx(parts / parts.sum(), rel=2e-2, abs=1e-3)
    assert [found.clusters, found.conditions, found.repetitions] == shares


def test_known_shares_are_found():
    """Of variances .04, .01 (levels .0067 fixed and .0033 crossed) and .01; means of ten data sets of 60 stories."""
    levels = (0.0, 0.1, 0.2)
    truth = np.array([0.04, np.var(levels) + 0.0033, 0.01])
    found = [variance_split(*made(60, 3, seed=seed, levels=levels, crossed=0.0033**0.5)) for seed in range(10)]
    shares = np.mean([[one.clusters, one.conditions, one.repetitions] for one in found], axis=0)
    assert shares.sum() == pytest.approx(1) and np.abs(shares - truth / truth.sum()).max() < 0.04
    scores, clusters, _ = made(50, 5, own=0.1, noise=0.1, seed=4)
    alone = variance_split(scores, clusters)
    assert alone.conditions is None and alone.clusters + alone.repetitions == pytest.approx(1)
    assert alone.clusters == pytest.approx(0.5, abs=0.15)
    assert variance_split(scores[:-1], clusters[:-1]).clusters == pytest.approx(alone.clusters, abs=0.02), "uneven"
    rng = np.random.default_rng(5)
    noise = variance_split(rng.normal(0, 1, 300).tolist(), [at % 100 for at in range(300)])
    assert noise.clusters < 0.1 and noise.repetitions > 0.9


def test_intervals_hold_what_prompts_do_also_where_they_do_nothing():
    """Ten stories, three prompts alike: the means of prompts differ by chance alone."""
    splits = [variance_split(*made(10, 3, seed=at, levels=(0.0,) * 3)) for at in range(300)]
    shares = np.array([split.estimates["conditions"] for split in splits])
    assert abs(shares.mean()) < 3 * shares.std() / 300**0.5
    assert np.mean([split.intervals["conditions"][0] > 1e-9 for split in splits]) <= 0.06
    held = [low <= 0.8 <= high for low, high in (split.intervals["clusters"] for split in splits)]
    assert 0.91 <= np.mean(held) <= 0.98
    levels, crossed = (0.0, 0.1, 0.2), 0.05
    prompts = np.var(levels) + crossed**2
    truth = prompts / (0.04 + prompts + 0.01)
    splits = [variance_split(*made(20, 2, seed=at, levels=levels, crossed=crossed)) for at in range(300)]
    held = [low <= truth <= high for low, high in (split.intervals["conditions"] for split in splits)]
    assert 0.91 <= np.mean(held) <= 0.985


def test_where_no_repetition_differs_some_stories_unseen_may():
    """3 of 4 are right: a variance of .193 between 30 stories; by the rule of three repetitions may differ in 9.5 % of
    all, by .25 at most."""
    alike = variance_split([float(at // 3 % 4 > 0) for at in range(90)], [at // 3 for at in range(90)])
    assert (alike.clusters, alike.repetitions) == (1.0, 0.0)
    unseen, between = (1 - 0.05 ** (1 / 30)) / 4, 22 / 30 * 8 / 30 * 30 / 29
    assert alike.intervals["repetitions"] == pytest.approx((0.0, unseen / (unseen + between)))
    assert alike.intervals["clusters"] == pytest.approx((between / (unseen + between), 1.0))


def test_what_cannot_be_told_has_a_reason():
    for scores, clusters, reason in [
        ([1, 0] * 4, TWOS[:8], "a split needs at least 5 clusters"),
        ([1, 0, 1, 0, 1], [0, 1, 2, 3, 4], "nothing was asked twice"),
        ([1.0] * 12, TWOS, "every score is the same"),
    ]:
        assert variance_split(scores, clusters) == VarianceSplit(len(scores), reason=reason)
