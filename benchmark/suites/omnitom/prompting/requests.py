"""Requests for the three steps, made from a prompt set.

What is the same for many stories comes first (directive, format, examples of the category), the story after it, so that
providers can reuse what they have read. Free text carries no schema. `Request.task` says the same as data for
baselines and scripted functions (workers/providers/baseline/baseline.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from annotation.domain.schema import Dimension, Schema
from annotation.domain.tasks import ExtractionTask, LabelTask, Row
from benchmark.suites.omnitom.data import (
    EXTRACT,
    JUDGE,
    LABEL,
    GoldRow,
    Record,
    belief_table,
    extraction_header,
    label_header,
)
from benchmark.suites.omnitom.labels import ORDER, SCHEMA, Scheme, scheme_of
from benchmark.suites.omnitom.parsing.official import HEADINGS, JUDGED_COLUMNS, belief_csv, gold_csv, predictions_csv
from benchmark.suites.omnitom.prompting.examples import Example, check_count, ideal_answer
from benchmark.suites.omnitom.prompting.sets import PromptSet, built_in_for, fill
from benchmark.suites.prompt_sets import BadPromptSet
from core.digests import text_digest
from judge.domain.text import normalise_space
from workers.providers.contract import JsonSchema, Message, Request, closed_object

FENCE = "====="


def fence(data: Iterable[str]) -> str:
    """A line that occurs nowhere in `data`, so that no text can end its own fence; a digest of them where it has to
    be."""
    data = list(data)
    fence = FENCE
    while any(fence in text for text in data):
        digest = text_digest("\0".join([fence, *data]))
        fence = f"{FENCE} {digest[:12]} {FENCE}"
    return fence


def columns(step: str, answer_format: str, schema: Schema) -> str:
    """Return what the columns, or keys, of the answer are called."""
    scheme = scheme_of(schema)
    if answer_format == "text":
        headers = {EXTRACT: extraction_header(scheme), LABEL: label_header(scheme)}
        return " | ".join(headers[step]) if step in headers else ",".join(JUDGED_COLUMNS)
    extracted = ("actor", "belief", *([ORDER] if scheme.ordered else []))
    names = {EXTRACT: extracted, LABEL: schema.keys, JUDGE: ("id", "matches")}
    return ", ".join(names[step])


def label_lists(schema: Schema, answer_format: str) -> str:
    return "\n".join(
        f"{_named(dimension, schema, answer_format)}: {', '.join(dimension.values)}" for dimension in schema.dimensions
    )


def definitions(schema: Schema, answer_format: str) -> str:
    """A line for each dimension: its question, and what each label means."""
    return "\n".join(_defined(dimension, schema, answer_format) for dimension in schema.dimensions)


def _defined(dimension: Dimension, schema: Schema, answer_format: str) -> str:
    meanings = " ".join(f"{label.value}: {label.meaning}" for label in dimension.labels)
    return f"- {_named(dimension, schema, answer_format)}: {dimension.question} {meanings}"


def order_cell(schema: Schema, answer_format: str) -> str | None:
    """Return what follows the statement in the description of an extracted row: the labels of its order; None by a
    schema without."""
    if ORDER not in schema:
        return None
    return f", and {_named(schema[ORDER], schema, answer_format)}: {' or '.join(schema[ORDER].values)}"


def order_definition(schema: Schema, answer_format: str) -> str | None:
    return _defined(schema[ORDER], schema, answer_format) if ORDER in schema else None


def _named(dimension: Dimension, schema: Schema, answer_format: str) -> str:
    """Dimensions are called as the answer's columns are."""
    return dimension.key if answer_format == "structured" else scheme_of(schema).names[dimension.key]


def numbered(rows: Iterable[Sequence[str]]) -> str:
    """A JSON object with an id for each row (actor, belief), one to a line; ids count from 1."""
    return "\n".join(
        json.dumps({"id": at, "actor": row[0], "belief": row[1]}, ensure_ascii=False) for at, row in enumerate(rows, 1)
    )


def propositions(rows: Sequence[GoldRow], answer_format: str) -> str:
    """The rows that are to be labelled; in text the bytes that the released runner shows."""
    if answer_format == "text":
        return belief_table(Record(0, "", "", tuple(rows)))
    return numbered(plain(rows))


