"""Kinds of cells: those of one dimension on which the same people voted and decided the same and gold is the same are
alike to every figure about annotators.

A project of half a million votes has some thousand kinds, so that who agrees with whom costs no reading of votes: a
story is kept as how many of its cells are of which kind, and a project is the sum of its stories.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.domain.agreement.annotators import Settled
from annotation.domain.agreement.votes import Votes
from annotation.domain.schema import Dimension


class CellKind(NamedTuple):
    """Kind of a cell: all that figures read of it. People are known by their ids: `votes` and `decisions` are (person,
    label), ascending; `gold` is empty where the cell is open, and `decided` says whether an expert settled it."""

    dimension: str
    votes: tuple[tuple[int, str], ...]
    gold: str
    decided: bool
    decisions: tuple[tuple[int, str], ...]


def packed(kinds: Mapping[CellKind, int]) -> str:
    """Return the kinds of a story with how many of its cells are of each, a line a kind."""
    return "\n".join(f"{cells} {json.dumps(kind)}" for kind, cells in sorted(kinds.items()))


def lines(text: str) -> list[tuple[str, int]]:
    """Return each kind of a packed story as its text, which is the same in every story, and its number of cells."""
    parts = (line.partition(" ") for line in text.splitlines())
    return [(kind, int(cells)) for cells, _, kind in parts]


def unpacked(text: str) -> CellKind:
    dimension, votes, gold, decided, decisions = json.loads(text)
    return CellKind(dimension, tuple(map(tuple, votes)), gold, decided, tuple(map(tuple, decisions)))


def weighted(
    dimension: Dimension, kinds: Iterable[tuple[CellKind, int]], names: Mapping[int, str], voters: Collection[int]
) -> tuple[Votes, Settled]:
    """Return the votes of one dimension with a cell for each kind, as heavy as there are cells of it, and how these are
    settled. `names` are those of all people by id, `voters` those who vote; labels that the dimension lacks
    do not count."""
    codes = {label: at for at, label in enumerate(dimension.values)}
    people = {pk: at for at, pk in enumerate(sorted(voters))}
    mine = [(kind, cells) for kind, cells in kinds if kind.dimension == dimension.key]
    rows = [
        (at, people[person], codes[label])
        for at, (kind, _) in enumerate(mine)
        for person, label in kind.votes
        if label in codes
    ]
    cell, annotator, code = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    weight = np.array([cells for _, cells in mine], dtype=np.int64)
    no_story: NDArray[np.int64] = np.zeros(len(mine), dtype=np.int64)
    annotators = tuple(names[pk] for pk in people)
    votes = Votes(dimension.key, dimension.values, annotators, cell, annotator, code, no_story, weight)
    settled = Settled(
        np.array([codes.get(kind.gold, -1) for kind, _ in mine], dtype=np.int64),
        np.array([kind.decided for kind, _ in mine], dtype=bool),
        {
            at: {names[person]: label for person, label in kind.decisions}
            for at, (kind, _) in enumerate(mine)
            if kind.decisions
        },
    )
    return votes, settled
