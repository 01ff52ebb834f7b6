from __future__ import annotations

from collections import Counter

import pytest

from benchmark.suites.tombench.data import TRIES, options_of, seeded_order, show
from benchmark.suites.tombench.metrics import VotedItem, repaired_accuracies
from benchmark.suites.tombench.parsing import parse_repaired
from benchmark.suites.tombench.steps import first_option, majority_letter, random_option


def body(letters="ABCD", originals="ABCD", counts=None, *, key="task:1", seed=1, attempt=0):
    """What a baseline is asked: the letters shown, the original letter of each, and how often each original is
    right."""
    task = {"key": key, "letters": [*letters], "originals": [*originals], "counts": counts or {}}
    return {"task": task, "seed": seed, "sample": attempt}


def test_the_majority_letter_is_found_wherever_it_is_shown():
    counts = {"A": 1, "C": 2}
    assert majority_letter(body(counts=counts)) == "[[C]]"
    assert majority_letter(body(originals="CABD", counts=counts)) == "[[A]]"


def test_an_item_without_the_majority_letter_gets_the_next_one_that_it_has():
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
    # chance is (2376 / 4 + 484 / 2) / 2860 = 0.292; its standard deviation is about 0.0085
    for answer in (first_option, random_option):
        assert accuracy(items, answer, seed=3).value == pytest.approx((2376 / 4 + 484 / 2) / 2860, abs=0.03)