def predictions_table(rows: Iterable[Sequence[str]], answer_format: str) -> str:
    """Predicted rows for the judge; in text the bytes that the released runner shows."""
    pairs = [(row[0], row[1]) for row in rows]
    if answer_format == "text":
        return predictions_csv(pairs)
    return numbered([normalise_space(cell) for cell in pair] for pair in pairs)


def gold_table(rows: Sequence[GoldRow], answer_format: str) -> str:
    """Gold rows for the judge; in text the bytes that the released runner shows."""
    return gold_csv(row.as_told for row in rows) if answer_format == "text" else numbered(plain(rows))


def plain(rows: Iterable[GoldRow]) -> list[list[str]]:
    """Return [actor, belief] of the rows that are shown, their ids counting from 1."""
    return [[row.actor, row.belief] for row in rows if row.is_shown]


def example_data(example: Example, step: str, answer_format: str) -> dict[str, str | None]:
    """Values for the placeholders of an example, but for its number and the fence."""
    values: dict[str, str | None] = {
        "story": example.record.story.strip(),
        "answer": ideal_answer(example, step, answer_format),
    }
    if step == LABEL:
        values["belief_table"] = propositions(example.record.rows, answer_format)
    if step == JUDGE:
        values["predictions"] = predictions_table(example.judged.rows, answer_format)
        values["gold"] = gold_table(example.record.rows, answer_format)
    return values


def example_blocks(template: str, data: Sequence[Mapping[str, str | None]], mark: str) -> str | None:
    """The examples below each other, None without any."""
    filled = [fill(template, {**values, "number": str(at), "fence": mark}) for at, values in enumerate(data, 1)]
    return "\n\n".join(filled) or None


MOST_IDS = 500
"""Providers limit how many values a schema may list; beyond, an id is any whole number and the parse checks it."""


def extraction_schema(schema: Schema) -> JsonSchema:
    """Return {"rows": [{"actor", "belief", "order"}]}, without an order for a schema that has none."""
    text = {"type": "string"}
    order = {"order": _one_of(schema["order"].values)} if "order" in schema else {}
    return closed_object({"rows": _list(closed_object({"actor": text, "belief": text, **order}))})


def labelling_schema(rows: int, schema: Schema) -> JsonSchema:
    """Return {"rows": [{"id", <dimension>: label, …}]} for ids 1 to `rows`."""
    labels = {dimension.key: _one_of(dimension.values) for dimension in schema.dimensions}
    return closed_object({"rows": _list(closed_object({"id": _id(rows, rows), **labels}))})


def judging_schema(predictions: int, gold: int) -> JsonSchema:
    """Return {"predictions": [{"id", "matches": [gold ids]}], "gold": [{"id", "matches": [prediction ids]}]}."""
    ids = {"prediction": predictions, "gold": gold}
    named = {name: {"$ref": f"#/$defs/{name}"} for name in ids}
    sides = {
        "predictions": _list(closed_object({"id": named["prediction"], "matches": _list(named["gold"])})),
        "gold": _list(closed_object({"id": named["gold"], "matches": _list(named["prediction"])})),
    }
    return closed_object(sides) | {"$defs": {name: _id(count, predictions + gold) for name, count in ids.items()}}


def follow_up_schema(missing: Sequence[Sequence[int]], sizes: Sequence[int]) -> JsonSchema:
    """`judging_schema` for the rows at the places `missing` of either side, with matches among all rows of the other
    side."""
    schema = judging_schema(*sizes)
    for name, places in zip(("predictions", "gold"), missing, strict=True):
        row = schema["properties"][name]["items"]["properties"]
        if places and len(places) <= MOST_IDS:
            row["id"] = {"type": "integer", "enum": [at + 1 for at in places]}
    return schema


def _id(count: int, listed: int) -> JsonSchema:
    integer: JsonSchema = {"type": "integer"}
    return integer | {"enum": list(range(1, count + 1))} if count and listed <= MOST_IDS else integer


def _one_of(values: tuple[str, ...]) -> JsonSchema:
    return {"type": "string", "enum": list(values)}


