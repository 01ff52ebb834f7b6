"""The lexical judge: which propositions of two tables say the same, by their wording alone.

It pairs propositions of one actor one to one by text similarity, and never two of which one denies, counts, opposes or
names something else than the other (see `lexical_guards`). What it cannot see, it says in BLIND.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from judge.domain.lexical_guards import contradict

NAME = "lexical-judge"
THRESHOLD = 0.55
RULES = 3
"""The version of this judge. Raise it with every change of what it matches: its calls and its rows are told apart by
it."""
BLIND = (
    "It compares words, not meanings. It cannot see what a negation is about, who does what to whom, what only "
    "context tells, nor a synonym, an antonym or a swapped word where more of the sentence changed."
)


def align(
    predictions: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], *, threshold: float = THRESHOLD
) -> list[tuple[int, int]]:
    """Return (prediction, gold) indices of the assignment with the greatest total similarity within each actor
    (Hungarian method), of pairs at or above `threshold` that do not contradict each other.

    Similarity is the mean of token-set and plain ratio, 0 to 1, case-insensitive.
    """
    groups: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((predictions, gold)):
        for at, row in enumerate(rows):
            groups[row[0].strip().lower()][side].append(at)
    from rapidfuzz import fuzz, process  # where they are used: SciPy takes most of a second
    from scipy.optimize import linear_sum_assignment

    pairs = []
    for left, right in groups.values():
        if not left or not right:
            continue
        texts = [predictions[at][1].lower() for at in left], [gold[at][1].lower() for at in right]
        by_words, plain = (process.cdist(*texts, scorer=scorer) for scorer in (fuzz.token_set_ratio, fuzz.ratio))
        close = (by_words + plain) / 200
        close[close < threshold] = 0  # else two weak pairs could outweigh a good one, and none would count
        for first, other in zip(*close.nonzero(), strict=True):
            if contradict(texts[0][first], texts[1][other]):
                close[first, other] = 0
        for first, other in zip(*linear_sum_assignment(close, maximize=True), strict=True):
            if close[first, other] >= max(threshold, 1e-9):
                pairs.append((left[first], right[other]))
    return sorted(pairs)
