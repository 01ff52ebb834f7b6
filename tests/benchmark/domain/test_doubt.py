"""Doubtful gold: planted errors come first, and who is heard."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.domain.doubtful_gold import Doubt, agreement_elsewhere, doubts, usual_label
from benchmark.domain.gold_kinds import NOTHING, UNLABELLED, Cells

pytestmark = pytest.mark.once
STORIES, CELLS, LABELS = 12, 20, 4


def cells_of(gold, *, stories: int) -> Cells:
    size = len(gold)
    nobody = np.full((size, 0), NOTHING)
    return Cells(
        story=np.repeat(np.arange(stories), size // stories), row=np.arange(size),
        dimension=np.zeros(size, dtype=np.int64), gold=gold, method=np.full(size, "majority"),
        suggested=np.full(size, NOTHING), votes=nobody, blind_votes=nobody, unknown_votes=nobody,
        stories=tuple(range(stories)), dimensions=("truth",), annotators=(),
    )  # fmt: skip


def world(skills, *, seed: int = 5):
    """True labels, and what a model of each skill said of them: errors are independent."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, LABELS, STORIES * CELLS)
    said = {}
    for name, skill in skills.items():
        wrong = (truth + rng.integers(1, LABELS, len(truth))) % LABELS
        said[name] = np.where(rng.random(len(truth)) < skill, truth, wrong)[None]
    return truth, said


def test_planted_errors_of_gold_come_first():
    truth, said = world({"a": 0.9, "b": 0.85, "c": 0.8, "d": 0.75, "poor": 0.3})
    planted = [3, 50, 111, 200]
    gold = truth.copy()
    gold[planted] = (gold[planted] + 1) % LABELS
    for name in "abcd":
        said[name][0, planted] = truth[planted]
    found = doubts(cells_of(gold, stories=STORIES), said, {name: name for name in said})
    first = found.listed[: len(planted)]
    assert {doubt.cell for doubt in first} == set(planted)
    assert all((doubt.label, doubt.against, doubt.heard) == (truth[doubt.cell], tuple("abcd"), 4) for doubt in first)
    assert all(doubt.credible < 0.01 for doubt in first)
    assert (found.families, found.needed) == ((4,), (3,))  # "poor" is heard nowhere
    # Where gold has no error, chance brings hardly any three models together.
    assert len(doubts(cells_of(truth, stories=STORIES), said, {name: name for name in said}).listed) <= 3


def test_a_family_is_heard_once_and_a_baseline_never():
    truth, said = world({"a": 0.9, "b": 0.9, "c": 0.9, "majority": 0.9})
    gold = truth.copy()
    gold[7] = (gold[7] + 1) % LABELS
    for name in said:
        said[name][0, 7] = truth[7]
    cells = cells_of(gold, stories=STORIES)
    own = doubts(cells, said, {"a": "a", "b": "b", "c": "c"})
    assert own.listed[0].cell == 7 and (own.families, own.listed[0].heard) == ((3,), 3)
    kin = doubts(cells, said, {"a": "x", "b": "x", "c": "y"})
    assert (kin.families, kin.needed, kin.listed[0].heard) == ((2,), (2,), 2)
    alone = doubts(cells, said, {"a": "x", "b": "x", "c": "x"})
    assert (alone.listed, alone.families, alone.needed) == ((), (1,), (0,))
    assert doubts(cells, said, {}).listed == ()


def test_agreement_is_that_on_other_stories():
    cells = cells_of(np.array([0, 1, 2, 3, 0, 1]), stories=3)
    said = np.array([[0, 1, 2, 0, NOTHING, NOTHING]])
    assert list(agreement_elsewhere(cells, said)) == [0.5, 0.5, 1, 1, 0.75, 0.75]
    one = cells_of(np.array([0, 1]), stories=1)
    assert np.isnan(agreement_elsewhere(one, np.array([[0, 1]]))).all()
    assert doubts(one, {n: np.array([[1, 1]]) for n in "abc"}, {n: n for n in "abc"}).listed == ()


def test_of_repetitions_the_usual_label_counts():
    said = np.array(
        [[2, 0, UNLABELLED, NOTHING, UNLABELLED], [1, 1, UNLABELLED, NOTHING, 3], [1, NOTHING, 4, NOTHING, 0]]
    )
    assert list(usual_label(said)) == [1, 0, 4, NOTHING, 3]


def test_most_of_those_heard_must_agree():
    """Gold is 0 everywhere; a, b and c say 1 of the last cell, d and e say 0 and f 2."""
    gold = np.zeros(30, dtype=np.int64)
    said = {name: gold[None].copy() for name in "abcdef"}
    for name, label in {"a": 1, "b": 1, "c": 1, "f": 2}.items():
        said[name][0, -1] = label
    cells = cells_of(gold, stories=3)
    assert doubts(cells, said, {name: name for name in said}).listed == ()
    [doubt] = doubts(cells, said, {name: name for name in "abcde"}).listed
    assert doubt == Doubt(29, 1, ("a", "b", "c"), 5, doubt.credible)
