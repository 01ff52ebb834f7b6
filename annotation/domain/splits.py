from __future__ import annotations

import random
from collections.abc import Mapping, Sequence


def draw_split(stories: Mapping[str, Sequence[int]], *, per_category: int, seed: int) -> list[int]:
    """Draw `per_category` story numbers from each category; a seed gives the same draw whatever the order of the
    stories.

    Raises ValueError where a category has fewer.
    """
    chosen: list[int] = []
    for category in sorted(stories):
        numbers = sorted(stories[category])
        if len(numbers) < per_category:
            raise ValueError(f"{category} has {len(numbers)} stories; expected at least {per_category}.")
        # A generator for each category: adding one does not change what is drawn from the others.
        chosen += random.Random(f"{seed}:{category}").sample(numbers, per_category)
    return sorted(chosen)
