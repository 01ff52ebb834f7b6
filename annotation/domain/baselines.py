"""Labels and propositions without a model: what every score can be held against.

- `majority`: the commonest label in `task.counts`; `random`: uniform over the legal labels, seeded.
- `omniscient`: every actor believes every narrated fact, the score of having no theory of mind at all.

They answer tasks of labels and of propositions (`tasks`), in the answer format that a task asks for (`answer_writers`).
"""

import hashlib
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence

from annotation.domain.schema import WORLD
from annotation.domain.tasks import (
    EXTRACT,
    LABEL,
    ExtractedRow,
    ExtractionTask,
    LabelledRow,
    LabelTask,
    Row,
    extraction_answer,
    label_answer,
)
from workers.providers.baseline.baseline import Baseline, seeded
from workers.providers.contract import Body

_CLOSING = r"[\"'”’)]"
_SENTENCE = re.compile(
    r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bMrs\.)(?<=[.!?…])\s+"
    rf"|(?<=[.!?…]{_CLOSING})\s+|(?<=[.!?…]{_CLOSING}{_CLOSING})\s+|\n+"
)
_NAME = re.compile(r"(?<![.!?…\"'“‘\n] )(?<!^)(?<![\"“‘])\b(?:(?:Mr|Mrs|Ms|Dr)\. )?[A-Z][a-zà-ÿ]+\b")
Choose = Callable[[str, Sequence[str], Row], str]
"""A label from a dimension's key, its labels and a row."""


def majority_answer(body: Body) -> str:
    task = LabelTask.from_task(body["task"])
    return chosen_labels(task, lambda key, values, row: majority(task.counts.get(key, {}), values))


def random_answer(body: Body) -> str:
    def drawn(key: str, values: Sequence[str], row: Row) -> str:
        parts = json.dumps([body["seed"], body["sample"], key, row.actor, row.belief, row.id])
        return random.Random(hashlib.sha256(parts.encode("utf-8", "replace")).digest()).choice(list(values))

    return chosen_labels(LabelTask.from_task(body["task"]), drawn)


def omniscient_answer(body: Body) -> str:
    task = ExtractionTask.from_task(body["task"])
    return extraction_answer(task, omniscient_rows(task.story, task.actors))


def chosen_labels(task: LabelTask, choose: Choose) -> str:
    """Return what is chosen for each row and dimension, in the form that the task asks for."""
    rows = [
        LabelledRow(row, {key: choose(key, values, row) for key, values in task.dimensions.items()})
        for row in task.rows
    ]
    return label_answer(task, rows)


def majority(counts: Mapping[str, int], values: Sequence[str]) -> str:
    """Return the commonest of `values`; ties and an empty count go to the first in the schema's order."""
    return max(values, key=lambda value: counts.get(value, 0))


def omniscient_rows(story: str, actors: Sequence[str] = ()) -> list[ExtractedRow]:
    """Return each sentence of the story as a fact of the world, and as a belief of every actor."""
    facts = [
        fact
        for fact in (" ".join(sentence.split()).rstrip(".").replace("|", "/") for sentence in _SENTENCE.split(story))
        if fact
    ]
    people = actors or actors_in(story)
    beliefs = [ExtractedRow(actor, fact, "1") for actor in people for fact in facts]
    return [ExtractedRow(WORLD, fact, "0") for fact in facts] + beliefs


def actors_in(story: str) -> list[str]:
    """Return the capitalised names that do not open a sentence, in order of appearance."""
    return list(dict.fromkeys(_NAME.findall(story)))


_LABEL_SAMPLE = {
    "rows": [{"id": 1, "actor": "Ines", "belief": "Three is more than two"}],
    "dimensions": {"truth": ["True", "False"]},
}
BASELINES = (
    Baseline(name="majority", task=LABEL, answer=majority_answer, sample=_LABEL_SAMPLE),
    Baseline(
        name="random",
        task=LABEL,
        answer=random_answer,
        sample=_LABEL_SAMPLE,
        settings=seeded,
        options={"seed": (int,)},
        options_note="seed for random",
    ),
    Baseline(name="omniscient", task=EXTRACT, answer=omniscient_answer, sample={"story": "Ines counts to three."}),
)
