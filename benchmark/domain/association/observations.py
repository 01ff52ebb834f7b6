"""One question about a story to one model: how well it built the structure of the story, and how it answered."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmark.domain.inference.cases import Case
from core.statistics import Clusters

RIGHT = 0.5
"""A question is answered right from half of its score on: where it was asked several times, by half of the answers."""
UNIT = "stories"


@dataclass(frozen=True, slots=True)
class Observation:
    """`answer` is the score of one question from 0 to 1, `structure` that of the structure which the model built of the
    question's story; either with the bounds of what is missing."""

    model: str
    story: Hashable
    category: str
    structure: Case
    answer: Case

    @property
    def has_both_scores(self) -> bool:
        """True where both scores are there."""
        return self.structure.answered is not None and self.answer.answered is not None


def is_right(case: Case, cut: float) -> bool | None:
    """Return whether a score reaches the cut; None where it is missing."""
    return None if case.answered is None else case.answered >= cut


def lowest(cases: Sequence[Case | None]) -> Case | None:
    """Return the lowest of several scores, which reaches a cut where all do: missing where one is, None where one is
    not defined."""
    if len(cases) == 1:  # of very many
        return cases[0]
    defined = [case for case in cases if case is not None]
    if len(defined) < len(cases):
        return None
    answered = [case.answered for case in defined if case.answered is not None]
    return Case(
        min(case.worst for case in defined),
        min(case.best for case in defined),
        min(answered) if len(answered) == len(defined) else None,
        any(case.outside for case in defined),
    )


def median_structure(observations: Sequence[Observation]) -> float | None:
    """Return the median of the structure scores that are there, each model's of each story once, to the whole per cent;
    None without any."""
    scores = {(seen.model, seen.story): seen.structure.answered for seen in observations}
    values = [score for score in scores.values() if score is not None]
    return round(median(values), 2) if values else None


def of_whole_stories(observations: Sequence[Observation]) -> list[Observation]:
    """Return one observation of each model and story, whose answer is right where all of its questions are answered
    right: one wrong answer settles it."""
    by_story: dict[tuple[str, Hashable], list[Observation]] = {}
    for seen in observations:
        by_story.setdefault((seen.model, seen.story), []).append(seen)
    return [
        Observation(
            group[0].model,
            group[0].story,
            group[0].category,
            group[0].structure,
            _all_right([seen.answer for seen in group]),
        )
        for group in by_story.values()
    ]


def _all_right(answers: Sequence[Case]) -> Case:
    worst, best = (float(all(end >= RIGHT for end in ends)) for ends in zip(*(a[:2] for a in answers), strict=True))
    right = all(answer.answered is None or answer.answered >= RIGHT for answer in answers)
    if right and any(answer.answered is None for answer in answers):
        return Case(worst, best, None, any(answer.outside for answer in answers))
    return Case(worst, best, float(right))


def numbers_of(names: Sequence[Hashable]) -> Clusters:
    """Number the names from 0 on in the order in which they come."""
    numbers = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)
