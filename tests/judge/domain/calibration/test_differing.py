"""The warning that the judge errs otherwise on another model: it fires where it must, and seldom elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from judge.domain.calibration.corrected import corrected
from judge.domain.calibration.means import ONE_MODEL, differing
from judge.domain.calibration.tables import Metric
from tests.judge.domain.calibration.worlds import judged_stories

pytestmark = pytest.mark.once


def three(rng, last=0.62):
    """Three models on the same 40 aligned stories; the judge's specificity on the third is `last`."""
    ease = rng.beta(3.6, 3, 40)
    return {
        name: judged_stories(rng, stories=40, aligned=40, ease=ease, specificity=specificity)
        for name, specificity in (("a", 0.62), ("b", 0.62), ("c", last))
    }


def test_the_warning_keeps_its_rate_and_fires_where_it_must():
    rng = np.random.default_rng(1)
    # .05 of 150 is 7.5; the .99 quantile is 14. On the third model the judge errs by .1 more: (.82 − .62) · .45
    assert sum(differing(three(rng)).warns for _ in range(150)) <= 14
    assert sum(differing(three(rng, 0.82)).warns for _ in range(60)) >= 57


def pooled_error(models, name):
    """How far the score with the error of the other models is from what people say."""
    others = [one for other, part in models.items() if other != name for one in part]
    unaligned = [replace(one, human=None, probability=None) for one in models[name]]
    found = corrected(unaligned, Metric.F1, others=others)
    assert found.aligned == 40 and found.tuning == 1 and found.human is None
    return found.value - corrected(models[name], Metric.F1).human


def test_pooled_calibration_is_off_exactly_where_it_warns():
    rng = np.random.default_rng(2)
    unlike, alike = [three(rng, 0.9) for _ in range(15)], [three(rng) for _ in range(15)]
    assert all(differing(models).warns for models in unlike)
    # the third model's rows are invented less often by .28 of the .45 that nobody matches
    assert np.mean([pooled_error(models, "c") for models in unlike]) == pytest.approx(-0.126, abs=0.03)
    assert np.mean([pooled_error(models, "c") for models in alike]) == pytest.approx(0, abs=0.03)


def test_the_error_of_each_model_is_shown_and_too_few_are_no_test():
    rng = np.random.default_rng(3)
    found = differing({"a": judged_stories(rng, aligned=4), "b": judged_stories(rng)})
    why = "each model needs at least 5 aligned stories, and all together more stories than models"
    assert found.p is None and found.reason == why and not found.warns
    assert found.by_model["a"].n == 4 and found.by_model["b"].value == pytest.approx(0.06, abs=0.1)
    assert differing({"a": judged_stories(rng)}).reason == ONE_MODEL
