"""Reference points without a model: they need no key and no network, and every table can hold them.

The model's name chooses one: `majority` (the commonest label in `task.counts`), `random` (uniform over the legal labels, seeded), `omniscient`
(extraction: every actor believes every narrated fact, the score of having no theory of mind at all), `lexical-judge` (pairs of propositions
by their wording, see `lexical`).

They read `Request.task`, never the messages:
- label: `kind` "label", `rows` [{id, actor, belief}], `dimensions` {key: [labels]}, `counts` {key: {label: n}}, for the form "text"
  `columns` [key]
- extract: `kind` "extract", `story`, `actors` (optional)
- judge: `kind` "judge", `predictions` and `gold` [[actor, belief], …]

`form` "text" and "structured" say how to answer, as benchmarks ask it: a pipe table, or rows with ids; without it labels come as
{"rows": {id: labels}}, extractions as a pipe table and judgements as two CSV tables.

Options: `threshold` of the lexical judge (0 to 1, default 0.55), `seed`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from workers.backends.contract import Body, Completion, Request, Spec, Stop, Usage
from workers.backends.errors import Rejected
from workers.backends.lexical import RULES, THRESHOLD, align

LEXICAL = "lexical-judge"
MODELS = {"majority": "label", "random": "label", "omniscient": "extract", LEXICAL: "judge"}
WORLD = "world"
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


class BaselineBackend:
    def __init__(self, spec: Spec) -> None:
        if spec.model not in MODELS:
            raise Rejected(f"There is no baseline {spec.model!r}; there are {', '.join(MODELS)}.")
        threshold = spec.options.get("threshold", THRESHOLD)
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
            raise Rejected(f"The option threshold is {threshold!r}; a number from 0 to 1 is expected.")
        self.spec = spec

    def body(self, request: Request) -> Body:
        kind = request.task.get("kind")
        if kind != MODELS[self.spec.model]:
            raise Rejected(
                f"The baseline {self.spec.model} can only {MODELS[self.spec.model]}, not {kind or 'answer freely'}."
            )
        seed = self.spec.options.get("seed", 0) if request.seed is None else request.seed
        extra = {"seed": seed} if self.spec.model == "random" else {}
        if self.spec.model == LEXICAL:
            extra = {"threshold": self._threshold(), "rules": RULES}  # of another version no answer is taken
        return {"model": self.spec.model, "task": dict(request.task), "sample": request.sample, **extra}

    async def complete(self, body: Body, *, timeout: float, call: str) -> Completion:
        return Completion(text=answer(body), stop=Stop.END, usage=Usage(), model=self.spec.model)

    async def aclose(self) -> None:
        pass

    def _threshold(self) -> float:
        return float(self.spec.options.get("threshold", THRESHOLD))


def answer(body: Body) -> str:
    task = body["task"]
    match body["model"]:
        case "majority":
            return _labels(task, lambda key, values, row: majority(task.get("counts", {}).get(key, {}), values))
        case "random":
            return _labels(task, lambda key, values, row: _drawn(body, key, values, row))
        case "omniscient":
            rows = omniscient_rows(task["story"], task.get("actors"))
            return _json_rows(rows) if task.get("form") == "structured" else _pipe_table(_EXTRACTED, rows)
        case _:
            pairs = align(task["predictions"], task["gold"], threshold=body["threshold"])
            written = _matches if task.get("form") == "structured" else _count_tables
            return written(task["predictions"], task["gold"], pairs)


def _labels(task: Mapping[str, Any], choose) -> str:
    chosen = [
        (row, {key: choose(key, values, row) for key, values in task["dimensions"].items()}) for row in task["rows"]
    ]
    match task.get("form"):
        case "text":
            columns = task["columns"]  # an object's keys come back sorted from the ledger
            table = [(row["actor"], row["belief"], *(labels[key] for key in columns)) for row, labels in chosen]
            return _pipe_table(_LABELLED, table)
        case "structured":
            return json.dumps({"rows": [{"id": row["id"], **labels} for row, labels in chosen]}, ensure_ascii=False)
    return json.dumps({"rows": {str(row["id"]): labels for row, labels in chosen}}, ensure_ascii=False)


def _pipe_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *([cell.replace("|", "/") for cell in row] for row in rows)]
    return "\n".join(" | ".join(line) for line in lines)


def _json_rows(rows: Sequence[Sequence[str]]) -> str:
    told = [dict(zip(("actor", "belief", "order"), row, strict=True)) for row in rows]
    return json.dumps({"rows": told}, ensure_ascii=False)


def majority(counts: Mapping[str, int], values: Sequence[str]) -> str:
    """The commonest of `values`; ties and an empty count go to the first in the schema's order."""
    return max(values, key=lambda value: counts.get(value, 0))


def _drawn(body: Body, key: str, values: Sequence[str], row: Mapping[str, Any]) -> str:
    parts = json.dumps([body["seed"], body["sample"], key, row["actor"], row["belief"], row["id"]])
    return random.Random(hashlib.sha256(parts.encode("utf-8", "replace")).digest()).choice(list(values))


def omniscient_rows(story: str, actors: Sequence[str] | None = None) -> list[tuple[str, str, str]]:
    """(actor, belief, order): each sentence of the story as a fact of the world, and as a belief of every actor."""
    facts = [
        fact for fact in (" ".join(one.split()).rstrip(".").replace("|", "/") for one in _SENTENCE.split(story)) if fact
    ]
    people = list(actors) if actors else actors_in(story)
    return [(WORLD, fact, "0") for fact in facts] + [(actor, fact, "1") for actor in people for fact in facts]


def actors_in(story: str) -> list[str]:
    """Capitalised names that do not open a sentence, in order of appearance."""
    return list(dict.fromkeys(_NAME.findall(story)))


def _count_tables(predictions: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], pairs) -> str:
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


def _matches(predictions: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], pairs) -> str:
    """Ids of the matching rows on the other side, by row; ids count from 1."""
    sides = {}
    for side, (name, rows) in enumerate((("predictions", predictions), ("gold", gold))):
        found = {pair[side]: pair[1 - side] + 1 for pair in pairs}
        sides[name] = [{"id": at + 1, "matches": [found[at]] if at in found else []} for at in range(len(rows))]
    return json.dumps(sides)
