"""Seeded draws: a balanced plan of who labels which story, and the stories of a split."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from annotation.domain.resolution import OVERLAP_RANGE
from core.language import gettext
from core.wording import counted


class PlanError(ValueError):
    """The plan cannot be made; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`assignments` are new (story, annotator) pairs; `short` the stories that still lack annotators, with how many;
    `added` the weight that each annotator gets by it, and `carried` what they then carry altogether."""

    assignments: tuple[tuple[int, int], ...]
    short: Mapping[int, int]
    added: Mapping[int, int]
    carried: Mapping[int, int]


def plan(
    stories: Mapping[int, int],
    annotators: Sequence[int],
    *,
    overlap: int,
    seed: int,
    assigned: Mapping[int, Set[int]] | None = None,
    load: Mapping[int, int] | None = None,
    allowed: range = OVERLAP_RANGE,
) -> Plan:
    """Fill each story up to `overlap` annotators, always choosing those with the least to do.

    `stories` maps a story to its weight (propositions); `assigned` to the annotators that it already has; `load` an
    annotator to the weight that they already carry. Ties fall to a seeded draw: the same arguments give the same plan.
    Heavy stories are dealt first, so that loads end close together. Raises PlanError where `overlap` is not
    `allowed` (2 to 9) or nobody can be chosen.
    """
    if overlap not in allowed:
        raise PlanError(
            gettext("The overlap is {overlap}; expected {allowed} to {allowed_2}.").format(
                overlap=overlap, allowed=allowed[0], allowed_2=allowed[-1]
            )
        )
    if not annotators:
        raise PlanError(gettext("Choose at least one annotator."))
    draw = random.Random(seed)
    carried = Counter({person: (load or {}).get(person, 0) for person in annotators})
    rank = {person: draw.random() for person in sorted(annotators)}
    order = sorted(stories, key=lambda story: (-stories[story], story))
    assignments, short, before = [], {}, dict(carried)
    for story in order:
        already = (assigned or {}).get(story, frozenset())
        free = [person for person in annotators if person not in already]
        missing = max(0, overlap - len(already))
        chosen = sorted(free, key=lambda person: (carried[person], rank[person]))[:missing]
        for person in chosen:
            carried[person] += max(1, stories[story])
            rank[person] = draw.random()
        assignments += [(story, person) for person in chosen]
        if len(chosen) < missing:
            short[story] = missing - len(chosen)
    added = {person: carried[person] - before[person] for person in annotators}
    return Plan(tuple(sorted(assignments)), short, added, dict(carried))


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
