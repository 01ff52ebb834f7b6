"""Requests for the steps, made from a prompt set.

What is the same for many stories comes first (directive, format, examples of the category), the story after it, so that
providers can reuse what they have read. Free text carries no schema. `Request.task` holds the same as data for
baselines and scripted functions (workers/providers/baseline/baseline.py). Schemas use the subset that strict modes
take: all required, nothing additional.

Follow-ups, "cannot tell" and settled rows have the product's own wording, whatever prompt set the question comes from.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

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
from benchmark.suites.omnitom.prompting.sets import NAMES, NAMES_OF_ANY, PromptSet, built_in, fill
from benchmark.suites.prompt_sets import BadPromptSet
from core.digests import text_digest
from core.plain import Json
from judge.domain.text import normalise_space
from workers.providers.contract import JsonSchema, Message, Request, closed_object

MAX_TOKENS = 6000
"""The most tokens of an answer, as published."""
TEMPERATURE = 0.0
MOST_IDS = 500
"""Providers limit how many values a schema may list; beyond, an id is any whole number and the parse checks it."""
FENCE = "====="
Rows = Sequence[Sequence[str]]
"""Rows that begin with actor and belief."""
Places = tuple[Sequence[int], Sequence[int]]
"""Places of predicted and of gold rows."""


# --- texts for the placeholders


def fence(data: Iterable[str]) -> str:
    """Return a line that occurs nowhere in `data`, so that no text can end its own fence."""
    texts = list(data)
    mark = FENCE
    while any(mark in text for text in texts):
        digest = text_digest("\0".join([mark, *texts]))
        mark = f"{FENCE} {digest[:12]} {FENCE}"
    return mark


def _label_texts(schema: Schema, answer_format: str) -> dict[str, str | None]:
    """Return the closed label sets, and what they mean. Dimensions have the names of the answer's columns; texts about
    the order are None for a schema without."""
    names = {key: key for key in schema.keys} if answer_format == "structured" else scheme_of(schema).names

    def defined(dimension: Dimension) -> str:
        meanings = " ".join(f"{label.value}: {label.meaning}" for label in dimension.labels)
        return f"- {names[dimension.key]}: {dimension.question} {meanings}"

    return {
        "labels": "\n".join(f"{names[one.key]}: {', '.join(one.values)}" for one in schema.dimensions),
        "definitions": "\n".join(map(defined, schema.dimensions)),
        "order": f", and {names[ORDER]}: {' or '.join(schema[ORDER].values)}" if ORDER in schema else None,
        "order_definition": defined(schema[ORDER]) if ORDER in schema else None,
    }


def plain(rows: Iterable[GoldRow]) -> list[list[str]]:
    """Return [actor, belief] of the rows that are shown, whose ids count from 1."""
    return [[row.actor, row.belief] for row in rows if row.is_shown]


def _numbered(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a JSON object with an id for each row; ids count from 1."""
    return [
        json.dumps({"id": at, "actor": row[0], "belief": row[1]}, ensure_ascii=False) for at, row in enumerate(rows, 1)
    ]


def _data(
    step: str, story: str, rows: Sequence[GoldRow], predictions: Iterable[Sequence[str]], answer_format: str
) -> dict[str, str | None]:
    """Return the texts of a story's placeholders; in text the bytes that the released runner shows."""
    values: dict[str, str | None] = {"story": story.strip()}
    pairs, is_text = [(row[0], row[1]) for row in predictions], answer_format == "text"
    gold = "" if is_text else "\n".join(_numbered(plain(rows)))
    if step == LABEL:
        values["belief_table"] = belief_table(Record(0, "", "", tuple(rows))) if is_text else gold
    if step == JUDGE and is_text:
        values |= {"predictions": predictions_csv(pairs), "gold": gold_csv(row.as_told for row in rows)}
    elif step == JUDGE:
        predicted = _numbered([normalise_space(cell) for cell in pair] for pair in pairs)
        values |= {"predictions": "\n".join(predicted), "gold": gold}
    return values


