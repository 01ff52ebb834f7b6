"""A balanced, seeded plan of who labels which story."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from annotation.domain.resolution import OVERLAP_RANGE
from core.language import gettext


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
