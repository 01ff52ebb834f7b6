"""Answers that were made elsewhere, whatever wrote their file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


class BadFile(ValueError):
    """The fault in a file of answers, as one sentence that names the file and the place in it."""


@dataclass(frozen=True, slots=True)
class Record:
    """One answer. `where` says where it stands in the file; `ids` are names that it may be known by, `texts` what was
    asked, in the forms in which it may be known; `turn` counts repetitions from 0; `step` is the key of a step, empty
    where the file does not say.

    `text` is None where the file has no answer, and `problem` says why. `messages` are what was sent, as far as the
    file has it; `tokens` (in, out).
    """

    where: str
    ids: Sequence[str]
    text: str | None
    texts: Sequence[str] = ()
    turn: int = 0
    step: str = ""
    problem: str = ""
    messages: Sequence[Mapping[str, str]] = ()
    answered_by: str = ""
    tokens: tuple[int, int] = (0, 0)


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
