"""Answers that were made elsewhere, whatever wrote their file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.messages import Refusal


class BadFile(Refusal):
    """The fault in a file of answers, as one sentence that names the file and the place in it."""


@dataclass(frozen=True, slots=True)
class Record:
    """One answer. `where` says where it stands in the file; `ids` are names that it may be known by, `texts` what the
    record says besides of its question; `turn` counts repetitions from 0; `step` is the key of a step, empty where the
    file does not say.

    `text` is None where the file has no answer, and `problem` says why; `reasoning` is what the file keeps apart from
    the answer. `messages` are what was sent, as far as the file has it, `choices` the options in the order in which
    they were shown; `tokens` (in, out).
    """

    where: str
    ids: Sequence[str]
    text: str | None
    texts: Sequence[str] = ()
    turn: int = 0
    step: str = ""
    problem: str = ""
    messages: Sequence[Mapping[str, str]] = ()
    choices: Sequence[str] = ()
    answered_by: str = ""
    tokens: tuple[int, int] = (0, 0)
    reasoning: str = ""

    @property
    def prompt(self) -> str:
        """All that was sent."""
        return "\n\n".join(message["content"] for message in self.messages)


@dataclass(frozen=True, slots=True)
class Made:
    """The answers of files and what these say of their making: `model` as it is written there, empty where it is not;
    `facts` in words by name. `name` is what the files are called, `digest` their SHA-256, of several that of the list
    of theirs."""

    format: str
    records: Sequence[Record]
    model: str = ""
    tool: str = ""
    version: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    digest: str = ""


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in a value from JSON, however deep they lie."""
    open_values = [value]
    while open_values:
        value = open_values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping | list | tuple):
            open_values += reversed([*value.values()] if isinstance(value, Mapping) else [*value])