# --- schemas of answers


def labelling_schema(rows: int, schema: Schema) -> JsonSchema:
    """Return {"rows": [{"id", <dimension>: label, …}]} for ids 1 to `rows`."""
    labels = {dimension.key: _one_of(dimension.values) for dimension in schema.dimensions}
    return closed_object({"rows": _list({"id": _id(rows, rows), **labels})})


def judging_schema(predictions: int, gold: int) -> JsonSchema:
    """Return {"predictions": [{"id", "matches": [gold ids]}], "gold": [{"id", "matches": [prediction ids]}]}."""
    ids = {"prediction": predictions, "gold": gold}
    mine, theirs = ({"$ref": f"#/$defs/{name}"} for name in ids)
    sides = {
        name: _list({"id": own, "matches": {"type": "array", "items": other}})
        for name, own, other in (("predictions", mine, theirs), ("gold", theirs, mine))
    }
    return closed_object(sides) | {"$defs": {name: _id(count, predictions + gold) for name, count in ids.items()}}


def _id(count: int, listed: int) -> JsonSchema:
    integer: JsonSchema = {"type": "integer"}
    return integer | {"enum": list(range(1, count + 1))} if count and listed <= MOST_IDS else integer


def _one_of(values: tuple[str, ...]) -> JsonSchema:
    return {"type": "string", "enum": list(values)}


def _list(fields: Json) -> JsonSchema:
    return {"type": "array", "items": closed_object(fields)}


