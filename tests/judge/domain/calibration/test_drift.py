"""Anchor stories asked again: a chart that seldom alarms falsely and notices a drop within a stated number."""

import numpy as np
import pytest

from judge.domain.calibration.drift import TOO_FEW, TOO_SELDOM, Chart, Level, batch, changes, chart, watch

pytestmark = pytest.mark.once
ANCHORS, ROUNDS = 20, 5


def by_anchor(values: np.ndarray) -> dict[str, list[float]]:
    """Agreements of shape (times, anchors)."""
    return {f"{at:02}": values[:, at].tolist() for at in range(values.shape[1])}


def agreeing(rng: np.random.Generator, levels: np.ndarray, times: int) -> np.ndarray:
    return rng.binomial(25, rng.beta(40 * levels, 40 * (1 - levels), (times, len(levels)))) / 25


def test_the_cumulative_sum_and_the_limits_by_hand():
    levels = {"a": Level(1.0, 4), "b": Level(0.8, 4)}
    drift_chart = Chart(0.9, 0.05, 0.1, 0.2, horizon=100, false_alarms=0.05, median=3, most=4, levels=levels)
    # below .95 of a and .75 of b: .0 (never below nought), .05, .0, .25 > .2, and anew .05
    found = watch(drift_chart, [("a", 1.0), ("b", 0.7), ("a", 1.0), ("b", 0.5), ("a", 0.9)])
    assert [round(total, 9) for total, _ in found] == [0, 0.05, 0, 0.25, 0.05]
    assert [alarm for _, alarm in found] == [False, False, False, True, False]
    # the limits are those of the anchors that answered
    drift_chart = Chart(0.9, 0.04, 0.1, 0.2, horizon=100, false_alarms=0.05, median=3, most=4, levels=levels)
    both, alone, none = (batch(drift_chart, values) for values in ({"a": 0.9, "b": 0.8}, {"b": 0.8, "new": 0.1}, {}))
    # three standard errors of answers and of levels: 3 · .04 · √(2 · 1.25) / 2 around .9, and 3 · .04 · √1.25 around .8
    assert (both.low, both.high) == pytest.approx((0.9 - 0.094868, 0.9 + 0.094868), abs=1e-6)
    assert (alone.low, alone.high) == pytest.approx((0.8 - 0.134164, 0.8 + 0.134164), abs=1e-6)
    assert (both.mean, alone.mean, none) == (pytest.approx(0.85), 0.8, None) and not alone.outside
    # answers that were all alike make no certain limits
    made = chart(by_anchor(np.ones((5, 20))), size=0.1, seed=1)
    alike = batch(made, {"00": 1.0, "01": 1.0})
    assert made.spread == 0 and (alike.low, alike.high) == pytest.approx((0.05**0.01, 1.0)) and not alike.outside


def test_the_spread_is_that_around_own_levels():
    # two kinds of anchors, each ±.02 around its level: variance 4 · .0004 / 3 for every four answers
    start = np.tile([[0.98, 0.68], [0.94, 0.64], [0.98, 0.68], [0.94, 0.64]], (1, 10))
    made = chart(by_anchor(start), size=0.1, seed=1)
    assert made.spread == pytest.approx((0.0016 / 3) ** 0.5) and made.mean == pytest.approx(0.81)
    assert made.levels["00"] == Level(pytest.approx(0.96), 4) and made.levels["01"].mean == pytest.approx(0.66)


def test_false_alarms_are_as_rare_as_stated_whatever_anchors_differ():
    rng, alarms, found = np.random.default_rng(9), [], []
    for _ in range(13):
        levels = np.clip(rng.beta(17, 2, ANCHORS), 0.01, 0.99)
        made = chart(by_anchor(agreeing(rng, levels, ROUNDS)), size=0.1, seed=1)
        assert made.false_alarms == pytest.approx(0.05, abs=0.02)
        for drop, into in ((0.0, alarms), (0.1, found)):
            for _ in range(16):
                later = agreeing(rng, levels, 25) - drop
                values = [(f"{at:02}", value) for row in later.tolist() for at, value in enumerate(row)]
                first = next((at for at, (_, alarm) in enumerate(watch(made, values), 1) if alarm), 501)
                into.append((first, made.median, made.most))
    # 208 watches: 5 % are 10, and none where what anchors differ by is taken for noise
    assert 2 <= sum(first <= 500 for first, _, _ in alarms) <= 20
    first, half, most = np.array(found).T
    assert np.median(first) <= 1.3 * np.median(half) and np.quantile(first, 0.9) <= 1.3 * np.median(most)


def test_what_makes_no_chart_is_refused():
    many = np.full((3, 20), 0.9)
    with pytest.raises(ValueError, match=TOO_FEW):
        chart(by_anchor(many[:, :19]), size=0.1, seed=1)
    with pytest.raises(ValueError, match=TOO_SELDOM):
        chart(by_anchor(np.full((1, 80), 0.9)), size=0.1, seed=1)
    with pytest.raises(ValueError, match="the drop to notice is 0; expected a share between 0 and 1"):
        chart(by_anchor(many), size=0, seed=1)


def test_another_resolved_model_or_fingerprint_is_noticed():
    seen = [("gpt-5-0801", "a"), ("gpt-5-0801", ""), ("gpt-5-0801", "b"), ("gpt-5-1101", ""), ("gpt-5-1101", "c")]
    assert changes(seen) == [(2, "a"), (3, "b")]
