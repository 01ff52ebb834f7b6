"""Two experts' tables of one story side by side: which rows are the same, reworded, of another order, or only in one.

Stage 1 of OmniToM, section 4 and appendix B.4: experts extract apart, then reconcile with remarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from rapidfuzz.fuzz import token_sort_ratio

SIMILAR = 62.0
"""The score out of 100 from which two beliefs of one actor are proposed as rewordings of each other."""
_FULL_STOPS = ".。．"


class Lane(StrEnum):
    SAME = "same"
    REWORDED = "reworded"
    ORDER = "order"
    ONLY_A = "only-a"
    ONLY_B = "only-b"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class DraftRow:
    actor: str
    belief: str
    order: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return _plain(self.actor).removeprefix("the "), _plain(self.belief)


def lane_of(a: DraftRow | None, b: DraftRow | None) -> Lane:
    """Return the lane of a row of the consensus by what each expert wrote; NEW where neither did.

    Orders differ also where one of them left it out: what the other wrote is nobody's agreement.
    """
    if a is None or b is None:
        return Lane.ONLY_A if a is not None else Lane.ONLY_B if b is not None else Lane.NEW
    if a.key != b.key:
        return Lane.REWORDED
    return Lane.SAME if a.order.strip() == b.order.strip() else Lane.ORDER


def adopted(kept: DraftRow, other: DraftRow | None) -> DraftRow:
    """Return what it is to keep one expert's row: an order that they left out is the other's, but where only the
    orders differ, so that leaving it out can be chosen, too."""
    if kept.order or other is None or lane_of(kept, other) is Lane.ORDER:
        return kept
    return replace(kept, order=other.order)


def pairs(a: Sequence[DraftRow], b: Sequence[DraftRow]) -> list[tuple[int | None, int | None]]:
    """Return which row of `a` goes with which of `b`: every row of both tables once, in the order of `a`, then what
    only `b` has.

    Equal rows (but for case, outer spaces and a final full stop) pair first. The others pair within an actor so that
    the similarity of all pairs together is the greatest, none of them below SIMILAR.
    """
    mates = _equal(a, b)
    taken = set(mates.values())
    for actor in {row.key[0] for at, row in enumerate(a) if at not in mates}:
        left = [at for at, row in enumerate(a) if at not in mates and row.key[0] == actor]
        right = [at for at, row in enumerate(b) if at not in taken and row.key[0] == actor]
        mates |= _similar(a, b, left, right)
    taken = set(mates.values())
    only_b = [(None, at) for at in range(len(b)) if at not in taken]
    return [*((at, mates.get(at)) for at in range(len(a))), *only_b]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(_FULL_STOPS)


def _equal(a: Sequence[DraftRow], b: Sequence[DraftRow]) -> dict[int, int]:
    free: dict[tuple[str, str], list[int]] = {}
    for at, row in enumerate(b):
        free.setdefault(row.key, []).append(at)
    return {at: free[row.key].pop(0) for at, row in enumerate(a) if free.get(row.key)}


def _similar(a: Sequence[DraftRow], b: Sequence[DraftRow], left: list[int], right: list[int]) -> dict[int, int]:
    if not left or not right:
        return {}
    from scipy.optimize import linear_sum_assignment  # takes a moment to load, and every process loads this module

    scores = np.array([[token_sort_ratio(a[i].key[1], b[j].key[1]) for j in right] for i in left])
    scores[scores < SIMILAR] = 0
    rows, columns = linear_sum_assignment(scores, maximize=True)
    return {left[i]: right[j] for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if scores[i, j]}


class Status(StrEnum):
    OPEN = ""
    KEPT = "kept"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class LaneState:
    """A row of the consensus at one moment: what goes into gold, and the remark on it. Rows stand by `place`."""

    status: str = ""
    actor: str = ""
    belief: str = ""
    order: str = ""
    remark: str = ""
    place: float = 0.0

    @property
    def words(self) -> DraftRow:
        return DraftRow(self.actor, self.belief, self.order)


def proposed(a: DraftRow | None, b: DraftRow | None, place: float) -> LaneState:
    """Return where a row begins: A's words, or B's where A has none. What both wrote is kept already; all else is
    open, also where only the orders differ or one of them wrote none."""
    row = a or b or DraftRow("", "")
    order = (a.order if a else "") or (b.order if b else "")
    status = Status.KEPT if lane_of(a, b) is Lane.SAME else Status.OPEN
    return LaneState(status.value, row.actor, row.belief, order, place=place)


def change_of(a: DraftRow | None, b: DraftRow | None, state: LaneState) -> str:
    """Return the remark that the settled row has in gold: empty where both experts wrote it as it stands, else added,
    removed or revised (OmniToM, appendix B.4: overlap counts rows without one)."""
    lane = lane_of(a, b)
    if state.status == Status.DROPPED:
        return "removed"
    if lane is Lane.NEW:
        return "added"
    words = state.words
    if lane in (Lane.ONLY_A, Lane.ONLY_B):
        own = a or b
        return "added" if own is not None and _as_written(words, own) else "revised"
    return "" if lane is Lane.SAME and any(_as_written(words, row) for row in (a, b) if row) else "revised"


def _as_written(words: DraftRow, row: DraftRow) -> bool:
    return words.key == row.key and (not row.order or words.order == row.order)
