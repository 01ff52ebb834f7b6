"""Samples that were drawn within categories: what these differ by is no chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.statistics import SHARE, estimate_of, first_by_second
from judge.domain.calibration.agreement import agreement
from judge.domain.calibration.corrected import corrected
from judge.domain.calibration.means import Strata, mean_error
from judge.domain.calibration.tables import JudgedStory, Matches, Metric, Row, Side, Table

pytestmark = pytest.mark.once


def story(name: str, said: int, true: int | None, stratum: str) -> JudgedStory:
    human = None if true is None else Matches(10, true, 10, true)
    probability = None if true is None else 0.5
    return JudgedStory(name, stratum, Matches(10, said, 10, said), human, probability, stratum=stratum)


def test_strata_of_one_story_are_put_together():
    strata = Strata({"1": "a", "2": "a", "3": "b", "4": "c", "5": "d", "6": "d", "7": "d"})
    assert strata.count == 3 and strata.numbers(["b", "c", "nobody aligned", "a"]).tolist() == [2, 2, 2, 0]
    # a single one left is of the smallest stratum, and so is a stratum that nobody aligned
    strata = Strata({"1": "a", "2": "a", "3": "b", "5": "d", "6": "d", "7": "d"})
    assert strata.count == 2 and strata.numbers(["b", "a", "x", "d"]).tolist() == [0, 0, 0, 1]
    assert (Strata({"1": "a"}).count, Strata({}).count) == (1, 1)


def test_the_spread_within_strata_by_hand():
    # in a people say .2 and .4, in b .6 and .8; the judge says .5 of all: people alone, .5, ± .1 within each stratum
    aligned = [story("1", 5, 2, "a"), story("2", 5, 4, "a"), story("3", 5, 6, "b"), story("4", 5, 8, "b")]
    stories = [*aligned, *(story(f"{at}", 5, None, "ab"[at % 2]) for at in range(5, 9))]
    found = corrected(stories, Metric.F1)
    assert found.value == pytest.approx(0.5) and found.tuning == 0 and found.strata == 2 and found.freedom == 1
    # each story has a quarter of the weight and is .1 from its stratum: 4 · (.025)² · 2/1, as a mean is taken from two;
    # λ costs no more where four stories of two strata leave two degrees: · 2/1
    within = {name: aligned for name, (_, aligned) in found.moves.items()}
    assert sum(move**2 for move in within.values()) == pytest.approx(4 * 0.025**2 * 2 * 2)
    simple = corrected([replace(one, stratum="") for one in stories], Metric.F1)
    assert simple.value == pytest.approx(0.5) and simple.error > found.error and simple.freedom == 2
    # the judge's error: .3, .1, −.1, −.3, so that it is 0, with as much within the strata
    error = mean_error(stories, Metric.F1)
    assert error.estimate.value == pytest.approx(0) and abs(sum(error.moves.values())) < 1e-12
    assert sum(move**2 for move in error.moves.values()) == pytest.approx(4 * 0.025**2 * 2)


def test_a_bootstrap_within_strata_knows_nothing_of_what_they_differ_by():
    rng = np.random.default_rng(3)
    shares = np.concatenate([rng.normal(0.3, 0.05, 20), rng.normal(0.8, 0.05, 20)])
    sums, strata = np.stack([shares, np.ones(40)], axis=1), np.repeat([0, 1], 20)
    rules = {"n": 40, "scale": SHARE, "unit": "stories", "empty": "", "seed": 1}
    plain, within = (
        estimate_of(sums, first_by_second, **rules),
        estimate_of(sums, first_by_second, strata=strata, **rules),
    )
    assert plain.value == within.value
    # by hand: variances of both parts over 20, a quarter of each; t of about 38 degrees is 2.02
    error = (0.25 * (shares[:20].var(ddof=1) + shares[20:].var(ddof=1)) / 20) ** 0.5
    assert within.interval[1] - within.interval[0] == pytest.approx(2 * 2.024 * error, rel=0.06)
    assert plain.interval[1] - plain.interval[0] > 4 * (within.interval[1] - within.interval[0])


def test_agreement_is_over_stories_within_their_strata():
    def table(at: int, right: int, stratum: str) -> Table:
        rows = tuple(Row(f"p{place}", Side.PREDICTION, "", 1, int(place < right)) for place in range(10))
        return Table(f"{at}", f"{at}", "model", stratum, 1.0, rows, stratum=stratum)

    tables = [table(at, 9 - at % 2, "a") for at in range(8)] + [table(at, 3 - at % 2, "b") for at in range(8, 16)]
    found, simple = (
        agreement(part, seed=1).by_story for part in (tables, [replace(table, stratum="") for table in tables])
    )
    assert found.value == simple.value == pytest.approx(0.55)
    width = found.interval[1] - found.interval[0]
    assert width < 0.3 * (simple.interval[1] - simple.interval[0])


def test_intervals_of_a_stratified_sample_hold_the_truth():
    """Five categories that lie far apart; two in five stories are aligned in each. As a simple random sample nearly all
    intervals would hold the truth, as they are far too wide."""
    rng, held, narrower = np.random.default_rng(4), 0, []
    means = np.array([0.2, 0.4, 0.5, 0.6, 0.8])
    for _ in range(200):
        stories = []
        for at in range(100):
            stratum = at % 5
            true = rng.binomial(20, means[stratum])
            said = rng.binomial(true, 0.9) + rng.binomial(20 - true, 0.1 + 0.1 * stratum)
            human = Matches(20, true, 20, true) if at < 40 else None
            stories.append(
                JudgedStory(
                    f"{at}",
                    f"{stratum}",
                    Matches(20, said, 20, said),
                    human,
                    0.4 if human else None,
                    stratum=f"{stratum}",
                )
            )
        found, simple = (
            corrected(stories, Metric.F1),
            corrected([replace(one, stratum="") for one in stories], Metric.F1),
        )
        held += found.interval[0] <= 0.5 <= found.interval[1]
        narrower.append((found.interval[1] - found.interval[0]) / (simple.interval[1] - simple.interval[0]))
    assert 0.91 <= held / 200 <= 0.985 and np.mean(narrower) < 0.8
