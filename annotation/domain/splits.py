import random
from collections.abc import Mapping, Sequence

from core.language import gettext
from core.wording import counted


def too_small(stories: Mapping[str, Sequence[int]], minimums: Mapping[str, int]) -> list[str]:
    """Return a sentence for each category that has fewer stories than its minimum, in order of name."""
    counts = {category: len(stories.get(category, ())) for category in sorted(minimums)}
    return [
        gettext("{category} has {stories}; expected at least {least}.").format(
            category=category, stories=counted(count, "story", "stories"), least=minimums[category]
        )
        for category, count in counts.items()
        if count < minimums[category]
    ]


def draw_split(stories: Mapping[str, Sequence[int]], *, per_category: int | Mapping[str, int], seed: int) -> list[int]:
    """Draw `per_category` story numbers from each category, one number for all or one for each; a seed gives the same
    draw whatever the order of the stories.

    Raises ValueError where a category has fewer.
    """
    sample_sizes = dict.fromkeys(stories, per_category) if isinstance(per_category, int) else per_category
    if small := too_small(stories, {category: sample_sizes[category] for category in stories}):
        raise ValueError(small[0])
    chosen: list[int] = []
    for category in sorted(stories):
        numbers = sorted(stories[category])
        # A generator for each category: adding one does not change what is drawn from the others.
        chosen += random.Random(f"{seed}:{category}").sample(numbers, sample_sizes[category])
    return sorted(chosen)
