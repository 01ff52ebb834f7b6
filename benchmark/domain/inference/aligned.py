"""Scores of several models on the same stories, story by story: what every comparison starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.statistics import Floats


@dataclass(frozen=True)
class Aligned:
    """`scores` has shape (models, stories): one figure of each story, such as its F1; nan where it is missing."""

    models: tuple[str, ...]
    stories: tuple[int, ...]
    scores: Floats

    def __post_init__(self) -> None:
        if self.scores.shape != (len(self.models), len(self.stories)):
            raise ValueError(f"{self.scores.shape} scores for {len(self.models)} models, {len(self.stories)} stories.")
        if len(set(self.models)) < len(self.models):
            raise ValueError("A model occurs twice.")

    @classmethod
    def of(cls, scores: Mapping[str, Mapping[int, float | None]]) -> Aligned:
        """Align {model: {story: score}}; a story that a model lacks, or has None for, is missing there."""
        stories = tuple(sorted(set().union(*scores.values()))) if scores else ()
        at = {story: column for column, story in enumerate(stories)}
        table = np.full((len(scores), len(stories)), np.nan)
        for row, story_scores in enumerate(scores.values()):
            for story, score in story_scores.items():
                table[row, at[story]] = np.nan if score is None else score
        return cls(tuple(scores), stories, table)
