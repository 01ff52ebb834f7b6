from __future__ import annotations

import pytest

from annotation.domain.splits import draw_split

STORIES = {"A": list(range(1, 11)), "B": list(range(11, 21))}


def test_the_draw_depends_on_the_seed_and_not_on_any_order():
    drawn = draw_split(STORIES, per_category=3, seed=5)
    turned = {name: numbers[::-1] for name, numbers in reversed(STORIES.items())}
    assert draw_split(turned, per_category=3, seed=5) == drawn
    assert draw_split(STORIES, per_category=3, seed=6) != drawn
    assert [sum(number in numbers for number in drawn) for numbers in STORIES.values()] == [3, 3]


def test_another_category_leaves_the_draw_of_the_first_alone():
    alone = draw_split({"A": STORIES["A"]}, per_category=3, seed=5)
    assert [number for number in draw_split(STORIES, per_category=3, seed=5) if number <= 10] == alone


def test_a_category_that_is_too_small_is_named():
    with pytest.raises(ValueError, match="B has 10 stories; expected at least 11"):
        draw_split({"A": range(20), "B": STORIES["B"]}, per_category=11, seed=1)
