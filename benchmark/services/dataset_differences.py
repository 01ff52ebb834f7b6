"""Differences of two versions of gold: stories, labels, splits, the way labels were settled, votes and rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from benchmark.models import Dataset, DatasetSample
from core.messages import gettext_noop

RULES = {"schema_version": gettext_noop("Label schema"), "rule_version": gettext_noop("Rules that settle labels")}
Place = tuple[str, str, int]
"""(actor, belief, how many equal rows stand before it in its table)"""


@dataclass(slots=True)
class Cells:
    """Labels that people gave, cell by cell and person by person: how many are new, gone or other ones, and in which
    stories."""

    counts: Counter = field(default_factory=Counter)
    stories: list[int] = field(default_factory=list)

    def compare(self, number: int, before: Mapping[tuple, str], after: Mapping[tuple, str]) -> None:
        """Labels by (user name, proposition, place of the dimension) of one story."""
        kinds = Counter(
            "new" if not before.get(cell) else "gone" if not after.get(cell) else "changed"
            for cell in before.keys() | after.keys()
            if before.get(cell, "") != after.get(cell, "")
        )
        self.counts += kinds
        self.stories += [number] if kinds else []


@dataclass(frozen=True, slots=True)
class Changed:
    """A story whose propositions or labels are others: how many rows came and went, and (actor, belief, dimension,
    before, after) of each cell."""

    number: int
    rows_added: int
    rows_removed: int
    cells: Sequence[tuple[str, str, str, str, str]]


@dataclass(slots=True)
class Difference:
    """The changes from `old` to `new`. Stories are numbers; `labels` counts changed labels by dimension.

    `moved` has (number, split before, split after), `rules` (what, before, after) and `settled` cells by (method
    before, method after).
    """

    added: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    retold: list[int] = field(default_factory=list)
    reordered: list[int] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    labels: Counter = field(default_factory=Counter)
    moved: list[tuple[int, str, str]] = field(default_factory=list)
    rules: list[tuple[str, str, str]] = field(default_factory=list)
    settled: Counter = field(default_factory=Counter)
    votes: Cells = field(default_factory=Cells)
    adjudications: Cells = field(default_factory=Cells)


def difference(old: Dataset, new: Dataset, closed: Set[int] = frozenset()) -> Difference:
    """Stories in `closed` are taken out of both before anything is compared or counted."""
    before, after = (
        {row.number: row for row in version.samples.all() if row.number not in closed} for version in (old, new)
    )
    difference = Difference(sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys()))
    pairs = ((rule, getattr(old, name), getattr(new, name)) for name, rule in RULES.items())
    difference.rules = [rule for rule in pairs if rule[1] != rule[2]]
    for number in sorted(before.keys() & after.keys()):
        if before[number].digest != after[number].digest:
            _compare(difference, before[number], after[number])
    return difference


def _compare(difference: Difference, old_story: DatasetSample, new_story: DatasetSample) -> None:
    number = old_story.number
    if (old_story.text, old_story.category) != (new_story.text, new_story.category):
        difference.retold.append(number)
    if old_story.split != new_story.split:
        difference.moved.append((number, old_story.split, new_story.split))
    changes = _changes(old_story, new_story, difference.labels)
    if changes.cells or changes.rows_added or changes.rows_removed:
        difference.changed.append(changes)
    elif old_story.beliefs != new_story.beliefs:
        difference.reordered.append(number)
    methods = [_by_place(row, row.methods) for row in (old_story, new_story)]
    for proposition in methods[0].keys() & methods[1].keys():
        pairs = zip(methods[0][proposition], methods[1][proposition], strict=True)
        difference.settled.update(pair for pair in pairs if pair[0] != pair[1])
    if old_story.votes != new_story.votes:
        difference.votes.compare(number, *(_cells(row, row.votes) for row in (old_story, new_story)))
    if old_story.adjudications != new_story.adjudications:
        difference.adjudications.compare(number, *(_cells(row, row.adjudications) for row in (old_story, new_story)))


def _changes(old_story: DatasetSample, new_story: DatasetSample, labels: Counter) -> Changed:
    old, new = (_by_place(row, [belief["labels"] for belief in row.beliefs]) for row in (old_story, new_story))
    cells = []
    for proposition in old.keys() & new.keys():
        for key, before in old[proposition].items():
            after = new[proposition].get(key, "")
            if before != after:
                labels[key] += 1
                cells.append((proposition[0], proposition[1], key, before, after))
    return Changed(old_story.number, len(new.keys() - old.keys()), len(old.keys() - new.keys()), sorted(cells))


def _by_place(story: DatasetSample, values: list[Any]) -> dict[Place, Any]:
    """`values`, one a proposition, by the proposition."""
    seen: Counter = Counter()
    by_proposition = {}
    for belief, value in zip(story.beliefs, values, strict=True):
        proposition = (belief["actor"], belief["belief"])
        by_proposition[(*proposition, seen[proposition])] = value
        seen[proposition] += 1
    return by_proposition


def _cells(story: DatasetSample, people: Mapping[str, list[list[str]]]) -> dict[tuple, str]:
    return {
        (name, proposition, at): label
        for name, rows in people.items()
        for proposition, labels in _by_place(story, rows).items()
        for at, label in enumerate(labels)
        if label
    }
