"""Votes and accuracies by hand, and what baselines come to on the data."""

from collections import Counter
from statistics import fmean

import pytest

from benchmark.suites.tombench.data import TRIES, options_of, seeded_order, show
from benchmark.suites.tombench.metrics import (
    Accuracy,
    VotedItem,
    is_correct,
    is_correct_officially,
    majority,
    official_accuracies,
    repaired_accuracies,
)
from benchmark.suites.tombench.parsing import parse_repaired
from benchmark.suites.tombench.steps import first_option, majority_letter, random_option


def item(votes, gold="A", task="Hinting Task Test", ability="Intention: Intentions explanations"):
    return VotedItem(task, ability, gold, tuple(votes))


def test_the_earliest_vote_wins_a_tie_and_is_held_against_the_answer_cell():
    assert [majority(votes) for votes in ("BAABC", ["", "A", "", "A", "B"], [])] == ["B", "", None]
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


def test_overall_pools_items_and_nothing_right_is_zero():
    for accuracies in (official_accuracies, repaired_accuracies):
        found = accuracies([item("BBBBB"), item("BBBBB", task="Multiple Desires", ability="Desire: Multiple desires")])
        assert {name: one.value for name, one in found.tasks.items()} == {"Hinting Task Test": 0, "Multiple Desires": 0}
        assert {one.value for one in found.abilities.values()} == {0.0}
    # First: 1 of 3, Second: 1 of 1; pooled 2/4, where a mean of tasks would be (1/3 + 1) / 2
    votes = [item("A", task="First"), item("B", task="First"), item("B", task="First"), item("A", task="Second")]
    assert official_accuracies(votes).overall.value == 2 / 4
    items = [item("A", ability="Desire"), item("B", ability="Desire ")]
    assert list(official_accuracies(items).abilities) == ["Desire", "Desire "], "a space makes another one officially"
    assert repaired_accuracies(items).abilities == {"Desire": Accuracy(2, 1, 0)}


def body(letters="ABCD", originals="ABCD", counts=None, *, key="task:1", seed=1, attempt=0):
    """What a baseline is asked: the letters shown, the original letter of each, and how often each original is
    right."""
    task = {"key": key, "letters": [*letters], "originals": [*originals], "counts": counts or {}}
    return {"task": task, "seed": seed, "sample": attempt}


def test_the_majority_letter_is_found_wherever_it_is_shown_or_the_next_one():
    counts = {"A": 1, "C": 2}
    assert majority_letter(body(counts=counts)) == "[[C]]"
    assert majority_letter(body(originals="CABD", counts=counts)) == "[[A]]"
    assert majority_letter(body("AB", "BA", {"B": 1, "C": 2})) == "[[A]]"


def test_a_random_option_depends_on_seed_item_and_try_alone():
    def drawn(seed):
        keys = [(f"task:{line}", attempt) for line in range(40) for attempt in range(5)]
        return [random_option(body(key=key, seed=seed, attempt=attempt)) for key, attempt in keys]

    assert drawn(1) == drawn(1) != drawn(2)
    # 200 draws of four letters: 50 of each expected, standard deviation sqrt(200 * 1/4 * 3/4) = 6.1
    assert all(25 < count < 75 for count in Counter(drawn(1)).values()) and len(Counter(drawn(1))) == 4
    assert {random_option(body("AB", "AB", key=f"task:{line}")) for line in range(40)} == {"[[A]]", "[[B]]"}


def accuracy(items, answer, seed=1):
    counts = Counter(item.gold["answer"] for item in items)
    voted = []
    for item in items:
        votes = []
        for attempt in range(TRIES):
            options = options_of(item)
            shown = show(options, seeded_order(1, item.key, attempt, len(options)))
            asked = body(shown.letters, shown.originals, counts, key=item.key, seed=seed, attempt=attempt)
            votes.append(parse_repaired(answer(asked), shown))
        voted.append(VotedItem(item.category, item.gold["ability"], item.gold["cell"], tuple(votes)))
    return repaired_accuracies(voted).overall


def test_baselines_of_the_data(tombench):
    items = [item for item in tombench.samples if item.split == "en"]
    # the majority letter is B, which 967 of 2,860 cells hold
    majority = accuracy(items, majority_letter)
    assert (majority.items, majority.correct, majority.unparsed) == (2860, 967, 0)
    # chance of a third of them; its standard deviation is about sqrt(0.29 * 0.71 / 954) = 0.015
    some = items[::3]
    for answer in (first_option, random_option):
        chance = fmean(1 / len(options_of(item)) for item in some)
        assert accuracy(some, answer, seed=3).value == pytest.approx(chance, abs=0.05)
