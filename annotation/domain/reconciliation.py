"""Two experts' tables of one story side by side: which rows are the same, reworded, of another order, or only in one.

Stage 1 of OmniToM, section 4 and appendix B.4: experts extract apart, then reconcile with remarks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from rapidfuzz.fuzz import token_sort_ratio

from annotation.domain.tables import TableRow

SIMILAR = 62.0
"""The score out of 100 from which two beliefs of one actor are proposed as rewordings of each other."""


class PairKind(StrEnum):
    SAME = "same"
    REWORDED = "reworded"
    ORDER = "order"
    ONLY_A = "only-a"
    ONLY_B = "only-b"
    NEW = "new"


class Status(StrEnum):
    OPEN = ""
    KEPT = "kept"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class PairState:
    """A pair at one moment: the row that goes into gold, and the remark on it. Pairs stand by `place`."""

    status: str = ""
    actor: str = ""
    belief: str = ""
    order: str = ""
    remark: str = ""
    place: float = 0.0


def kind_of(a: TableRow | None, b: TableRow | None) -> PairKind:
    """Return the kind of a pair by the rows of the experts; NEW where neither wrote one. Orders differ also where one
    expert left it out."""
    if a is None or b is None:
        return PairKind.ONLY_A if a is not None else PairKind.ONLY_B if b is not None else PairKind.NEW
    if a.key != b.key:
        return PairKind.REWORDED
    return PairKind.SAME if a.order.strip() == b.order.strip() else PairKind.ORDER


def adopted(kept: TableRow, other: TableRow | None) -> TableRow:
    """Return the words of one expert's row that is kept. An order that they left out is the other's, unless only the
    orders differ, so that leaving it out can be chosen, too."""
    if kept.order or other is None or kind_of(kept, other) is PairKind.ORDER:
        return kept
    return kept._replace(order=other.order)


def pairs(a: Sequence[TableRow], b: Sequence[TableRow]) -> list[tuple[int | None, int | None]]:
    """Return the positions of paired rows: every row of both tables once, in the order of `a`, then the rows of only
    `b`.

    Equal rows (but for case, outer spaces and a final full stop) pair first. The others pair within an actor so that
    the similarity of all pairs together is the greatest, none of them below SIMILAR.
    """
    free: dict[tuple[str, str], list[int]] = {}
    for at, row in enumerate(b):
        free.setdefault(row.key, []).append(at)
    mates = {at: free[row.key].pop(0) for at, row in enumerate(a) if free.get(row.key)}
    taken = set(mates.values())
    for actor in {row.key[0] for at, row in enumerate(a) if at not in mates}:
        left = [at for at, row in enumerate(a) if at not in mates and row.key[0] == actor]
        right = [at for at, row in enumerate(b) if at not in taken and row.key[0] == actor]
        if left and right:
            from scipy.optimize import linear_sum_assignment  # takes a moment to load; every process loads this module

            scores = np.array([[token_sort_ratio(a[i].key[1], b[j].key[1]) for j in right] for i in left])
            scores[scores < SIMILAR] = 0
            pairing = zip(*linear_sum_assignment(scores, maximize=True), strict=True)
            mates |= {left[i]: right[j] for i, j in pairing if scores[i, j]}
    taken = set(mates.values())
    return [*((at, mates.get(at)) for at in range(len(a))), *((None, at) for at in range(len(b)) if at not in taken)]


def proposed(a: TableRow | None, b: TableRow | None, place: float) -> PairState:
    """Return the first state of a pair: A's words, or B's if A has none. Rows that both wrote are kept; all others are
    open, also where only the orders differ or one of them wrote none."""
    row = a or b or TableRow("", "")
    order = (a.order if a else "") or (b.order if b else "")
    status = Status.KEPT if kind_of(a, b) is PairKind.SAME else Status.OPEN
    return PairState(status.value, row.actor, row.belief, order, place=place)


def remark_of(a: TableRow | None, b: TableRow | None, state: PairState) -> str:
    """Return the remark of a settled pair in gold: "" where both experts wrote it as it stands, else added, removed or
    revised (OmniToM, appendix B.4: overlap counts rows without one)."""
    kind, words = kind_of(a, b), TableRow(state.actor, state.belief, state.order)
    if state.status == Status.DROPPED:
        return "removed"
    if kind is PairKind.NEW:
        return "added"
    as_written = any(words.key == row.key and (not row.order or words.order == row.order) for row in (a, b) if row)
    remarks = {PairKind.SAME: "", PairKind.ONLY_A: "added", PairKind.ONLY_B: "added"}
    return remarks.get(kind, "revised") if as_written else "revised"
