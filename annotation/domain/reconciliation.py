"""Two experts' tables of one story side by side: which rows are the same, reworded, or only in one of them.

Stage 1 of OmniToM, section 4 and appendix B.4: experts extract apart, then reconcile with remarks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.fuzz import token_sort_ratio

SIMILAR = 62.0
"""The score out of 100 from which two beliefs of one actor are proposed as rewordings of each other."""


class Lane(StrEnum):
    SAME = "same"
    REWORDED = "reworded"
    ONLY_A = "only-a"
    ONLY_B = "only-b"


@dataclass(frozen=True, slots=True)
class DraftRow:
    actor: str
    belief: str
    order: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return _plain(self.actor), _plain(self.belief)


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of the lanes: `a` and `b` as the experts wrote them, one of them None in the lanes of one table."""

    lane: Lane
    a: DraftRow | None
    b: DraftRow | None


def lanes(a: Sequence[DraftRow], b: Sequence[DraftRow]) -> list[Pair]:
    """Every row of both tables once, in the order of `a`, then what only `b` has.

    Equal rows (but for case, outer spaces and a final full stop) pair first, then the most similar beliefs of the same
    actor, each row at most once.
    """
    mates = _equal(a, b)
    mates |= _similar(a, b, mates)
    pairs = []
    for at, row in enumerate(a):
        if at not in mates:
            pairs.append(Pair(Lane.ONLY_A, row, None))
            continue
        mate = b[mates[at]]
        lane = Lane.SAME if row.key == mate.key else Lane.REWORDED
        pairs.append(Pair(lane, row, mate))
    taken = set(mates.values())
    return pairs + [Pair(Lane.ONLY_B, None, row) for at, row in enumerate(b) if at not in taken]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")


def _equal(a: Sequence[DraftRow], b: Sequence[DraftRow]) -> dict[int, int]:
    free: dict[tuple[str, str], list[int]] = {}
    for at, row in enumerate(b):
        free.setdefault(row.key, []).append(at)
    return {at: free[row.key].pop(0) for at, row in enumerate(a) if free.get(row.key)}


def _similar(a: Sequence[DraftRow], b: Sequence[DraftRow], mates: Mapping[int, int]) -> dict[int, int]:
    taken = set(mates.values())
    scored = [
        (token_sort_ratio(row.key[1], other.key[1]), i, j)
        for i, row in enumerate(a)
        for j, other in enumerate(b)
        if i not in mates and j not in taken and row.key[0] == other.key[0]
    ]
    pairs: dict[int, int] = {}
    used: set[int] = set()
    for score, i, j in sorted(scored, key=lambda candidate: (-candidate[0], candidate[1], candidate[2])):
        if score >= SIMILAR and i not in pairs and j not in used:
            pairs[i] = j
            used.add(j)
    return pairs
