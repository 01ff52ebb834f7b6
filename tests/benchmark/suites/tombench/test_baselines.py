from __future__ import annotations

from collections import Counter

import pytest

from benchmark.suites.tombench.baselines import first_option, majority_letter, random_option
from benchmark.suites.tombench.data import Item
from benchmark.suites.tombench.metrics import VotedItem, repaired_accuracies
from benchmark.suites.tombench.parsing import parse_repaired
from benchmark.suites.tombench.shuffling import TRIES, seeded_order, show

FOUR, TWO = ("Tote bag", "Handbag", "Briefcase", "Backpack"), ("Yes", "No")


def item_of(answer="B", options=FOUR, line=1):
    return Item(f"task:{line}:en", f"task:{line}", "Task", "Belief", "en", line, "Story.", "Where?", options, answer)


def test_the_first_option_is_whatever_is_shown_first():
    assert first_option(item_of(), 0, show(FOUR, (2, 0, 1, 3))) == "[[A]]"


def test_the_majority_letter_is_found_wherever_it_is_shown():
    answer = majority_letter([item_of("C"), item_of("C"), item_of("A")])
    assert answer(item_of(), 0, show(FOUR, (0, 1, 2, 3))) == "[[C]]"
    assert answer(item_of(), 1, show(FOUR, (2, 0, 1, 3))) == "[[A]]"


def test_an_item_without_the_majority_letter_gets_the_next_one_that_it_has():
    answer = majority_letter([item_of("C"), item_of("C"), item_of("B")])
    assert answer(item_of(options=TWO), 0, show(TWO, (1, 0))) == "[[A]]"


def test_of_equally_frequent_letters_the_first_counts():
    answer = majority_letter([item_of("D"), item_of("B")])
    assert answer(item_of(), 0, show(FOUR, (3, 1, 0, 2))) == "[[B]]"


def test_a_random_option_depends_on_seed_item_and_try_alone():
    shown = show(FOUR, (0, 1, 2, 3))

    def drawn(seed):
        return [random_option(seed)(item_of(line=line), attempt, shown) for line in range(40) for attempt in range(5)]

    assert drawn(1) == drawn(1) != drawn(2)
    # 200 draws of four letters: 50 of each expected, standard deviation sqrt(200 * 1/4 * 3/4) = 6.1
    assert all(25 < count < 75 for count in Counter(drawn(1)).values()) and len(Counter(drawn(1))) == 4
    assert {random_option(1)(item_of(line=line), 0, show(TWO, (0, 1))) for line in range(40)} == {"[[A]]", "[[B]]"}


def accuracy(items, answer):
    voted = []
    for item in items:
        votes = []
        for attempt in range(TRIES):
            shown = show(item.cleaned_options, seeded_order(1, item.key, attempt, len(item.options)))
            votes.append(parse_repaired(answer(item, attempt, shown), shown))
        voted.append(VotedItem(item.task, item.ability, item.answer, tuple(votes)))
    return repaired_accuracies(voted).overall


def test_baselines_of_the_data(tombench):
    items = [item for item in tombench.items if item.language == "en"]
    # the majority letter is B, which 967 of 2,860 cells hold
    majority = accuracy(items, majority_letter(items))
    assert (majority.items, majority.correct, majority.unparsed) == (2860, 967, 0)
    # chance is (2376 / 4 + 484 / 2) / 2860 = 0.292; its standard deviation is about 0.0085
    for answer in (first_option, random_option(3)):
        assert accuracy(items, answer).value == pytest.approx((2376 / 4 + 484 / 2) / 2860, abs=0.03)
