"""Dawid–Skene and MACE: the figures of another implementation, and a known truth."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.domain.agreement.aggregation import dawid_skene, mace
from tests.annotation.domain.crowd_kit import LABELS, SKILLS, simulated_votes

# printed by tests/annotation/domain/crowd_kit.py with crowd-kit 1.4.2
DIAGONALS = (
    (0.9788, 0.9367, 0.932, 0.7669),
    (0.9213, 0.9698, 1.0, 0.9439),
    (0.9473, 0.8664, 0.95, 0.7246),
    (0.7573, 0.6289, 0.8496, 0.5289),
    (0.4607, 0.4774, 0.4158, 0.5967),
)
CELL_7 = (0.0001, 0.9987, 0.0, 0.0012)
EARNEST = (0.8782, 0.9452, 0.8788, 0.6161, 0.2979)


def test_dawid_skene_gives_the_figures_of_crowd_kit():
    votes, truth = simulated_votes()
    labels, confusion = dawid_skene(*votes, LABELS)
    assert np.diagonal(confusion, axis1=1, axis2=2) == pytest.approx(np.array(DIAGONALS), abs=2e-4)
    assert labels[7] == pytest.approx(CELL_7, abs=2e-4)
    assert confusion.sum(axis=2) == pytest.approx(np.ones((len(SKILLS), LABELS)))
    counts = np.zeros((300, LABELS))
    np.add.at(counts, (votes[0], votes[2]), 1)
    majority = (counts.argmax(axis=1) == truth).mean()
    assert (labels.argmax(axis=1) == truth).mean() > majority  # whom to trust is learnt without gold


def test_mace_gives_the_figures_of_crowd_kit():
    votes, _ = simulated_votes()
    assert mace(*votes, LABELS) == pytest.approx(np.array(EARNEST), abs=2e-4)


def test_neither_depends_on_the_order_of_rows():
    votes, _ = simulated_votes()
    shuffled = votes[:, np.random.default_rng(3).permutation(votes.shape[1])]
    assert mace(*shuffled, LABELS) == pytest.approx(mace(*votes, LABELS))
    for one, other in zip(dawid_skene(*shuffled, LABELS), dawid_skene(*votes, LABELS), strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def test_one_label_two_people_one_cell():
    votes = np.array([[0, 0], [0, 1], [0, 0]])
    labels, confusion = dawid_skene(*votes, 1)
    assert (labels.tolist(), confusion.tolist()) == ([[1]], [[[1]], [[1]]])
    assert np.isfinite(mace(*votes, 1)).all()
