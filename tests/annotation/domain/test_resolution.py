"""What votes come to, in which order they are shown, who is given what to label, and who is behind."""

from collections import Counter
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.assignment import PlanError, draw_split, plan
from annotation.domain.pace import pace_of
from annotation.domain.resolution import Outcome, plurality, resolve, shuffled


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
        assert (resolution.outcome, resolution.label) == (outcome, label), labels
    for labels, outcome in (("aab", Outcome.OPEN), ("aaa", Outcome.UNANIMOUS)):
        assert resolve(list(labels), rule="1", overlap=3, demand_unanimity=True).outcome is outcome
    # agreement is the largest share: 2 of 3 votes on a
    assert resolve(list("aab"), rule="1", overlap=3).agreement == pytest.approx(2 / 3)
    assert resolve([], rule="1", overlap=3).agreement is None
    for overlap in [1, 10, 0, -3]:
        with pytest.raises(ValueError, match="expected 2 to 9"):
            resolve(["a"], rule="1", overlap=overlap)


@given(st.lists(st.sampled_from("abc"), max_size=9), st.integers(2, 9), st.booleans(), st.randoms())
def test_the_order_of_votes_does_not_matter_and_a_label_has_more_than_half(labels, overlap, unanimity, random):
    resolution = resolve(labels, rule="1", overlap=overlap, demand_unanimity=unanimity)
    mixed = labels[:]
    random.shuffle(mixed)
    assert resolve(mixed, rule="1", overlap=overlap, demand_unanimity=unanimity).outcome is resolution.outcome
    if resolution.label:
        assert len(labels) >= overlap
        assert Counter(labels)[resolution.label] * 2 > len(labels)


def test_a_plurality_is_strict():
    for labels, leading in (("AABCD", "A"), ("AABBC", None), ("ABC", None), ("A", "A"), ("", None)):
        assert plurality(list(labels)) == leading, labels  # 2 of 5 leads without being a majority


def test_the_order_shown_depends_on_the_cell_and_the_labels_only():
    votes = ["Inference", "Testimony", "Memory"]
    turned = [[votes[at] for at in order] for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0))]
    orders = {tuple(shuffled(one, "abc:order")) for one in turned}
    assert len(orders) == 1 and sorted(orders.pop()) == sorted(votes)
    orders = {tuple(shuffled(["A", "B", "C"], f"cell-{at}")) for at in range(60)}
    assert len(orders) == 6  # all 3! orders turn up: no label is always first
    assert sorted(shuffled(["A", "A", "B"], "x")) == ["A", "A", "B"]


def test_a_plan_is_even_by_weight_counts_what_is_held_and_says_what_is_short():
    # 6 stories × 3 slots = 18 slots over 4 people: 5, 5, 4, 4
    made = plan(dict.fromkeys(range(6), 10), [1, 2, 3, 4], overlap=3, seed=7)
    assert sorted(Counter(person for _, person in made.assignments).values()) == [4, 4, 5, 5]
    assert not made.short
    # one story of 30 and three of 10: with an overlap of 2 and four people each carries 30 or less than 30 + 10
    made, load = plan({1: 30, 2: 10, 3: 10, 4: 10}, [1, 2, 3, 4], overlap=2, seed=1), Counter()
    for story, person in made.assignments:
        load[person] += {1: 30}.get(story, 10)
    assert sorted(load.values()) == [30, 30, 30, 30]
    [(_, person)] = plan({1: 5}, [1, 2, 3], overlap=3, seed=1, assigned={1: {2, 9}}).assignments
    assert person in {1, 3}
    made = plan({1: 5, 2: 5}, [1, 2], overlap=3, seed=1)
    assert made.short == {1: 1, 2: 1} and len(made.assignments) == 4
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


def test_a_split_depends_on_the_seed_and_not_on_any_order_or_another_category():
    stories = {"A": list(range(1, 11)), "B": list(range(11, 21))}
    drawn = draw_split(stories, per_category=3, seed=5)
    turned = {name: numbers[::-1] for name, numbers in reversed(stories.items())}
    assert draw_split(turned, per_category=3, seed=5) == drawn
    assert draw_split(stories, per_category=3, seed=6) != drawn
    assert [sum(number in numbers for number in drawn) for numbers in stories.values()] == [3, 3]
    alone = draw_split({"A": stories["A"]}, per_category=3, seed=5)
    assert [number for number in drawn if number <= 10] == alone
    with pytest.raises(ValueError, match="B has 10 stories; expected at least 11"):
        draw_split({"A": range(20), "B": stories["B"]}, per_category=11, seed=1)


def test_who_goes_on_as_before_and_is_late_is_behind():
    for done, today, behind, needed in [
        (40, 5, False, 10.0),  # 4 days, 10 a day; 6 days to the end of the 10th at 10 a day are 60
        (39, 5, True, 61 / 6),
        (0, 1, False, 10.0),  # the first day
        (100, 11, False, None),  # over, and done
        (99, 11, True, None),
    ]:
        given_on, now = (datetime(2030, 1, day, tzinfo=UTC) for day in (1, today))
        pace = pace_of(cells=100, done=done, given=given_on, due=date(2030, 1, 10), now=now)
        assert (pace.is_behind, pace.needed) == (behind, needed)
