"""The lexical judge as a baseline: it reads two tables of propositions, and answers as a judge is asked to.

It reads `predictions` and `gold` [[actor, belief], …] of `Request.task`. With the form "structured" it gives the ids
that match, else two CSV tables. The option `threshold` (0 to 1) is the least similarity of a pair.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from judge.domain.lexical import NAME, RULES, THRESHOLD, align
from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Body
from workers.providers.errors import Rejected

Rows = Sequence[Sequence[str]]
Pairs = Sequence[tuple[int, int]]


def answer(body: Body) -> str:
    task = body["task"]
    return written(task, align(task["predictions"], task["gold"], threshold=body["threshold"]))


def written(task: Mapping[str, Any], pairs: Pairs) -> str:
    """Return the answer of a judge to whom these pairs of rows say the same, in the form that the task asks for."""
    write = _matches if task.get("form") == "structured" else _count_tables
    return write(task["predictions"], task["gold"], pairs)


def _count_tables(predictions: Rows, gold: Rows, pairs: Pairs) -> str:
    """The judge's two CSV tables, MatchCount 1 for the rows of a pair."""
    parts = []
    for side, (heading, rows) in enumerate((("Prediction Table:", predictions), ("Ground Truth Table:", gold))):
        hits = {pair[side] for pair in pairs}
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["Actor", "Belief", "MatchCount"])
        writer.writerows([*row[:2], int(at in hits)] for at, row in enumerate(rows))
        parts.append(f"{heading}\n{buffer.getvalue()}")
    return "\n".join(parts)


def _matches(predictions: Rows, gold: Rows, pairs: Pairs) -> str:
    """Ids of the matching rows on the other side, by row; ids count from 1."""
    sides = {}
    for side, (name, rows) in enumerate((("predictions", predictions), ("gold", gold))):
        matches = {pair[side]: pair[1 - side] + 1 for pair in pairs}
        sides[name] = [{"id": at + 1, "matches": [matches[at]] if at in matches else []} for at in range(len(rows))]
    return json.dumps(sides)


def _settings(options: Mapping[str, Any], seed: int | None) -> dict[str, Any]:
    """Raises Rejected. The version is among them: of another one no answer is taken."""
    threshold = options.get("threshold", THRESHOLD)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise Rejected(f"The option threshold is {threshold!r}; a number from 0 to 1 is expected.")
    return {"threshold": float(threshold), "rules": RULES}


LEXICAL_JUDGE = Baseline(
    name=NAME,
    task="judge",
    answer=answer,
    sample={"predictions": [["Ines", "three"]], "gold": [["Ines", "three"]]},
    settings=_settings,
    options={"threshold": (float, int)},
    options_note="threshold for the lexical judge",
    rules=RULES,
)