# --- requests of the three steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The parameters of a request.

    `rows` are the gold rows to be labelled or matched; those without an actor or a belief are not shown and have no id.
    `predictions` are rows of official parsing, empty ones included, or of the repaired one; ids name their places.
    `counts` are label counts by dimension for the majority baseline. Without a `prompt_set` it is the built-in one.
    """

    step: str
    story: str
    category: str
    level: int
    rows: Sequence[GoldRow] = ()
    predictions: Rows = ()
    with_story: bool = True
    answer_format: str = "text"
    schema: Schema = SCHEMA
    prompt_set: PromptSet | None = None
    examples: Sequence[Example] = ()
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    max_tokens: int = MAX_TOKENS
    seed: int | None = None

    def request(self) -> Request:
        """Return the request. Raises BadPromptSet, ValueError."""
        schema, task = self._schema_and_task()
        check_count(len(self.examples))
        names = NAMES if scheme_of(self.schema).official else NAMES_OF_ANY
        prompts, shows_story = self.prompt_set or built_in(names[-1]), self.step != JUDGE or self.with_story
        template = prompts.template(self.step, self.level, self.answer_format)
        for needed, place, what in ((self.examples, "examples", "examples"), (shows_story, "story", "the story")):
            if needed and place not in template.placeholders:  # it is never left out in silence
                raise BadPromptSet(
                    f"The prompt {self.step}-level{self.level} of {prompts.name} has no place for {what}."
                )
        values = self._values(prompts, shows_story=shows_story)
        parts = (("system", fill(template.system, values)), ("user", fill(template.user, values)))
        return Request(
            messages=tuple(Message(role, text) for role, text in parts if text),
            max_tokens=self.max_tokens,
            temperature=TEMPERATURE,
            seed=self.seed,
            schema=schema if self.answer_format == "structured" else None,
            task=task,
        )

    def _schema_and_task(self) -> tuple[JsonSchema, Json]:
        how, rows = {"answer_format": self.answer_format}, plain(self.rows)
        if self.step == EXTRACT:
            extraction = ExtractionTask(story=self.story, header=self._head(extraction_header), **how)
            text = {"type": "string"}
            order = {ORDER: _one_of(self.schema[ORDER].values)} if ORDER in self.schema else {}
            schema = closed_object({"rows": _list({"actor": text, "belief": text, **order})})
            return schema, dict(extraction.as_task())
        if self.step == LABEL:
            labelling = LabelTask(
                rows=[Row(at, row[0], row[1]) for at, row in enumerate(rows, 1)],
                dimensions=self.schema.labels,
                columns=self.schema.keys,
                counts=self.counts,
                header=self._head(label_header),
                **how,
            )
            return labelling_schema(len(rows), self.schema), dict(labelling.as_task())
        predicted = [[normalise_space(row[0]), normalise_space(row[1])] for row in self.predictions]
        task = {"kind": JUDGE, **how, "predictions": predicted, "gold": rows}
        return judging_schema(len(predicted), len(rows)), task

    def _head(self, header: Callable[[Scheme], tuple[str, ...]]) -> tuple[str, ...]:
        """Return the header of a baseline's table; OmniToM's own is its default."""
        scheme = scheme_of(self.schema)
        return () if scheme.official else header(scheme)

    def _values(self, prompts: PromptSet, *, shows_story: bool) -> dict[str, str | None]:
        """Return the text of each placeholder, None for what is not shown."""
        step, answer_format = self.step, self.answer_format
        blocks = [_data(step, self.story, self.rows, self.predictions, answer_format)]
        for example in self.examples:
            record, predicted = example.record, example.predicted
            answer: dict[str, str | None] = {"answer": ideal_answer(example, step, answer_format)}
            blocks.append(_data(step, record.story, record.rows, predicted, answer_format) | answer)
        if not shows_story:
            blocks = [block | {"story": None} for block in blocks]
        mark = fence(text for block in blocks for text in block.values() if text)
        scheme, is_text = scheme_of(self.schema), answer_format == "text"
        extracted = ("actor", "belief", *([ORDER] if scheme.ordered else []))
        if step == JUDGE:
            columns = ",".join(JUDGED_COLUMNS) if is_text else "id, matches"
        elif is_text:
            columns = " | ".join(extraction_header(scheme) if step == EXTRACT else label_header(scheme))
        else:
            columns = ", ".join(extracted if step == EXTRACT else scheme.keys)
        examples = [
            fill(prompts.examples[step], {**block, "number": str(at), "fence": mark})
            for at, block in enumerate(blocks[1:], 1)
        ]
        return {
            **blocks[0],
            "fence": mark,
            "columns": columns,
            **_label_texts(self.schema, answer_format),
            "category_block": prompts.category_block(step, self.category),
            "examples": "\n\n".join(examples) or None,
        }


# --- questions about some rows, and judges that may not tell

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
DIGEST = text_digest("\n".join([*HEADINGS, *LISTS, OPENING, *CLOSING.values()]))
"""The digest of the follow-up's wording, which a run states about itself."""
WORDINGS = {"cannot_tell": text_digest(CANNOT_TELL), "settled": text_digest("\n".join([SETTLED, *CLOSING.values()]))}
"""Digests of what a judge is told beyond its prompt."""


def rows_question(opening: str, tables: tuple[Rows, Rows], places: Places, answer_format: str) -> str:
    """Return the question for rows, which stand as tables under their headings between fences."""
    texts = []
    for heading, name, rows, asked in zip(HEADINGS, LISTS, tables, places, strict=True):
        if asked and answer_format == "text":
            texts.append((heading, belief_csv((rows[at][0], rows[at][1]) for at in asked)))
        elif asked:
            lines = _numbered(rows)
            texts.append((name, "\n".join(lines[at] for at in asked)))
    mark = fence(text for _, text in texts)
    blocks = [f"{name}\n{mark}\n{text.strip()}\n{mark}" for name, text in texts]
    return "\n\n".join([opening, *blocks, CLOSING[answer_format]])


def asking_also(request: Request, sentence: str) -> Request:
    """Return the request with one more paragraph at its end; a request without messages has no reader."""
    if not request.messages:
        return request
    *before, last = request.messages
    return replace(request, messages=(*before, replace(last, content=f"{last.content}\n\n{sentence}")))
