from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites.tombench.data import seeded_order, show

SEEDS = st.integers(0, 2**31 - 1)


@given(SEEDS, st.text(), st.integers(0, 9), st.sampled_from([2, 4]))
def test_an_order_is_a_permutation_that_depends_on_its_arguments_alone(seed, key, attempt, count):
    order = seeded_order(seed, key, attempt, count)
    assert sorted(order) == list(range(count))
    assert order == seeded_order(seed, key, attempt, count)


def test_seed_item_and_try_each_change_the_order():
    keys = [f"item {at}" for at in range(40)]
    first = [seeded_order(1, key, 0, 4) for key in keys]
    assert first != [seeded_order(2, key, 0, 4) for key in keys]
    assert first != [seeded_order(1, key, 1, 4) for key in keys]
    assert len(set(first)) > 10


@given(st.permutations(range(4)))
def test_every_letter_leads_back_to_the_option_shown(order):
    options = ("w", "x", "y", "z")
    shown = show(options, tuple(order))
    for letter, text in zip(shown.letters, shown.texts, strict=True):
        assert options["ABCD".index(shown.original_of[letter])] == text


def test_an_order_of_other_options_is_refused():
    for order in [(0,), (0, 0), (0, 1, 2), (1, 2)]:
        with pytest.raises(ValueError, match="does not fit 2 options"):
            show(("Yes", "No"), order)
