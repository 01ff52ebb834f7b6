"""What people align: every inclusion probability is known, and a sample grows without losing what it has."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.domain.sampling import Unit, allocation, draw, finished, permanent_number, sample, strata

pytestmark = pytest.mark.once

SIZES = {("a", "faux pas"): 6, ("a", "hinting"): 3, ("b", "faux pas"): 6, ("b", "hinting"): 3}
UNITS = [
    Unit(f"{model}-{category}-{n}", f"{category}-{n}", (model, category))
    for (model, category), size in SIZES.items()
    for n in range(size)
]


def keys(drawn):
    return {one.unit.key for one in drawn}


def test_permanent_numbers_are_pinned_and_uniform():
    # what was drawn in one version must be drawn in the next: sha256("7\x1fstory"), its first 53 bits
    assert permanent_number(7, "story") == pytest.approx(0.7285963, abs=1e-7)
    numbers = [permanent_number(7, str(n)) for n in range(2000)]
    assert max(abs(sum(number < edge for number in numbers) / 2000 - edge) for edge in (0.1, 0.5, 0.9)) < 0.03


def test_allocation_gives_each_stratum_two_then_its_share():
    # six of four strata: two of each of the larger ones, one of each of the smaller ones, since 'least' goes round by
    # round; of 12 each has two, then 4 more by size / (2 · given + 1): 6/5 twice, 6/7 twice before 3/5
    assert list(allocation(SIZES, 6).values()) == [2, 1, 2, 1]
    assert list(allocation(SIZES, 12).values()) == [4, 2, 4, 2]
    assert allocation(SIZES, 18) == SIZES and set(allocation(SIZES, 0).values()) == {0}
    with pytest.raises(ValueError, match="the sample is of 19 tables; expected 0 to 18"):
        allocation(SIZES, 19)


@given(st.dictionaries(st.tuples(st.text(), st.text()), st.integers(0, 30), max_size=8), st.integers(0, 3))
def test_more_never_takes_a_unit_away(sizes, least):
    before = dict.fromkeys(sizes, 0)
    for total in range(sum(sizes.values()) + 1):
        given_now = allocation(sizes, total, least=least)
        assert sum(given_now.values()) == total
        assert all(before[stratum] <= given_now[stratum] <= sizes[stratum] for stratum in sizes)
        before = given_now


def test_a_larger_sample_holds_the_smaller_one_and_every_probability_is_n_of_N():
    samples = [sample(UNITS, total, seed=3) for total in range(19)]
    for total, (fewer, more) in enumerate(pairwise(samples)):
        assert len(fewer) == total and keys(fewer) < keys(more)
    for one in samples[12]:
        drawn = Counter(other.unit.stratum for other in samples[12])[one.unit.stratum]
        assert one.probability == drawn / SIZES[one.unit.stratum]
    # probabilities are right if their inverses add up to what there is, in each stratum
    weights = Counter()
    for one in samples[12]:
        weights[one.unit.stratum] += 1 / one.probability
    assert dict(weights) == pytest.approx(SIZES)


def test_each_unit_is_drawn_as_often_as_its_probability_says():
    drawn = Counter(key for seed in range(1500) for key in keys(sample(UNITS, 6, seed=seed)))
    # 2 of 6 and 1 of 3 are both a third; the standard error of a share of 1,500 is 1.2 points
    assert [drawn[unit.key] / 1500 for unit in UNITS] == pytest.approx([1 / 3] * len(UNITS), abs=0.05)
    # models are sampled on the same stories
    drawn = sample(UNITS, 12, seed=5)
    stories = {model: {one.unit.story for one in drawn if one.unit.stratum[0] == model} for model in "ab"}
    assert stories["a"] == stories["b"] and len(stories["a"]) == 6


def test_what_is_done_out_of_turn_waits_for_what_comes_before():
    drawn = draw(UNITS, {("a", "faux pas"): 4, ("b", "hinting"): 2}, seed=2)
    order = [unit.key for unit in strata(UNITS, seed=2)["a", "faux pas"]]
    done = {order[0], order[1], order[3]}
    complete = finished(UNITS, drawn, done, seed=2)
    assert [(one.unit.key, one.probability) for one in complete] == [(order[0], 2 / 6), (order[1], 2 / 6)]
    assert len(finished(UNITS, drawn, done | {order[2]}, seed=2)) == 4


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="stratum a · hinting: 4 tables are wanted; it has 3"):
        draw(UNITS, {("a", "hinting"): 4}, seed=1)
    with pytest.raises(ValueError, match="stratum c · x: 1 tables are wanted; it has 0"):
        draw(UNITS, {("c", "x"): 1}, seed=1)
    with pytest.raises(ValueError, match="named twice"):
        draw([UNITS[0], UNITS[0]], {}, seed=1)
