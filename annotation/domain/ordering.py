"""The order in which an expert sees the votes of a cell, and the label that leads."""

import hashlib
from collections import Counter
from collections.abc import Sequence


def shuffled(votes: Sequence[str], cell: str) -> list[str]:
    """Return the labels of a cell in a stable order that does not reveal who cast them.

    The order depends on `cell` and on the labels alone, never on the order in which they are given.
    """
    marked = [(hashlib.sha256(f"{cell}:{at}".encode()).digest(), label) for at, label in enumerate(sorted(votes))]
    return [label for _, label in sorted(marked)]


def plurality(votes: Sequence[str]) -> str | None:
    """Return the label with more votes than any other, or None where two share the lead or there is no vote."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]
