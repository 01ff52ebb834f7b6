"""How two versions of gold differ: stories, labels, splits, the way labels were settled, votes and rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from benchmark.models import Dataset, DatasetSample

RULES = {"schema_version": "Label schema", "rule_version": "Rules that settle labels"}
Place = tuple[str, str, int]
"""(actor, belief, how many equal rows stand before it in its table)"""


@dataclass(slots=True)
class Cells:
    """Labels that people gave, cell by cell and person by person: how many are new, gone or other ones, and in which stories."""

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


@dataclass(slots=True)
class Difference:
    """What became of `old` in `new`. Stories are numbers; `labels` counts changed labels by dimension.

    `changed` has {number, rows_added, rows_removed, cells: [(actor, belief, dimension, before, after)]} of each story whose
    propositions or labels are others, `moved` (number, split before, split after), `rules` (what, before, after) and `settled`
    cells by (method before, method after).
    """

    added: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    retold: list[int] = field(default_factory=list)
    reordered: list[int] = field(default_factory=list)
    changed: list[dict[str, Any]] = field(default_factory=list)
    labels: Counter = field(default_factory=Counter)
    moved: list[tuple[int, str, str]] = field(default_factory=list)
    rules: list[tuple[str, str, str]] = field(default_factory=list)
    settled: Counter = field(default_factory=Counter)
    votes: Cells = field(default_factory=Cells)
    adjudications: Cells = field(default_factory=Cells)

    @property
    def nothing(self) -> bool:
        stories = (self.added, self.removed, self.retold, self.reordered, self.changed, self.moved)
        return not any((*stories, self.rules, self.settled, self.votes.counts, self.adjudications.counts))


def difference(old: Dataset, new: Dataset, closed: Set[int] = frozenset()) -> Difference:
    """Stories in `closed` are taken out of both before anything is compared or counted."""
    before, after = ({row.number: row for row in one.samples.all() if row.number not in closed} for one in (old, new))
    found = Difference(sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys()))
    pairs = ((told, getattr(old, name), getattr(new, name)) for name, told in RULES.items())
    found.rules = [one for one in pairs if one[1] != one[2]]
    for number in sorted(before.keys() & after.keys()):
        if before[number].digest != after[number].digest:
            _compare(found, before[number], after[number])
    return found


def _compare(found: Difference, one: DatasetSample, other: DatasetSample) -> None:
    number = one.number
    if (one.text, one.category) != (other.text, other.category):
        found.retold.append(number)
    if one.split != other.split:
        found.moved.append((number, one.split, other.split))
    changes = _changes(one, other, found.labels)
    if changes["cells"] or changes["rows_added"] or changes["rows_removed"]:
        found.changed.append(changes)
    elif one.beliefs != other.beliefs:
        found.reordered.append(number)
    methods = [_by_place(row, row.methods) for row in (one, other)]
    for place in methods[0].keys() & methods[1].keys():
        pairs = zip(methods[0][place], methods[1][place], strict=True)
        found.settled.update(pair for pair in pairs if pair[0] != pair[1])
    if one.votes != other.votes:
        found.votes.compare(number, *(_cells(row, row.votes) for row in (one, other)))
    if one.adjudications != other.adjudications:
        found.adjudications.compare(number, *(_cells(row, row.adjudications) for row in (one, other)))


def _changes(one: DatasetSample, other: DatasetSample, labels: Counter) -> dict[str, Any]:
    old, new = (_by_place(row, [belief["labels"] for belief in row.beliefs]) for row in (one, other))
    cells = []
    for place in old.keys() & new.keys():
        for key, before in old[place].items():
            after = new[place].get(key, "")
            if before != after:
                labels[key] += 1
                cells.append((place[0], place[1], key, before, after))
    return {
        "number": one.number,
        "rows_added": len(new.keys() - old.keys()),
        "rows_removed": len(old.keys() - new.keys()),
        "cells": sorted(cells),
    }


def _by_place(story: DatasetSample, values: list[Any]) -> dict[Place, Any]:
    """`values`, one a proposition, by the proposition."""
    seen: Counter = Counter()
    found = {}
    for belief, value in zip(story.beliefs, values, strict=True):
        place = (belief["actor"], belief["belief"])
        found[(*place, seen[place])] = value
        seen[place] += 1
    return found


def _cells(story: DatasetSample, people: Mapping[str, list[list[str]]]) -> dict[tuple, str]:
    return {
        (name, place, at): label
        for name, rows in people.items()
        for place, labels in _by_place(story, rows).items()
        for at, label in enumerate(labels)
        if label
    }
