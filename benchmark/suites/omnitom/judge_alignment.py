"""The judge's rows put beside the rows that it was given (specification "OmniToM scoring", sections 4.4 and 7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from benchmark.suites.omnitom.judge_tables import JudgedRow
from judge.domain.text import key


def align(rows: Sequence[tuple[str, str]], judged: Iterable[JudgedRow]) -> list[int]:
    """The count of each of `rows` (actor, belief), in their order; 0 where the judge has no row left for it.

    Of several judged rows that are equal to one row the highest count is taken first, and each is used once. Counts
    are not capped and may be negative.
    """
    waiting: dict[tuple[str, str], list[int]] = defaultdict(list)
    for actor, belief, count in judged:
        waiting[key(actor), key(belief)].append(count)
    for counts in waiting.values():
        counts.sort()
    out = []
    for actor, belief in rows:
        left = waiting.get((key(actor), key(belief)))
        out.append(left.pop() if left else 0)
    return out
