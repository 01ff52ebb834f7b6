"""Scripted models of the sample project: what readers of different skill answer about its stories.

Each knows the sample corpus and errs by a rate of its own, drawn from the names of model, actor, proposition and
dimension alone, so that it always answers the same. Of a story that it does not know it extracts what `omniscient`
does, and of a proposition that it does not know it takes the first label.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from annotation.domain.baselines import extraction_answer, label_answer, omniscient_rows
from annotation.domain.sample_corpus import sample_records
from annotation.domain.schema import WORLD
from workers.providers.contract import Body


@dataclass(frozen=True, slots=True)
class Reader:
    """A scripted model: the shares of facts and of actors' beliefs that it finds, of its rows that the story does not
    hold, and of labels that it gets right at order 0 or 1, and at higher orders."""

    name: str
    facts: float
    beliefs: float
    invented: float
    right: float
    right_nested: float

    def answer(self, body: Body) -> str:
        """Return the answer to a request to extract or to label; to any other, a sentence that says so."""
        task = body["task"]
        match task.get("kind"):
            case "extract":
                return extraction_answer(task, self._rows(task["story"]))
            case "label":
                return label_answer(task, self._label)
        return f"{self.name} extracts and labels the stories of the sample, nothing else."

    def _rows(self, story: str) -> list[tuple[str, str, str]]:
        record = _stories().get(story.strip())
        if record is None:
            return omniscient_rows(story)
        matches = [
            (row["actor"], row["belief"], row["labels"]["order"])
            for row in record["beliefs"]
            if self._draw(row["actor"], row["belief"]) < (self.facts if row["actor"] == WORLD else self.beliefs)
        ]
        others = [row for row in omniscient_rows(story) if row[0] != WORLD]
        return matches + [row for row in others if self._draw(*row) < self.invented]

    def _label(self, key: str, values: Sequence[str], row: Mapping[str, Any]) -> str:
        labels = _labels().get((row["actor"], row["belief"]), {})
        right = self.right_nested if labels.get("order", "0") > "1" else self.right
        if labels.get(key) not in values:
            return values[0]
        if self._draw(row["actor"], row["belief"], key) < right:
            return labels[key]
        wrong = [value for value in values if value != labels[key]]
        return wrong[int(self._draw(row["actor"], row["belief"], key, "instead") * len(wrong))] if wrong else values[0]

    def _draw(self, *of: str) -> float:
        return random.Random("\n".join((self.name, *of))).random()


READERS = (
    Reader("sample-careful", facts=0.95, beliefs=0.9, invented=0.02, right=0.95, right_nested=0.9),
    Reader("sample-hasty", facts=0.8, beliefs=0.6, invented=0.08, right=0.85, right_nested=0.6),
    Reader("sample-literal", facts=0.95, beliefs=0.25, invented=0.15, right=0.7, right_nested=0.3),
)


@lru_cache(1)
def _stories() -> dict[str, dict[str, Any]]:
    return {record["story"]: record for record in sample_records()}


@lru_cache(1)
def _labels() -> dict[tuple[str, str], dict[str, str]]:
    return {(row["actor"], row["belief"]): row["labels"] for record in sample_records() for row in record["beliefs"]}
