"""Answers of the lexical judge about belief tables, in the answer format that the task asks for.

It reads `predictions` and `gold` [[actor, belief], …] of `Request.task`. With "structured" as its `answer_format` it
gives the ids that match, else two CSV tables.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from benchmark.suites.omnitom.judge_tables import judgement
from benchmark.suites.omnitom.step_keys import JUDGE
from judge.domain.lexical import align
from judge.domain.lexical_judge import lexical_judge
from workers.providers.contract import Body, Task

Rows = Sequence[Sequence[str]]
Pairs = Sequence[tuple[int, int]]


def answer(body: Body) -> str:
    task = body["task"]
    return written(task, align(task["predictions"], task["gold"], threshold=body["threshold"]))


def written(task: Task, pairs: Pairs) -> str:
    """Return the answer of a judge to whom these pairs of rows say the same, in the answer format of the task."""
    write = _matches if task.get("answer_format") == "structured" else _count_tables
    return write(task["predictions"], task["gold"], pairs)


def _count_tables(predictions: Rows, gold: Rows, pairs: Pairs) -> str:
    """The judge's two CSV tables, MatchCount 1 for the rows of a pair."""
    return judgement(*(_counted(rows, {pair[side] for pair in pairs}) for side, rows in enumerate((predictions, gold))))


def _counted(rows: Rows, paired: set[int]) -> list[tuple[str, str, int]]:
    return [(row[0], row[1], int(at in paired)) for at, row in enumerate(rows)]


def _matches(predictions: Rows, gold: Rows, pairs: Pairs) -> str:
    """Ids of the matching rows on the other side, by row; ids count from 1."""
    sides = {}
    for side, (name, rows) in enumerate((("predictions", predictions), ("gold", gold))):
        matches = {pair[side]: pair[1 - side] + 1 for pair in pairs}
        sides[name] = [{"id": at + 1, "matches": [matches[at]] if at in matches else []} for at in range(len(rows))]
    return json.dumps(sides)


LEXICAL = lexical_judge(
    task=JUDGE, answer=answer, sample={"predictions": [["Ines", "three"]], "gold": [["Ines", "three"]]}
)
"""The lexical judge of belief tables."""