def _list(items: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": items}


MAX_TOKENS = 6000
"""The most tokens of an answer, as published."""
TEMPERATURE = 0.0


@dataclass(frozen=True, slots=True)
class _Asked:
    """The parameters of a request at any step."""

    step: str
    category: str
    level: int
    answer_format: str
    schema: Schema
    prompt_set: PromptSet | None
    examples: Sequence[Example]

    def messages(self, **data: str | None) -> tuple[Message, ...]:
        """The data by placeholder, None for what is not to be shown. Raises BadPromptSet, ValueError."""
        check_count(len(self.examples))
        prompts = self.prompt_set or built_in_for(self.schema)
        template = prompts.template(self.step, self.level, self.answer_format)
        self._refuse_unplaced(prompts, with_story=data["story"] is not None)
        messages = template.filled(self._values(prompts, data))
        parts = (("system", messages.system), ("user", messages.user))
        return tuple(Message(role, text) for role, text in parts if text)

    def _refuse_unplaced(self, prompts: PromptSet, *, with_story: bool) -> None:
        """Refuse what was asked for and would not be shown: it is never left out in silence."""
        for needed, place, what in ((self.examples, "examples", "examples"), (with_story, "story", "the story")):
            if needed and not prompts.has_place(self.step, self.level, place, self.answer_format):
                raise BadPromptSet(
                    f"The prompt {self.step}-level{self.level} of {prompts.name} has no place for {what}."
                )

    def _values(self, prompts: PromptSet, data: Mapping[str, str | None]) -> dict[str, str | None]:
        blocks = [example_data(example, self.step, self.answer_format) for example in self.examples]
        if data["story"] is None:
            blocks = [block | {"story": None} for block in blocks]
        mark = fence(text for values in (data, *blocks) for text in values.values() if text)
        return {
            **data,
            "fence": mark,
            "columns": columns(self.step, self.answer_format, self.schema),
            "labels": label_lists(self.schema, self.answer_format),
            "definitions": definitions(self.schema, self.answer_format),
            "order": order_cell(self.schema, self.answer_format),
            "order_definition": order_definition(self.schema, self.answer_format),
            "category_block": prompts.category_block(self.step, self.category),
            "examples": example_blocks(prompts.examples[self.step], blocks, mark),
        }


def extraction_request(
    *,
    story: str,
    category: str,
    level: int,
    answer_format: str = "text",
    schema: Schema = SCHEMA,
    prompt_set: PromptSet | None = None,
    examples: Sequence[Example] = (),
    max_tokens: int = MAX_TOKENS,
    seed: int | None = None,
) -> Request:
    """Return the request for the propositions of a story. Without a `prompt_set` it is the built-in one. Raises
    BadPromptSet, ValueError."""
    prompt = _Asked(EXTRACT, category, level, answer_format, schema, prompt_set, examples)
    return Request(
        messages=prompt.messages(story=story.strip()),
        max_tokens=max_tokens,
        temperature=TEMPERATURE,
        seed=seed,
        schema=extraction_schema(schema) if answer_format == "structured" else None,
        task=ExtractionTask(
            story=story, answer_format=answer_format, header=_head(schema, extraction_header)
        ).as_task(),
    )


def labelling_request(
    *,
    story: str,
    category: str,
    rows: Sequence[GoldRow],
    level: int,
    answer_format: str = "text",
    schema: Schema = SCHEMA,
    prompt_set: PromptSet | None = None,
    examples: Sequence[Example] = (),
    counts: Mapping[str, Mapping[str, int]] | None = None,
    max_tokens: int = MAX_TOKENS,
    seed: int | None = None,
) -> Request:
    """Return the request for a label in each dimension of each gold row; rows without an actor or a belief are not
    shown and have no id.

    `counts` are label counts by dimension, for the majority baseline. Raises BadPromptSet, ValueError.
    """
    prompt = _Asked(LABEL, category, level, answer_format, schema, prompt_set, examples)
    plain_rows = plain(rows)
    return Request(
        messages=prompt.messages(story=story.strip(), belief_table=propositions(rows, answer_format)),
        max_tokens=max_tokens,
        temperature=TEMPERATURE,
        seed=seed,
        schema=labelling_schema(len(plain_rows), schema) if answer_format == "structured" else None,
        task=LabelTask(
            answer_format=answer_format,
            rows=[Row(at, row[0], row[1]) for at, row in enumerate(plain_rows, 1)],
            dimensions=schema.labels,
            columns=schema.keys,
            counts=counts or {},
            header=_head(schema, label_header),
        ).as_task(),
    )


def judging_request(
    *,
    story: str,
    category: str,
    predictions: Sequence[Sequence[str]],
    gold: Sequence[GoldRow],
    level: int,
    answer_format: str = "text",
    schema: Schema = SCHEMA,
    prompt_set: PromptSet | None = None,
    examples: Sequence[Example] = (),
    with_story: bool = True,
    max_tokens: int = MAX_TOKENS,
    seed: int | None = None,
) -> Request:
    """Return the request for how many rows of the other table each row matches.

    `predictions` are rows that begin with actor and belief: those of official parsing, empty ones included, or those of
    the repaired parse; ids name their places. Raises BadPromptSet, ValueError.
    """
    prompt = _Asked(JUDGE, category, level, answer_format, schema, prompt_set, examples)
    predicted = [[normalise_space(row[0]), normalise_space(row[1])] for row in predictions]
    gold_rows = plain(gold)
    return Request(
        messages=prompt.messages(
            story=story.strip() if with_story else None,
            predictions=predictions_table(predictions, answer_format),
            gold=gold_table(gold, answer_format),
        ),
        max_tokens=max_tokens,
        temperature=TEMPERATURE,
        seed=seed,
        schema=judging_schema(len(predicted), len(gold_rows)) if answer_format == "structured" else None,
        task={"kind": JUDGE, "answer_format": answer_format, "predictions": predicted, "gold": gold_rows},
    )


def _head(schema: Schema, header: Callable[[Scheme], tuple[str, ...]]) -> tuple[str, ...]:
    """Return what baselines head their tables with, where that is not as OmniToM has it, else nothing."""
    scheme = scheme_of(schema)
    return () if scheme.official else header(scheme)


REQUESTS: Mapping[str, Callable[..., Request]] = {
    EXTRACT: extraction_request,
    LABEL: labelling_request,
    JUDGE: judging_request,
}


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


CANNOT_TELL = (
    "Give every row one more key, cannot_tell: true where what you are given does not let you tell which rows it "
    "matches, and then an empty list of matches; false everywhere else."
)
SETTLED = (
    "Some rows need no judgement, as both tables have them in the same words. Judge these rows alone, each against the "
    "whole of the other table."
)
ALL_SETTLED = "Every row was settled by rule; nobody was asked."
"""The answer of a story whose rows are all settled."""
WORDINGS: Mapping[str, str] = {
    name: text_digest(text)
    for name, text in (("cannot_tell", CANNOT_TELL), ("settled", "\n".join([SETTLED, *CLOSING.values()])))
}
"""Digests of the wording, for what a judge is told beyond its prompt."""


def allow_cannot_tell(request: Request) -> Request:
    """Return a structured question about two tables that takes "cannot tell" for an answer."""
    schema = deepcopy(dict(request.schema or {}))
    for side in schema.get("properties", {}).values():
        _add_flag(side["items"])
    return replace(_asking(request, CANNOT_TELL), schema=schema)


def _add_flag(row: dict[str, Any]) -> None:
    row["properties"]["cannot_tell"] = {"type": "boolean"}
    row["required"] = list(row["properties"])


def only_these(request: Request, asked: Gaps, *, answer_format: str) -> Request:
    """Return the question for some rows of either table alone, each judged against the whole of the other."""
    prompt = "\n\n".join([SETTLED, rows_asked(asked, answer_format), CLOSING[answer_format]])
    return _asking(request, prompt)


def _asking(request: Request, sentence: str) -> Request:
    """Return the request with a paragraph more at its end; a request without messages has no reader."""
    if not request.messages:
        return request
    *before, last = request.messages
    return replace(request, messages=(*before, replace(last, content=f"{last.content}\n\n{sentence}")))
