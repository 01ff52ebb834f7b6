from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites.tombench.data import official_orders, seeded_order, show

SEEDS = st.integers(0, 2**31 - 1)


@given(SEEDS, st.text(), st.integers(0, 9), st.sampled_from([2, 4]))
def test_an_order_is_a_permutation_that_depends_on_its_arguments_alone(seed, key, attempt, count):
    order = seeded_order(seed, key, attempt, count)
    assert sorted(order) == list(range(count))
    assert order == seeded_order(seed, key, attempt, count)


def test_a_known_order_stays_as_it_is():
    orders = [seeded_order(7, "false-belief-task:12:en", attempt, 4) for attempt in range(3)]
    assert orders == [(2, 1, 0, 3), (3, 1, 2, 0), (0, 3, 2, 1)]


def test_all_orders_occur_about_equally_often():
    # 2,400 draws of 24 orders: 100 of each expected, standard deviation sqrt(2400 * 1/24 * 23/24) = 9.8
    drawn = [seeded_order(1, f"item {at}", attempt, 4) for at in range(480) for attempt in range(5)]
    counts = [drawn.count(order) for order in permutations(range(4))]
    assert all(60 < count < 140 for count in counts)


def test_seed_item_and_try_each_change_the_order():
    keys = [f"item {at}" for at in range(40)]
    first = [seeded_order(1, key, 0, 4) for key in keys]
    assert first != [seeded_order(2, key, 0, 4) for key in keys]
    assert first != [seeded_order(1, key, 1, 4) for key in keys]
    assert len(set(first)) > 10


@given(st.lists(st.sampled_from([2, 4]), max_size=8), st.lists(st.sampled_from([2, 4]), max_size=3))
def test_official_orders_depend_on_the_items_before_alone(counts, more):
    assert official_orders(counts + more)[: len(counts)] == official_orders(counts)
    assert [len(tries) for tries in official_orders(counts)] == [5] * len(counts)


@given(st.permutations(range(4)))
def test_every_letter_leads_back_to_the_option_shown(order):
    options = ("w", "x", "y", "z")
    shown = show(options, tuple(order))
    for letter, text in zip(shown.letters, shown.texts, strict=True):
        assert options["ABCD".index(shown.original_of[letter])] == text


@pytest.mark.parametrize("order", [(0,), (0, 0), (0, 1, 2), (1, 2)])
def test_an_order_of_other_options_is_refused(order):
    with pytest.raises(ValueError, match="does not fit 2 options"):
        show(("Yes", "No"), order)
