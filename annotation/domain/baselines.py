"""Labels and propositions without a model: what every score can be held against.

- `majority`: the commonest label in `task.counts`; `random`: uniform over the legal labels, seeded.
- `omniscient`: every actor believes every narrated fact, the score of having no theory of mind at all.

They read `Request.task`:
- label: `rows` [{id, actor, belief}], `dimensions` {key: [labels]}, `counts` {key: {label: n}}, for the form "text"
  `columns` [key]
- extract: `story`, `actors` (optional)

Of both, `header` where a table has other heads than OmniToM's.

`form` "text" and "structured" say how to answer, as benchmarks ask it: a pipe table, or rows with ids; without it
labels come as {"rows": {id: labels}}, extractions as a pipe table.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from annotation.domain.schema import WORLD
from workers.providers.baseline.baseline import Baseline, seeded
from workers.providers.contract import Body

_EXTRACTED = ("Actor", "Belief", "Order")
_LABELLED = (
    *_EXTRACTED, "Truth-Status", "Knowledge-Access", "Representation", "Content Type", "Mental-Source", "Context",
)  # fmt: skip
_CLOSING = r"[\"'”’)]"
_SENTENCE = re.compile(
    r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bMrs\.)(?<=[.!?…])\s+"
    rf"|(?<=[.!?…]{_CLOSING})\s+|(?<=[.!?…]{_CLOSING}{_CLOSING})\s+|\n+"
)
_NAME = re.compile(r"(?<![.!?…\"'“‘\n] )(?<!^)(?<![\"“‘])\b(?:(?:Mr|Mrs|Ms|Dr)\. )?[A-Z][a-zà-ÿ]+\b")
Choose = Callable[[str, Sequence[str], Mapping[str, Any]], str]
"""A label from a dimension's key, its labels and a row."""


def majority_answer(body: Body) -> str:
    counts = body["task"].get("counts", {})
    return label_answer(body["task"], lambda key, values, row: majority(counts.get(key, {}), values))


def random_answer(body: Body) -> str:
    return label_answer(body["task"], lambda key, values, row: _drawn(body, key, values, row))


def omniscient_answer(body: Body) -> str:
    task = body["task"]
    rows = omniscient_rows(task["story"], task.get("actors"))
    return extraction_answer(task, rows)


def extraction_answer(task: Mapping[str, Any], rows: Sequence[tuple[str, str, str]]) -> str:
    """Return rows (actor, belief, order) in the form that an extraction is asked for in."""
    if task.get("form") == "structured":
        return _json_rows(rows)
    header = task.get("header") or _EXTRACTED
    return _pipe_table(header, [row[: len(header)] for row in rows])


def label_answer(task: Mapping[str, Any], choose: Choose) -> str:
    """Return the label of each row and dimension in the form that labels are asked for in."""
    chosen = [
        (row, {key: choose(key, values, row) for key, values in task["dimensions"].items()}) for row in task["rows"]
    ]
    match task.get("form"):
        case "text":
            columns = task["columns"]  # an object's keys come back sorted from the ledger
            table = [(row["actor"], row["belief"], *(labels[key] for key in columns)) for row, labels in chosen]
            return _pipe_table(task.get("header") or _LABELLED, table)
        case "structured":
            return json.dumps({"rows": [{"id": row["id"], **labels} for row, labels in chosen]}, ensure_ascii=False)
    return json.dumps({"rows": {str(row["id"]): labels for row, labels in chosen}}, ensure_ascii=False)


def _pipe_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *([cell.replace("|", "/") for cell in row] for row in rows)]
    return "\n".join(" | ".join(line) for line in lines)


def _json_rows(rows: Sequence[Sequence[str]]) -> str:
    documents = [dict(zip(("actor", "belief", "order"), row, strict=True)) for row in rows]
    return json.dumps({"rows": documents}, ensure_ascii=False)


def majority(counts: Mapping[str, int], values: Sequence[str]) -> str:
    """Return the commonest of `values`; ties and an empty count go to the first in the schema's order."""
    return max(values, key=lambda value: counts.get(value, 0))


def _drawn(body: Body, key: str, values: Sequence[str], row: Mapping[str, Any]) -> str:
    parts = json.dumps([body["seed"], body["sample"], key, row["actor"], row["belief"], row["id"]])
    return random.Random(hashlib.sha256(parts.encode("utf-8", "replace")).digest()).choice(list(values))


def omniscient_rows(story: str, actors: Sequence[str] | None = None) -> list[tuple[str, str, str]]:
    """Return (actor, belief, order): each sentence of the story as a fact of the world, and as a belief of every
    actor."""
    facts = [
        fact
        for fact in (" ".join(sentence.split()).rstrip(".").replace("|", "/") for sentence in _SENTENCE.split(story))
        if fact
    ]
    people = list(actors) if actors else actors_in(story)
    return [(WORLD, fact, "0") for fact in facts] + [(actor, fact, "1") for actor in people for fact in facts]


def actors_in(story: str) -> list[str]:
    """Return the capitalised names that do not open a sentence, in order of appearance."""
    return list(dict.fromkeys(_NAME.findall(story)))


_LABEL_SAMPLE = {
    "rows": [{"id": 1, "actor": "Ines", "belief": "Three is more than two"}],
    "dimensions": {"truth": ["True", "False"]},
}
BASELINES = (
    Baseline(name="majority", task="label", answer=majority_answer, sample=_LABEL_SAMPLE),
    Baseline(
        name="random",
        task="label",
        answer=random_answer,
        sample=_LABEL_SAMPLE,
        settings=seeded,
        options={"seed": (int,)},
        options_note="seed for random",
    ),
    Baseline(name="omniscient", task="extract", answer=omniscient_answer, sample={"story": "Ines counts to three."}),
)
