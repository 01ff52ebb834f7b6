"""Requests to a judge beyond its prompt: that it may say it cannot tell, and to leave out rows that are settled.

The wording is the product's, whatever prompt set the question comes from.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from benchmark.suites.omnitom.prompting.follow_up import CLOSING, Gaps, rows_asked
from core.digests import text_digest
from workers.providers.contract import Request

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
