"""What is kept of a story's votes says the same as the votes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from annotation.domain.agreement.patterns import Patterns
from annotation.domain.agreement.tallies import Tallies
from annotation.domain.agreement.votes import Votes
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

pytestmark = pytest.mark.once


def _packed(rows) -> bytes:
    patterns = Patterns(DEFAULT_SCHEMA)
    for (proposition, dimension, label), votes in Counter(rows).items():
        patterns.add(proposition, dimension, label, votes)
    return patterns.packed()


def _drawn(seed: int, propositions: int) -> list[tuple[int, str, str]]:
    rng = np.random.default_rng(seed)
    return [
        (proposition, dimension.key, str(rng.choice(dimension.values[:3])))
        for proposition in range(propositions)
        for dimension in DEFAULT_SCHEMA.dimensions
        for _ in range(rng.integers(0, 4))
    ]


def test_tallies_of_what_is_kept_are_those_of_the_votes():
    votes = {story: _drawn(story, 6) for story in (4, 9)}
    tallies = Tallies(DEFAULT_SCHEMA, list(votes), [_packed(rows) for rows in votes.values()])
    for dimension, tally in zip(DEFAULT_SCHEMA.dimensions, tallies.dimensions(), strict=True):
        rows = [
            (story, 100 * story + proposition, f"annotator {at}", label)
            for story, drawn in votes.items()
            for at, (proposition, key, label) in enumerate(drawn)
            if key == dimension.key
        ]
        expected = Votes.of(dimension.key, dimension.values, rows).tally
        assert _as_counts(tally) == _as_counts(expected)
        assert tally.complete(3).count == sum(expected.cells[:, expected.patterns.sum(axis=1) >= 3].sum(axis=1))


def _as_counts(tally) -> dict:
    return {
        (story, tuple(pattern)): cells
        for story, of_story in zip(tally.story.tolist(), tally.cells.tolist(), strict=True)
        for pattern, cells in zip(tally.patterns.tolist(), of_story, strict=True)
        if cells
    }


def test_propositions_that_wait_for_votes_are_counted_by_their_fewest():
    keys = DEFAULT_SCHEMA.keys
    first = [(1, key, DEFAULT_SCHEMA[key].values[0]) for key in keys] * 2 + [(2, keys[0], "0")]
    second = [(3, key, DEFAULT_SCHEMA[key].values[0]) for key in keys] * 2
    tallies = Tallies(DEFAULT_SCHEMA, [1, 2, 3], [_packed(first), _packed(second), b""])
    assert (tallies.waiting(2).tolist(), tallies.waiting(3).tolist()) == ([1, 0, 0], [2, 1, 0])


def test_a_label_that_the_schema_lacks_does_not_count():
    assert _packed([(1, "order", "no such label"), (1, "no such dimension", "0")]) == b""
