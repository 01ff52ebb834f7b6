"""Reads corpus files line by line into stories: OmniToM records and ToMBench items.

A line that cannot be used becomes a `Problem` with its file, line and one sentence; it stops nothing else. Lines are read
in bounded pieces, so that a 50 MB line costs neither memory nor the process.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_NUMBER = 2**63 - 1
RECORD_FIELDS = ("story_id", "story_category", "story", "beliefs")
BELIEF_FIELDS = ("actor", "belief", "labels")


@dataclass(frozen=True, slots=True)
class Problem:
    file: str
    line: int
    message: str

    def as_dict(self) -> dict:
        return {"file": self.file, "line": self.line, "message": self.message}


@dataclass(slots=True)
class PropositionRow:
    actor: str
    belief: str
    labels: dict[str, str] | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class StoryRow:
    """One story as a file holds it; `number` is None where the format has none. `line` is where it was first seen."""

    file: str
    line: int
    category: str
    text: str
    number: int | None = None
    language: str = "en"
    translations: dict[str, str] = field(default_factory=dict)
    propositions: list[PropositionRow] | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


class BadLine(ValueError):
    """What is wrong with one line, as one sentence."""


def lines_of(handle: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Line numbers and lines; None for a line longer than MAX_LINE_BYTES, which is skipped unread."""
    number = 0
    while chunk := handle.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(chunk) <= MAX_LINE_BYTES:
            yield number, chunk
            continue
        while chunk and not chunk.endswith(b"\n"):
            chunk = handle.readline(MAX_LINE_BYTES)
        yield number, None


def _object(raw: bytes | None) -> dict | None:
    """The JSON object of a line, None for a blank line. Raises BadLine."""
    if raw is None:
        raise BadLine(f"The line is longer than {MAX_LINE_BYTES // 1024 // 1024} MB; expected one JSON object.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadLine(f"The line is not UTF-8 (byte {error.start}); save the file as UTF-8.") from error
    if not text.strip():
        return None
    try:
        value = json.loads(text)  # accepts the bare NaN of ToMBench
    except RecursionError as error:
        raise BadLine("The JSON is nested too deeply.") from error
    except ValueError as error:
        place = f" (column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise BadLine(f"The line is not JSON{place}; expected one JSON object.") from error
    if not isinstance(value, dict):
        raise BadLine(f"The line holds a {type(value).__name__}; expected one JSON object.")
    if "\\u" in text or "\x00" in text:
        _storable(value)
    return value


def _storable(value: Any) -> None:
    """Refuses text that no database can keep: NUL and lone surrogates."""
    text = json.dumps(value, ensure_ascii=False)
    if "\\u0000" in text or "\x00" in text:
        raise BadLine("The line holds a NUL character; remove it.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadLine("The line holds half of a surrogate pair, which is no character; remove it.") from error


def _text(record: dict, name: str, where: str = "") -> str:
    value = record.get(name)
    if not isinstance(value, str):
        found = "is missing" if name not in record else f"is a {type(value).__name__}"
        raise BadLine(f"The field {where}{name} {found}; expected text.")
    return value


def omnitom_row(record: dict, file: str, line: int) -> StoryRow:
    """A record of OmniToM, appendix B.5, every text verbatim. Raises BadLine."""
    number = record.get("story_id")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MAX_NUMBER:
        raise BadLine("The field story_id is not a whole number from 0 to 2^63 - 1.")
    beliefs = record.get("beliefs")
    if not isinstance(beliefs, list):
        raise BadLine("The field beliefs is not a list.")
    text, category = _text(record, "story"), _text(record, "story_category")
    if not text.strip() or not 0 < len(category) <= 120:
        raise BadLine("The story or its category is empty, or the category is longer than 120 characters.")
    extra = {name: value for name, value in record.items() if name not in RECORD_FIELDS}
    rows = [_belief(one, at) for at, one in enumerate(beliefs)]
    return StoryRow(file, line, category, text, number=number, propositions=rows, extra=extra)


def _belief(one: Any, at: int) -> PropositionRow:
    where = f"beliefs[{at}]."
    if not isinstance(one, dict):
        raise BadLine(f"beliefs[{at}] is a {type(one).__name__}; expected an object.")
    labels = one.get("labels", {})
    if not isinstance(labels, dict) or not all(isinstance(value, str) for value in labels.values()):
        raise BadLine(f"The field {where}labels is not an object of texts.")
    extra = {name: value for name, value in one.items() if name not in BELIEF_FIELDS}
    return PropositionRow(_text(one, "actor", where), _text(one, "belief", where), labels, extra)


_STORY = {"en": "STORY", "zh": "故事"}


def tombench_row(record: dict, file: str, line: int, *, language: str, category: str) -> StoryRow:
    """The story of one ToMBench item, in `language`, with the other language as its translation. Raises BadLine."""
    text = _text(record, _STORY[language])
    if not text.strip():
        raise BadLine(f"The field {_STORY[language]} is empty.")
    other = "zh" if language == "en" else "en"
    translation = record.get(_STORY[other])
    translations = {other: translation} if isinstance(translation, str) and translation.strip() else {}
    return StoryRow(file, line, category, text, language=language, translations=translations)


def category_of(file: str) -> str:
    """ToMBench names a file after its task; OmniToM's records use the same names."""
    return Path(file).stem


def read_file(handle: BinaryIO, file: str, *, format: str, language: str) -> Iterator[StoryRow | Problem]:
    """The stories of one file in its order; of ToMBench the first item of each distinct text (identity: exact text)."""
    seen: set[str] = set()
    for line, raw in lines_of(handle):
        try:
            record = _object(raw)
            if record is None:
                continue
            if format == "omnitom":
                yield omnitom_row(record, file, line)
                continue
            row = tombench_row(record, file, line, language=language, category=category_of(file))
        except BadLine as error:
            yield Problem(file, line, str(error))
            continue
        if row.text not in seen:
            seen.add(row.text)
            yield row
