from __future__ import annotations

from hypothesis import strategies as st

from benchmark.suites.tombench.metrics import (
    Accuracy,
    VotedItem,
    is_correct,
    is_correct_officially,
    majority,
    official_accuracies,
    repaired_accuracies,
)

VOTES = st.lists(st.sampled_from([*"ABCD", "", None]), min_size=1, max_size=7)


def item(votes, gold="A", task="Hinting Task Test", ability="Intention: Intentions explanations"):
    return VotedItem(task, ability, gold, tuple(votes))


def test_the_earliest_vote_wins_a_tie():
    assert majority("BAABC") == "B"
    assert majority(["", "A", "", "A", "B"]) == ""
    assert majority([]) is None


def test_the_answer_cell():
    for cell, officially in [("A", True), ("A. ", False), ("B", False)]:
        assert is_correct_officially(item("AAAAA", cell)) is officially
        assert is_correct(item("AAAAA", cell)) is (cell[0] == "A")


def test_an_item_without_a_vote_is_left_out_and_counted():
    # three items: one right, one wrong, one unparsed: 1/2 of those with a vote, from 1/3 to 2/3 of all
    found = repaired_accuracies([item("AAABB"), item("BBBAA"), item([None] * 5)])
    assert found.overall == Accuracy(items=3, correct=1, unparsed=1)
    assert found.overall.value == 1 / 2 and found.overall.bounds == (1 / 3, 2 / 3)
    assert repaired_accuracies([item([None] * 5)]).overall.value is None
    assert repaired_accuracies([item(["E", "E", None])]).overall.value == 0.0


def test_nothing_right_is_zero_and_not_missing():
    for accuracies in (official_accuracies, repaired_accuracies):
        found = accuracies([item("BBBBB"), item("BBBBB", task="Multiple Desires", ability="Desire: Multiple desires")])
        assert {name: one.value for name, one in found.tasks.items()} == {"Hinting Task Test": 0, "Multiple Desires": 0}
        assert {one.value for one in found.abilities.values()} == {0.0}


def test_overall_pools_items():
    # First: 1 of 3, Second: 1 of 1; pooled 2/4, where a mean of tasks would be (1/3 + 1) / 2
    votes = [item("A", task="First"), item("B", task="First"), item("B", task="First"), item("A", task="Second")]
    found = official_accuracies(votes)
    assert found.overall.value == 2 / 4


def test_an_ability_with_a_space_behind_it_is_another_one_officially():
    items = [item("A", ability="Desire"), item("B", ability="Desire ")]
    assert list(official_accuracies(items).abilities) == ["Desire", "Desire "]
    assert repaired_accuracies(items).abilities == {"Desire": Accuracy(2, 1, 0)}
