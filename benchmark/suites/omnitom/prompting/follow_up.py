"""The question that follows a judgement with gaps: the same conversation, asked for the missing rows alone.

The wording is the product's, whatever prompt set the first question came from; it repeats none of that set's rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmark.suites.omnitom.judge_tables import HEADINGS, belief_csv
from benchmark.suites.omnitom.prompting.answer_schemas import follow_up_schema
from benchmark.suites.omnitom.prompting.rendering import fence, numbered
from core.digests import text_digest
from workers.providers.contract import JsonSchema, Message, Request

Rows = Sequence[Sequence[str]]

LISTS = ('"predictions"', '"gold"')
OPENING = (
    "Some rows have no judgement yet. Judge these rows now, by the same rules, each against the whole of the other "
    "table: its rows above, and those below that were not shown before."
)
CLOSING = {
    "text": (
        "Answer with these rows alone, under the same headings and in the same columns. Give each a MatchCount, "
        "0 where nothing matches."
    ),
    "structured": (
        "Answer in the same JSON form with these ids alone. Give each its list of matches, empty where nothing matches."
    ),
}
DIGEST = text_digest("\n".join([*HEADINGS, *LISTS, OPENING, *CLOSING.values()]))
"""The digest of the wording, for what a run states about itself."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """Both tables of an extraction, rows of actor and belief, and the places of the rows of either that have no
    judgement."""

    predictions: Rows
    gold: Rows
    missing: tuple[Sequence[int], Sequence[int]]

    @property
    def sides(self) -> tuple[tuple[Rows, Sequence[int]], ...]:
        return (self.predictions, self.missing[0]), (self.gold, self.missing[1])


def follow_up_request(first: Request, answer: str, gaps: Gaps, *, answer_format: str) -> Request:
    """`first` and what was answered to it, then the question for the missing rows. An empty answer is not repeated."""
    earlier, question = answer.strip(), _question(gaps, answer_format)
    if earlier:
        messages = (*first.messages, Message("assistant", earlier), Message("user", question))
    else:
        *before, last = first.messages
        messages = (*before, replace(last, content=f"{last.content}\n\n{question}"))
    tables = {"predictions": [list(row[:2]) for row in gaps.predictions], "gold": [list(row[:2]) for row in gaps.gold]}
    sizes = [len(rows) for rows, _ in gaps.sides]
    schema = _schema(gaps.missing, sizes, first) if answer_format == "structured" else None
    return replace(first, messages=messages, schema=schema, task={**first.task, **tables})


def _schema(missing: Sequence[Sequence[int]], sizes: Sequence[int], first: Request) -> JsonSchema:
    """The schema of the missing rows, whose rows have the keys that those of the first question have."""
    schema = follow_up_schema(missing, sizes)
    for name, side in (first.schema or {}).get("properties", {}).items():
        row = schema["properties"][name]["items"]
        row["properties"] = {**side["items"]["properties"], **row["properties"]}
        row["required"] = list(row["properties"])
    return schema


def rows_asked(gaps: Gaps, answer_format: str) -> str:
    """Return the rows that are asked for, as tables under their headings between fences."""
    names = LISTS if answer_format == "structured" else HEADINGS
    tables = [
        (name, _table(rows, missing, answer_format))
        for name, (rows, missing) in zip(names, gaps.sides, strict=True)
        if missing
    ]
    mark = fence(table for _, table in tables)
    return "\n\n".join(f"{name}\n{mark}\n{table.strip()}\n{mark}" for name, table in tables)


def _question(gaps: Gaps, answer_format: str) -> str:
    return "\n\n".join([OPENING, rows_asked(gaps, answer_format), CLOSING[answer_format]])


def _table(rows: Rows, missing: Sequence[int], answer_format: str) -> str:
    if answer_format == "text":
        return belief_csv((rows[at][0], rows[at][1]) for at in missing)
    lines = numbered(rows).split("\n")
    return "\n".join(lines[at] for at in missing)
