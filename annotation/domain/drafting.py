"""Requests for a draft of a story's belief table, and the reading of answers. An expert makes a table of the draft.

An answer is never taken on trust: rows that cannot stand in a table are left out and counted, and an answer of which
nothing is left says why.
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from annotation.domain.drafts import LONGEST
from annotation.domain.schema import ORDERS
from annotation.domain.table_checks import is_named
from annotation.domain.tables import TableRow
from annotation.domain.tasks import STRUCTURED, ExtractionTask
from core.incoming.embedded_json import values_in
from core.messages import Sentence, gettext_noop
from workers.domain.pricing import estimated_tokens
from workers.providers.contract import Message, Request, closed_object

PROMPT = "drafting-1"
MOST_ROWS = 200
"""Rows of one draft; a longer answer is not taken."""
TOKENS_BESIDE, TOKENS_A_TOKEN = 800, 12
"""Room for the answer: a table of thirty rows is about ten times as long as its story."""
_FOLDER = Path(__file__).parent / "prompts"
_FIELDS = ("actor", "belief", "order")
_MINDS = ("the facts of the world", "what an actor holds about the world", "what an actor holds about another mind")
_MANY = 6
"""The order from which on minds are counted rather than named one by one."""
_MARKUP = re.compile(r"</?[A-Za-z!][^<>]*>|&(?:#\d+|#x[0-9a-f]+|[a-z]{2,8});", re.IGNORECASE)
_CONTROLS = {"Cc", "Cf", "Cs"}
NO_OBJECT = gettext_noop("The answer holds no JSON object with rows.")


def drafting_request(*, story: str, orders: Sequence[str] = ORDERS, reasoning_tokens: int = 0) -> Request:
    """Return the request for a draft of one story's table, whose rows can have these `orders`. `reasoning_tokens` is
    what the answer may take in addition to its text."""
    shape = {"rows": [dict.fromkeys(_FIELDS, "…")]}
    question = (
        f"Story:\n{story}\n\nAnswer with one JSON object of this shape, an entry for each row in table order, at most "
        f"{MOST_ROWS}, and nothing else:\n{json.dumps(shape, ensure_ascii=False)}"
    )
    row = closed_object({name: {"type": "string"} for name in _FIELDS})
    return Request(
        messages=(Message("system", _directive(tuple(orders))), Message("user", question)),
        max_tokens=TOKENS_BESIDE + TOKENS_A_TOKEN * estimated_tokens(story) + reasoning_tokens,
        temperature=0.0,
        schema=closed_object({"rows": {"type": "array", "items": row}}),
        task=ExtractionTask(story=story, answer_format=STRUCTURED.name).as_task(),
    )


@cache
def _directive(orders: tuple[str, ...]) -> str:
    """Return the built-in prompt; for other orders than its own with the sentence about these."""
    text = (_FOLDER / PROMPT / "prompt.txt").read_text("utf-8").strip()
    return text.replace(_about(ORDERS), _about(orders))


def _about(orders: Sequence[str]) -> str:
    """Return the sentence of the prompt that says what orders are."""

    def minds(order: int) -> str:
        if order < len(_MINDS):
            return _MINDS[order]
        return "a mind" + " about a mind" * (order - 1) if order < _MANY else f"{order} minds, each about the next"

    meanings = ", ".join(f'"{order}" for {minds(int(order))}' for order in orders)
    return f"The order counts minds: {meanings}."


def read_draft(text: str, story: str, orders: Sequence[str] = ORDERS) -> tuple[tuple[TableRow, ...], str]:
    """Return the rows of an answer about a story that can stand in a table, and a sentence: what was left out, "" if
    nothing was; without any row, why. The last object with rows counts, else a list or lines of objects. An order that
    is none of `orders` is left out."""
    values = values_in(text)
    document = values.object_with("rows")
    answered = document["rows"] if document else values.rows("actor", "belief")
    if not isinstance(answered, list):
        return (), NO_OBJECT
    if not answered:
        return (), gettext_noop("The answer has no rows.")
    if len(answered) > MOST_ROWS:
        sentence = gettext_noop("The answer has {answered} rows; a draft has at most {most_rows}.")
        return (), sentence.format(answered=f"{len(answered):,}", most_rows=MOST_ROWS)
    rows = dict[tuple[str, str], TableRow]()
    for entry in answered:
        given = entry if isinstance(entry, Mapping) else {}
        actor, belief, order = (_text(given.get(name)) for name in _FIELDS)
        row = TableRow(actor, belief, order if order in orders else "")
        if _is_usable(row):
            rows.setdefault(row.key, row)
    problem, strangers = "", sum(not is_named(row.actor, story) for row in rows.values())
    if left_out := len(answered) - len(rows):
        problem = Sentence(
            "Left out: {left_out} of {rows} rows, without an actor or a proposition, too long, with HTML or control "
            "characters, or said before.",
            left_out=left_out, rows=len(answered),
        )  # fmt: skip
    if not rows:
        return (), problem
    if strangers == len(rows):
        return (), gettext_noop("No row names the world or an actor of this story.")
    if strangers:
        named = Sentence("Rows with an actor whom the story does not name: {rows}.", rows=strangers)
        problem = " ".join(filter(None, (problem, named)))
    return tuple(rows.values()), problem


def _text(value: Any) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int) else ""


def _is_usable(row: TableRow) -> bool:
    """Return whether a row can stand in a table."""
    fits = 0 < len(row.actor) <= LONGEST["actor"] and 0 < len(row.belief) <= LONGEST["belief"]
    both = row.actor + row.belief
    return fits and not _MARKUP.search(both) and not any(unicodedata.category(each) in _CONTROLS for each in both)
