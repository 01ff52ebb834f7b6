from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.resolution import Outcome, resolve


def test_the_rule():
    for labels, overlap, outcome, label in [
        ("", 3, Outcome.PENDING, ""),
        ("aa", 3, Outcome.PENDING, ""),  # two of three agree already, and still nobody is told
        ("aaa", 3, Outcome.UNANIMOUS, "a"),
        ("aab", 3, Outcome.MAJORITY, "a"),
        ("abc", 3, Outcome.OPEN, ""),
        ("ab", 2, Outcome.OPEN, ""),
        ("aabb", 4, Outcome.OPEN, ""),  # half is not more than half
        ("aaabb", 5, Outcome.MAJORITY, "a"),
        ("aabbc", 5, Outcome.OPEN, ""),  # a plurality is no majority
        ("aaab", 3, Outcome.MAJORITY, "a"),  # a vote more than asked for: more than half of all of them
        ("aabb", 3, Outcome.OPEN, ""),
    ]:
        resolution = resolve(list(labels), rule="1", overlap=overlap)
        assert (resolution.outcome, resolution.label) == (outcome, label)


def test_demanded_unanimity_opens_a_majority_and_keeps_a_unanimous_cell():
    assert resolve(list("aab"), rule="1", overlap=3, demand_unanimity=True).outcome is Outcome.OPEN
    assert resolve(list("aaa"), rule="1", overlap=3, demand_unanimity=True).outcome is Outcome.UNANIMOUS


def test_agreement_is_the_largest_share():
    # 2 of 3 votes on a: 2/3
    assert resolve(list("aab"), rule="1", overlap=3).agreement == pytest.approx(2 / 3)
    assert resolve([], rule="1", overlap=3).agreement is None


def test_an_overlap_outside_2_to_9_is_refused():
    for overlap in [1, 10, 0, -3]:
        with pytest.raises(ValueError, match="expected 2 to 9"):
            resolve(["a"], rule="1", overlap=overlap)


@given(st.lists(st.sampled_from("abc"), max_size=9), st.integers(2, 9), st.booleans(), st.randoms())
def test_the_order_of_votes_does_not_matter_and_a_label_has_more_than_half(labels, overlap, unanimity, random):
    resolution = resolve(labels, rule="1", overlap=overlap, demand_unanimity=unanimity)
    shuffled = labels[:]
    random.shuffle(shuffled)
    assert resolve(shuffled, rule="1", overlap=overlap, demand_unanimity=unanimity).outcome is resolution.outcome
    if resolution.label:
        assert len(labels) >= overlap
        assert Counter(labels)[resolution.label] * 2 > len(labels)
