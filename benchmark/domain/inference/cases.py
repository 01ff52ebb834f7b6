"""Scores of several models on the same stories, with what their missing answers could have been.

An order that refusing cannot improve has to count a missing answer as no better than any answer, and the worst case is
the mildest rule that does. It is also the same stories for every model, so that the order of the means and the signs of
all paired differences are one. Common stories alone would not do: who refuses where another is better gains on the
stories that are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.statistics import Clusters, Floats, mean_of, numbered

MOST_LOST = 0.1
"""A model whose score could be more than this higher, but for what judges and providers lost, has no rank: it would be
theirs."""


class Case(NamedTuple):
    """A model's score of one story, at its worst and at its best; `answered` is the score itself, None where it is
    missing.

    `outside` says that a judge or a provider lost what is missing, of the whole story or of a part: the model answered,
    or was never asked.
    """

    worst: float
    best: float
    answered: float | None
    outside: bool = False

    @classmethod
    def scored(cls, score: float) -> Case:
        return cls(score, score, score)


NEVER_ASKED = Case(0.0, 1.0, None, outside=True)


@dataclass(frozen=True)
class Cases:
    """Arrays of shape (models, stories), without the stories that have no score by definition.

    `worst` and `best` are the bounds, `spared` is `worst` with what was lost outside at its best, `answered` is nan
    where missing. `clusters` numbers the cluster of each story from 0 on, shape (stories,), None where none share one.
    """

    models: tuple[str, ...]
    stories: tuple[int, ...]
    worst: Floats
    best: Floats
    spared: Floats
    answered: Floats
    clusters: Clusters | None = None

    @classmethod
    def of(
        cls,
        cases: Mapping[str, Mapping[int, Case | None]],
        stories: Set[int],
        clusters: Mapping[int, str] | None = None,
    ) -> Cases:
        """Align {model: {story: case}}; None is a story without a score by definition, one that is lacking was never
        asked. `clusters` names the cluster of each, where some share one."""
        undefined = {story for model_cases in cases.values() for story, case in model_cases.items() if case is None}
        defined = tuple(sorted(stories - undefined))
        rows = [[model_cases.get(story) or NEVER_ASKED for story in defined] for model_cases in cases.values()]

        def table(values: list[list[float | None]]) -> Floats:
            return np.array(values, dtype=float).reshape(len(cases), len(defined))

        return cls(
            models=tuple(cases),
            stories=defined,
            worst=table([[case.worst for case in row] for row in rows]),
            best=table([[case.best for case in row] for row in rows]),
            spared=table([[case.best if case.outside else case.worst for case in row] for row in rows]),
            answered=table([[case.answered for case in row] for row in rows]),
            clusters=numbered([clusters.get(story, str(story)) for story in defined]) if clusters else None,
        )

    def __getitem__(self, rows: list[int]) -> Cases:
        return Cases(
            models=tuple(self.models[row] for row in rows),
            stories=self.stories,
            worst=self.worst[rows],
            best=self.best[rows],
            spared=self.spared[rows],
            answered=self.answered[rows],
            clusters=self.clusters,
        )

    @property
    def units(self) -> int:
        """The number of clusters."""
        return len(self.stories) if self.clusters is None else int(self.clusters.max()) + 1

    def best_first(self) -> Cases:
        """Models by their falling worst case and then by name."""
        falling: Floats = -np.nan_to_num(mean_of(self.worst), nan=-1)
        return self[sorted(range(len(self.models)), key=lambda row: (falling[row], self.models[row]))]

    @property
    def lost(self) -> NDArray[np.int64]:
        """The number of stories of each model of which a judge or a provider lost something, shape (models,)."""
        lost: NDArray[np.int64] = (self.spared > self.worst).sum(axis=1)
        return lost

    @property
    def lost_score(self) -> Floats:
        """The distance by which each model's mean could be higher, but for that, shape (models,)."""
        return mean_of(self.spared - self.worst)

    @property
    def missing(self) -> NDArray[np.int64]:
        """The number of stories of each model without a score, for whatever reason, shape (models,)."""
        missing: NDArray[np.int64] = (~np.isfinite(self.answered)).sum(axis=1)
        return missing

    @property
    def ranks(self) -> NDArray[np.bool_]:
        """True where each model has a rank, shape (models,)."""
        return self.lost_score <= MOST_LOST + 1e-12 if self.stories else np.zeros(len(self.models), dtype=bool)
