"""Proposals of rows of two tables that say the same: equal ones, and near ones of one actor."""

from collections import defaultdict
from typing import Any

import numpy as np

from judge.domain.alignment import Table
from judge.domain.lexical import contradict
from judge.domain.text import normalise_space

NEAR = 0.5
"""The similarity, 0 to 1, from which two beliefs of one actor are proposed as saying the same."""
_ROUNDS = 4
"""The number of times that the pairing is made again without the pairs that contradict each other."""


def plain(text: str) -> str:
    return normalise_space(text).casefold().rstrip(".").strip("\"'“”")


def actor_key(actor: str) -> str:
    """Return what actors are compared by."""
    return plain(actor).removeprefix("the ")


def propose(predictions: Table, gold: Table) -> list[tuple[int, int, bool]]:
    """Return one-to-one proposals (place of the prediction, place of the gold row, exact), by prediction.

    Exact ones go first: rows that are equal but for case, spaces, an article before the actor and a final full stop.
    The others are paired within an actor so that all similarities together are the greatest, none below NEAR and none
    of rows that contradict each other."""
    keys = [[(actor_key(actor), plain(belief)) for actor, belief, *_ in table] for table in (predictions, gold)]
    free: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, row in enumerate(keys[1]):
        free[row].append(at)
    pairs = {at: free[row].pop(0) for at, row in enumerate(keys[0]) if free.get(row)}
    groups: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    taken = set(pairs), set(pairs.values())
    for side, rows in enumerate(keys):
        for at, (actor, _) in enumerate(rows):
            if at not in taken[side]:
                groups[actor][side].append(at)
    near = {
        left[i]: right[j]
        for left, right in groups.values()
        if left and right
        for i, j in _near([keys[0][at][1] for at in left], [keys[1][at][1] for at in right])
    }
    exact = [(at, other, True) for at, other in pairs.items()]
    return sorted(exact + [(at, other, False) for at, other in near.items()])


def _near(left: list[str], right: list[str]) -> list[tuple[int, int]]:
    """Pairs that contradict each other are found among the best alone: asking about all would take seconds."""
    from rapidfuzz import fuzz, process  # where they are used: SciPy takes most of a second
    from scipy.optimize import linear_sum_assignment

    close: Any = sum(process.cdist(left, right, scorer=scorer) for scorer in (fuzz.token_set_ratio, fuzz.ratio)) / 200
    close[close < NEAR] = 0
    for _ in range(_ROUNDS):
        places = [(i, j) for i, j in zip(*linear_sum_assignment(close, maximize=True), strict=True) if close[i, j]]
        wrong = [(i, j) for i, j in places if contradict(left[i], right[j])]
        if not wrong:
            break
        close[tuple(np.array(wrong).T)] = 0
    return [(int(i), int(j)) for i, j in places if close[i, j]]
