"""Requests for labels: the prompt, the JSON schema that constrains the answer to the label sets, and the parsing of
answers.

Prompt levels follow the TELeR taxonomy as OmniToM uses it (appendix C): 1 one sentence, 2 a paragraph, 3 stepwise
sub-tasks, 4 criteria, a block by story category, definitions and worked examples besides.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from annotation.domain.schema import Schema
from annotation.domain.shipped_schemas import OMNITOM
from annotation.domain.tasks import LabelTask, Row
from core.incoming.embedded_json import values_in
from core.plain import Json
from workers.providers.contract import Message, Request, closed_object

OMNITOM_PROMPTS, OTHER_PROMPTS = "labelling-1", "labelling-any-1"
LabelledRows = Sequence[tuple[Row, Mapping[str, str]]]
LEVELS = (1, 2, 3, 4)
TOKENS_A_ROW, TOKENS_BESIDE = 90, 400
"""Room for the answer: the seven labels of OmniToM with their keys take some 70 tokens."""
_FOLDER = Path(__file__).parent / "prompts"
HINTS = {
    "Ambiguous Story Task": "Feelings and motives are hinted at by conduct; infer what the signs support and no more.",
    "False Belief Task": (
        "Something is moved, replaced or changed while an actor is away; that actor still holds what was so before."
    ),
    "Faux-pas Recognition Test": (
        "Somebody says what should not be said without knowing it; keep apart what speaker and hearer know."
    ),
    "Hinting Task Test": (
        "Somebody says one thing to have another done; keep apart the words and the intention behind them."
    ),
    "Persuasion Story Task": (
        "Somebody wants to change another's mind; keep apart what is claimed and what the claimant holds."
    ),
    "Scalar Implicature Test": (
        "Words such as some or most say how much is known; keep apart what is said, implied and counted."
    ),
    "Strange Story Task": "Lies, jokes, pretence or irony: what is said may not be what is held.",
}


def labelling_request(
    *,
    story: str,
    category: str,
    rows: Sequence[Row],
    schema: Schema,
    level: int,
    example: tuple[str, LabelledRows] | None = None,
    counts: Mapping[str, Mapping[str, int]] | None = None,
    seed: int | None = None,
    reasoning_tokens: int = 0,
) -> Request:
    """Return one request for all rows of a story. `example` is another story of the same kind with its rows; `counts`
    are label counts by dimension for the majority baseline; `reasoning_tokens` what the answer may take beside its
    text."""
    tokens_a_row = math.ceil(TOKENS_A_ROW * len(schema.keys) / len(OMNITOM.keys))
    return Request(
        messages=(
            Message("system", _directive(level, category, schema, example)),
            Message("user", _question(story, rows, schema)),
        ),
        max_tokens=TOKENS_BESIDE + tokens_a_row * len(rows) + reasoning_tokens,
        temperature=0.0,
        seed=seed,
        schema=answer_schema(rows, schema),
        task=LabelTask(rows=rows, dimensions=schema.labels, counts=counts or {}).as_task(),
    )


def prompts_of(schema: Schema) -> str:
    """Return the version of the prompts that ask for labels of a schema: OmniToM's dimensions have texts of their
    own."""
    return OMNITOM_PROMPTS if schema == OMNITOM else OTHER_PROMPTS


@cache
def _text(prompts: str, level: int) -> str:
    return (_FOLDER / prompts / f"level{level}.txt").read_text("utf-8").strip()


def _level(level: int, schema: Schema) -> str:
    questions = "\n".join(f"  {dimension.key}: {dimension.question}" for dimension in schema.dimensions)
    text = _text(prompts_of(schema), level)
    return text.replace("{dimensions}", str(len(schema.keys))).replace("{questions}", questions)


def _directive(level: int, category: str, schema: Schema, example: tuple[str, LabelledRows] | None) -> str:
    if level != 4:
        return _level(level, schema)
    definitions = "\n".join(
        f"{dimension.key}: " + "; ".join(f"{label.value}: {label.meaning}" for label in dimension.labels)
        for dimension in schema.dimensions
    )
    worked = ""
    if example:
        story, rows = example
        propositions = "\n".join(f"{row.id} | {row.actor} | {row.belief}" for row, _ in rows)
        answered = {str(row.id): {key: labels.get(key, "") for key in schema.keys} for row, labels in rows}
        worked = (
            f"A worked example.\nStory: {story}\nPropositions:\n{propositions}\nAnswer: "
            f"{json.dumps({'rows': answered}, ensure_ascii=False)}"
        )
    values = {
        "{level3}": _level(3, schema),
        "{category_hint}": HINTS.get(category, ""),
        "{category}": category,
        "{definitions}": definitions,
        "{examples}": worked,
    }
    text = _level(4, schema)
    for name, value in values.items():
        text = text.replace(name, value)
    return text.strip()


def _question(story: str, rows: Sequence[Row], schema: Schema) -> str:
    labels = "\n".join(f"{dimension.key}: {' | '.join(dimension.values)}" for dimension in schema.dimensions)
    listed = "\n".join(f"{row.id} | {row.actor} | {row.belief}" for row in rows)
    shape = json.dumps({"rows": {"1": dict.fromkeys(schema.keys, "…")}}, ensure_ascii=False)
    return (
        f"Labels by dimension:\n{labels}\n\nStory:\n{story}\n\nPropositions (number | actor | "
        f"proposition):\n{listed}\n\n"
        f"Answer with one JSON object of this shape, with an entry for each of the {len(rows)} numbers, and "
        f"nothing else:\n{shape}"
    )


def answer_schema(rows: Sequence[Row], schema: Schema) -> Json:
    """Return the JSON schema of an answer: one entry a row number, none left out or added, each label a legal one."""
    labels = {dimension.key: {"type": "string", "enum": list(dimension.values)} for dimension in schema.dimensions}
    numbers = [str(row.id) for row in rows]
    entries = closed_object({number: {"$ref": "#/$defs/labels"} for number in numbers})
    return closed_object({"rows": entries}) | {"$defs": {"labels": closed_object(labels)}}


def read_labels(text: str, rows: Sequence[Row], schema: Schema) -> tuple[dict[int, dict[str, str]], str]:
    """Return the legal labels of an answer by row id and dimension, and what was wrong, "" if nothing was. The last
    object with rows counts. A label that is not legal counts as missing and is never guessed."""
    values = values_in(text)
    document = values.object_with("rows")
    # also an object without `rows` around it, or objects with ids
    given = document["rows"] if document else values.object_with(*(str(row.id) for row in rows)) or values.rows("id")
    if isinstance(given, list):
        given = {str(each.get("id")): each for each in given if isinstance(each, dict)}
    answered = given if isinstance(given, dict) else {}
    labels: dict[int, dict[str, str]] = {}
    for row in rows:
        answer = answered.get(str(row.id))
        answer = answer if isinstance(answer, dict) else {}
        labels[row.id] = {
            key: value for key in schema.keys if schema.is_legal(key, value := str(answer.get(key, "")).strip())
        }
    cells = len(rows) * len(schema.keys)
    missing = cells - sum(map(len, labels.values()))
    if not answered:
        return labels, "The answer holds no JSON object with rows."
    return labels, f"{missing} of {cells} labels are missing or not legal." if missing else ""
