"""Scripted models of the sample project: what readers of different skill answer about its stories.

Each knows the sample corpus and errs by a rate of its own, by more where a system message explains less than the usual
one does. What it errs in is drawn from the names of model, actor, proposition and dimension alone, so that it always
answers the same. Of a story that it does not know it extracts what `omniscient` does, and of a proposition that it does
not know it takes the first label.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from annotation.domain.baselines import chosen_labels, omniscient_rows
from annotation.domain.records import Record
from annotation.domain.sample_corpus import sample_records
from annotation.domain.schema import WORLD
from annotation.domain.tasks import EXTRACT, LABEL, ExtractedRow, ExtractionTask, LabelTask, Row, extraction_answer
from workers.providers.contract import Body


@dataclass(frozen=True, slots=True)
class Reader:
    """A scripted model of a family: the shares of facts and of actors' beliefs that it finds, of its rows that the
    story does not hold, and of labels that it gets right at order 0 or 1, and at higher orders. Readers that `misread`
    give the same wrong label in a few cells, as models do that learnt from the same texts."""

    name: str
    family: str
    facts: float
    beliefs: float
    invented: float
    right: float
    right_nested: float
    misreads: bool = False

    def answer(self, body: Body) -> str:
        """Return the answer to a request to extract or to label; to any other, a sentence that says so. What it answers
        as a judge is added where judges are known (judge/services/sample.py)."""
        task, reader = body["task"], self
        system = [len(message["content"]) for message in body.get("messages", ()) if message["role"] == "system"]
        if system and (explained := sum(system) / EXPLAINS) < 1:  # one that explains nothing doubles the errors
            rates = {name: 1 - (1 - getattr(self, name)) * (2 - explained) for name in RATES}
            reader = replace(self, **{name: max(0.0, rate) for name, rate in rates.items()})
        if task.get("kind") == EXTRACT:
            extraction = ExtractionTask.from_task(task)
            rows = omniscient_rows(extraction.story)
            if record := _stories().get(extraction.story.strip()):
                others = [row for row in rows if row.actor != WORLD]
                rows = [
                    ExtractedRow(row.actor, row.belief, row.labels["order"])
                    for row in record.beliefs
                    if reader._draw(row.actor, row.belief) < (reader.facts if row.actor == WORLD else reader.beliefs)
                ]
                rows += [row for row in others if reader._draw(row.actor, row.belief, row.order) < reader.invented]
            return extraction_answer(extraction, rows)
        if task.get("kind") == LABEL:
            return chosen_labels(LabelTask.from_task(task), reader._label)
        return f"{self.name} extracts, labels and judges the stories of the sample, nothing else."

    def _label(self, key: str, values: Sequence[str], row: Row) -> str:
        labels = _labels().get((row.actor, row.belief), {})
        right = self.right_nested if labels.get("order", "0") > "1" else self.right
        if labels.get(key) not in values:
            return values[0]
        wrong = [value for value in values if value != labels[key]]
        alike = random.Random("\n".join((row.actor, row.belief, key, "misread")))
        if self.misreads and wrong and alike.random() < MISREAD:
            return alike.choice(wrong)
        if self._draw(row.actor, row.belief, key) < right:
            return labels[key]
        return wrong[int(self._draw(row.actor, row.belief, key, "instead") * len(wrong))] if wrong else values[0]

    def _draw(self, *texts: str) -> float:
        return share_drawn(self.name, *texts)


def share_drawn(*texts: str) -> float:
    """Return a number from 0 to 1 that is drawn from these texts alone."""
    return random.Random("\n".join(texts)).random()


EXPLAINS = 1400
"""The letters of a system message that explains everything."""
RATES = ("facts", "beliefs", "right", "right_nested")
MISREAD = 0.004
"""The share of cells that readers misread alike."""


READERS = (
    Reader("sample-careful", "aster", facts=0.95, beliefs=0.9, invented=0.02, right=0.95, right_nested=0.9),
    Reader("sample-hasty", "aster", facts=0.8, beliefs=0.6, invented=0.08, right=0.85, right_nested=0.6),
    Reader("sample-literal", "aster", facts=0.95, beliefs=0.25, invented=0.15, right=0.7, right_nested=0.3),
)
_misreading = partial(Reader, misreads=True)
FURTHER_READERS = (
    _misreading("sample-steady", "birch", facts=0.9, beliefs=0.8, invented=0.04, right=0.93, right_nested=0.85),
    _misreading("sample-brisk", "cedar", facts=0.85, beliefs=0.7, invented=0.06, right=0.9, right_nested=0.75),
    _misreading("sample-plain", "dogwood", facts=0.9, beliefs=0.5, invented=0.1, right=0.85, right_nested=0.7),
)
"""Models of other families, which the sample asks in a run of their own."""
SUGGESTS = READERS[0]
"""The model whose labels the sample's annotators were shown."""


@lru_cache(1)
def _stories() -> dict[str, Record]:
    return {record.story: record for record in sample_records()}


@lru_cache(1)
def _labels() -> dict[tuple[str, str], Mapping[str, str]]:
    return {(row.actor, row.belief): row.labels for record in sample_records() for row in record.beliefs}
