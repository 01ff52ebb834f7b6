"""Test of whether a model may stand in for an annotator: the alternative annotator test, and the same over stories."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.domain.anchoring import (
    AlternativeAnnotator,
    alternative_annotator_over_stories,
    alternative_annotator_test,
)
from benchmark.domain.gold_kinds.cells import Cells, Ints
from core.statistics import Estimate

EPSILON = 0.15
"""The paper's allowance for skilled annotators: what a model may lose and still be worth its price."""
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class StandingIn:
    """The test as `published` takes cells as independent; the others are those of `OverStories`, whose verdict counts:
    `over_stories` is the winning rate over stories, None with a `reason`."""

    published: AlternativeAnnotator
    advantage: Estimate
    over_stories: float | None
    passes: bool | None
    reason: str | None


def standing_in(cells: Cells, votes: Ints, model: Ints, *, seed: int) -> StandingIn:
    """Test whether a model, shape (C,), represents the annotators as well as each of them does, on these votes, blind
    ones or those that may be, shape (C, annotators)."""
    published = alternative_annotator_test(votes, model, epsilon=EPSILON, q=LEVEL)
    outcome = alternative_annotator_over_stories(published, votes, model, cells.story, seed=seed)
    return StandingIn(published, outcome.advantage, outcome.winning_rate, outcome.passes, outcome.reason)
