from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.assignment import PlanError, plan


def test_six_equal_stories_for_four_people():
    # 6 stories × 3 slots = 18 slots over 4 people: 5, 5, 4, 4
    made = plan(dict.fromkeys(range(6), 10), [1, 2, 3, 4], overlap=3, seed=7)
    assert sorted(Counter(person for _, person in made.assignments).values()) == [4, 4, 5, 5]
    assert not made.short


def test_heavy_stories_are_balanced_by_weight():
    # one story of 30 and three of 10: with an overlap of 2 and four people each carries 30 or less than 30 + 10
    made = plan({1: 30, 2: 10, 3: 10, 4: 10}, [1, 2, 3, 4], overlap=2, seed=1)
    load = Counter()
    for story, person in made.assignments:
        load[person] += {1: 30}.get(story, 10)
    assert sorted(load.values()) == [30, 30, 30, 30]


def test_held_assignments_stay_and_count():
    made = plan({1: 5}, [1, 2, 3], overlap=3, seed=1, assigned={1: {2, 9}})
    assert len(made.assignments) == 1 and made.assignments[0][1] in {1, 3}


def test_too_few_people_leave_a_story_short():
    made = plan({1: 5, 2: 5}, [1, 2], overlap=3, seed=1)
    assert made.short == {1: 1, 2: 1} and len(made.assignments) == 4


def test_what_cannot_be_planned_is_refused():
    for overlap, people in [(1, [1]), (10, [1]), (3, [])]:
        with pytest.raises(PlanError):
            plan({1: 1}, people, overlap=overlap, seed=0)


@given(st.integers(1, 40), st.integers(2, 9), st.integers(0, 8), st.integers(0, 1000))
def test_every_story_gets_its_overlap_of_distinct_people_and_the_load_is_even(stories, overlap, spare, seed):
    people = list(range(overlap + spare))
    made = plan(dict.fromkeys(range(stories), 12), people, overlap=overlap, seed=seed)
    assert made == plan(dict.fromkeys(range(stories), 12), people[::-1], overlap=overlap, seed=seed)
    assert len(set(made.assignments)) == len(made.assignments) == stories * overlap
    assert set(Counter(story for story, _ in made.assignments).values()) == {overlap}
    load = Counter({person: 0 for person in people})
    load.update(person for _, person in made.assignments)
    assert max(load.values()) - min(load.values()) <= 1
