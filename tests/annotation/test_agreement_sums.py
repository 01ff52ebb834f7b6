"""Agreement that is kept up to date by story sums is that of all votes counted anew, to the last digit."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from annotation.domain.agreement import intervals
from annotation.domain.agreement.patterns import Patterns
from annotation.domain.agreement.report import measure_sums
from annotation.domain.agreement.story_sums import Resamples
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.services import agreement_sums
from annotation.services.agreement_sums import ProjectSums, project_sums

pytestmark = pytest.mark.once
STORIES = tuple(range(10, 70))


class World:
    """Votes on some stories, of which one after another changes: most cells have three, some fewer or more."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.cells = {
            (story, at, dimension.key): self.votes(dimension.values)
            for story in STORIES
            for at in range(4)
            for dimension in DEFAULT_SCHEMA.dimensions
        }

    def votes(self, labels) -> list[str]:
        number = self.random.choice([3] * 12 + [0, 1, 2, 4, 7])
        return self.random.choices(labels[:3], weights=[8, 2, 1][: len(labels[:3])], k=number)

    def change(self) -> None:
        story = self.random.choice(STORIES)
        for cell in self.random.sample([cell for cell in self.cells if cell[0] == story], self.random.randint(1, 6)):
            self.cells[cell] = self.votes(DEFAULT_SCHEMA[cell[2]].values)

    def empty(self, dimension: str) -> None:
        story = self.random.choice(STORIES)
        self.cells |= {cell: [] for cell in self.cells if cell[0] == story and cell[2] == dimension}

    def packed(self) -> list[bytes]:
        patterns = {story: Patterns(DEFAULT_SCHEMA) for story in STORIES}
        for (story, at, key), labels in self.cells.items():
            for label, votes in Counter(labels).items():
                patterns[story].add(at, key, label, votes)
        return [one.packed() for one in patterns.values()]


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(agreement_sums, "_last", agreement_sums.OrderedDict())


@pytest.fixture
def moves(monkeypatch) -> Counter:
    """How often resampled sums were moved, and how often they were summed anew."""
    counted: Counter = Counter()
    for name in ("moved_sums", "replicated_sums"):
        monkeypatch.setattr(intervals, name, _counting(counted, name, getattr(intervals, name)))
    return counted


def _counting(counted: Counter, name: str, of):
    def call(*arguments, **named):
        counted[name] += 1
        return of(*arguments, **named)

    return call


def _figures(kept: ProjectSums, resamples: Resamples):
    return measure_sums(kept.sums, seed=3, resamples=resamples)


@pytest.mark.parametrize("seed", [4, 11])
def test_figures_after_any_sequence_of_changes_are_those_of_a_full_recount(moves, seed):
    world = World(seed)
    for step in range(40):
        if step in (12, 30):  # a story whose votes on one dimension are all withdrawn: other clusters there
            world.empty("order")
        world.change()
        packed = world.packed()
        kept = project_sums("project", DEFAULT_SCHEMA, 3, list(STORIES), packed)
        figures, before = _figures(kept, kept.resamples), moves["moved_sums"]
        anew = ProjectSums.of(DEFAULT_SCHEMA, 3, list(STORIES), packed)
        assert figures == _figures(anew, Resamples())
        assert kept.waiting.tolist() == anew.waiting.tolist()
        assert moves["moved_sums"] == before  # the recount moved nothing
    assert moves["moved_sums"] > 36


def test_other_stories_another_overlap_and_many_changes_are_summed_anew(moves):
    world = World(7)
    packed = world.packed()
    for stories, overlap in ((STORIES, 3), (STORIES, 2), (STORIES[1:], 2)):
        kept = project_sums("project", DEFAULT_SCHEMA, overlap, list(stories), packed[-len(stories) :])
        anew = ProjectSums.of(DEFAULT_SCHEMA, overlap, list(stories), packed[-len(stories) :])
        assert _figures(kept, kept.resamples) == _figures(anew, Resamples())
    other = World(8).packed()
    kept = project_sums("project", DEFAULT_SCHEMA, 2, list(STORIES[1:]), other[1:])
    anew = ProjectSums.of(DEFAULT_SCHEMA, 2, list(STORIES[1:]), other[1:])
    assert _figures(kept, kept.resamples) == _figures(anew, Resamples())
    assert not moves["moved_sums"]


def test_cells_of_so_many_votes_that_their_shares_are_no_whole_numbers_are_summed_anew(moves):
    world = World(9)
    world.cells[STORIES[0], 0, "order"] = ["0"] * 12 + ["1"] * 11
    project_sums("project", DEFAULT_SCHEMA, 3, list(STORIES), world.packed())
    for _ in range(3):
        world.change()
        kept = project_sums("project", DEFAULT_SCHEMA, 3, list(STORIES), world.packed())
        anew = ProjectSums.of(DEFAULT_SCHEMA, 3, list(STORIES), world.packed())
        assert _figures(kept, kept.resamples) == _figures(anew, Resamples())
    assert not moves["moved_sums"]
