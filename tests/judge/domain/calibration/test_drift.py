"""Anchor stories asked again: a chart that seldom alarms falsely and notices a drop within a stated number."""

from __future__ import annotations

import numpy as np
import pytest

from judge.domain.calibration.drift import TOO_FEW, Chart, Identity, batches, changes, chart, watch

pytestmark = pytest.mark.once


def test_the_cumulative_sum_by_hand():
    drift_chart = Chart(0.9, 0.05, size=0.1, limit=0.2, horizon=100, false_alarms=0.05, median=3, most=4)
    # what is below .85 adds up: .0 (never below nought), .1, .05, .25 > .2, and anew
    found = watch(drift_chart, [0.95, 0.75, 0.9, 0.65, 0.8])
    assert [round(one.total, 9) for one in found] == [0, 0.1, 0.05, 0.25, 0.05]
    assert [one.alarm for one in found] == [False, False, False, True, False]
    # three standard errors of four stories: .9 ± .075
    [batch] = batches(drift_chart, [("May", [0.8, 0.8, 0.84, 0.8]), ("June", [])])
    assert (batch.low, batch.high) == pytest.approx((0.825, 0.975)) and batch.outside and batch.stories == 4


def test_a_drop_is_noticed_within_the_stated_number_and_false_alarms_are_as_rare_as_stated():
    rng = np.random.default_rng(9)
    agreeing = lambda rng, n, share: rng.binomial(25, rng.beta(share * 40, (1 - share) * 40, n)) / 25  # noqa: E731
    drift_chart = chart(agreeing(rng, 60, 0.92), size=0.08, seed=1)
    assert (
        drift_chart.false_alarms == pytest.approx(0.05, abs=0.02)
        and drift_chart.median <= 25
        and drift_chart.most <= 60
    )
    quiet = [any(one.alarm for one in watch(drift_chart, agreeing(rng, 500, drift_chart.mean))) for _ in range(60)]
    first = [
        next(
            at for at, one in enumerate(watch(drift_chart, agreeing(rng, 500, drift_chart.mean - 0.08)), 1) if one.alarm
        )
        for _ in range(60)
    ]
    assert (
        sum(quiet) <= 8
        and np.quantile(first, 0.9) <= 1.5 * drift_chart.most
        and np.median(first) <= 1.5 * drift_chart.median
    )


def test_what_makes_no_chart_is_refused():
    with pytest.raises(ValueError, match=TOO_FEW):
        chart([0.9] * 59, size=0.1, seed=1)
    with pytest.raises(ValueError, match="the drop to notice is 0; expected a share between 0 and 1"):
        chart([0.9] * 60, size=0, seed=1)


def test_another_resolved_model_or_fingerprint_is_noticed():
    seen = [Identity("1", "gpt-5-0801", "a"), Identity("2", "gpt-5-0801", ""), Identity("3", "gpt-5-0801", "b")]
    seen += [Identity("4", "gpt-5-1101", ""), Identity("5", "gpt-5-1101", "c")]
    assert [(before.at, after.at) for before, after in changes(seen)] == [("2", "3"), ("3", "4")]
