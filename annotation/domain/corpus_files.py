"""Reads corpus files (`formats.CorpusFormat`) line by line into stories.

A line that cannot be used becomes a `Problem` with its file, line and one sentence; it stops nothing else. Lines are read
in bounded pieces, so that a 50 MB line costs neither memory nor the process.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from annotation.domain.duplicates import first_duplicate
from annotation.domain.formats import RECORDS, CorpusFormat
from annotation.domain.problems import Problem
from annotation.domain.records import belief_layout, fingerprint, record_layout, too_deep

MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_STORY_LENGTH = 200_000
MAX_PROPOSITIONS = 2_000
MAX_NUMBER = 2**63 - 1
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_OTHER_UNICODE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


@dataclass(slots=True)
class PropositionRow:
    """`layout` is described in `records`; `labels` is None where the record has none."""

    actor: str
    belief: str
    labels: dict[str, str] | None = None
    layout: str = ""


@dataclass(slots=True)
class StoryRow:
    """One story as a file holds it; `number` is None where the format has none. `line` is where it was first seen.

    `fingerprint` and `layout` are those of its record (see `records`).
    """

    file: str
    line: int
    category: str
    text: str
    number: int | None = None
    language: str = "en"
    translations: dict[str, str] = field(default_factory=dict)
    propositions: list[PropositionRow] | None = None
    fingerprint: str = ""
    layout: str = ""

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


def _object(raw: bytes | None) -> dict[str, Any] | None:
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
        value = _DECODER.decode(text)  # accepts the bare NaN of ToMBench
    except RecursionError as error:
        raise BadLine("The JSON is nested too deeply.") from error
    except BadLine:
        raise
    except ValueError as error:
        place = f" (column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise BadLine(f"The line is not JSON{place}; expected one JSON object.") from error
    if not isinstance(value, dict):
        raise BadLine("The line is JSON, but no object; expected one JSON object.")
    if too_deep(value):
        raise BadLine("The JSON is nested too deeply.")
    if "\\u" in text:
        _storable(value)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = first_duplicate(name for name, _ in pairs) or ""
        raise BadLine(f"The field {twice[:60]} occurs twice in one object.")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)
"""Made once: json.loads makes one a line, which for short lines is most of the work."""


def _storable(value: Any) -> None:
    """Refuses text that no database can keep: NUL and lone surrogates."""
    text = json.dumps(value, ensure_ascii=False)
    if _NUL.search(text):
        raise BadLine("The line holds a NUL character; remove it.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadLine("The line holds half of a surrogate pair, which is no character; remove it.") from error


def _text(record: dict[str, Any], name: str, where: str = "") -> str:
    value = record.get(name)
    if not isinstance(value, str):
        found = "is missing" if name not in record else f"is a {type(value).__name__}"
        raise BadLine(f"The field {where}{name} {found}; expected text.")
    return value


def story_of_record(record: dict[str, Any], file: str, line: int, keys: Sequence[str]) -> StoryRow:
    """A record (OmniToM, appendix B.5), every text verbatim; `keys` are the dimensions of the project. Raises BadLine."""
    number = record.get("story_id")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MAX_NUMBER:
        raise BadLine("The field story_id is not a whole number from 0 to 2^63 - 1.")
    beliefs = record.get("beliefs")
    if not isinstance(beliefs, list):
        raise BadLine("The field beliefs is not a list.")
    if len(beliefs) > MAX_PROPOSITIONS:
        raise BadLine(f"The story has {len(beliefs)} propositions; expected at most {MAX_PROPOSITIONS}.")
    text, category = _story_text(record, "story"), _text(record, "story_category")
    if not 0 < len(category) <= 120:
        raise BadLine("The field story_category is empty or longer than 120 characters.")
    rows = [_belief(one, at, keys) for at, one in enumerate(beliefs)]
    return StoryRow(
        file,
        line,
        category,
        text,
        number=number,
        propositions=rows,
        fingerprint=fingerprint(record),
        layout=record_layout(record),
    )


def _story_text(record: dict[str, Any], name: str) -> str:
    text = _text(record, name)
    if not text.strip():
        raise BadLine(f"The field {name} is empty; expected a story.")
    if len(text) > MAX_STORY_LENGTH:
        raise BadLine(f"The story has {len(text)} characters; expected at most {MAX_STORY_LENGTH}.")
    return text


def _belief(one: Any, at: int, keys: Sequence[str]) -> PropositionRow:
    where = f"beliefs[{at}]."
    if not isinstance(one, dict):
        raise BadLine(f"beliefs[{at}] is a {type(one).__name__}; expected an object.")
    labels = one.get("labels")
    wrong = not isinstance(labels, dict) or not all(isinstance(value, str) for value in labels.values())
    if "labels" in one and wrong:
        raise BadLine(f"The field {where}labels is not an object of texts.")
    layout = belief_layout(one, keys)
    return PropositionRow(_text(one, "actor", where), _text(one, "belief", where), labels, layout)


_STORY = {"en": "STORY", "zh": "故事"}


def story_of_question(record: dict[str, Any], file: str, line: int, *, language: str, category: str) -> StoryRow:
    """The story of one ToMBench item, in `language`, with the other language as its translation. Raises BadLine."""
    text = _story_text(record, _STORY[language])
    other = "zh" if language == "en" else "en"
    translation = record.get(_STORY[other])
    translations = {other: translation} if isinstance(translation, str) and translation.strip() else {}
    return StoryRow(file, line, category, text, language=language, translations=translations)


def category_of(file: str) -> str:
    """ToMBench names a file after its task; records use the same names."""
    return Path(file).stem[:120]


def read_file(
    handle: BinaryIO, file: str, *, format: CorpusFormat, language: str, keys: Sequence[str]
) -> Iterator[StoryRow | Problem]:
    """The stories of one file in its order; where they have no numbers the first of each distinct text (identity: exact text).

    `keys` are the dimensions of the project that the stories go to.
    """
    seen: set[str] = set()
    line = 0
    for line, raw in lines_of(handle):
        if line == 1 and raw and raw.startswith(_OTHER_UNICODE):
            yield Problem(file, 1, "The file is in UTF-16 or UTF-32; save it as UTF-8.")
            return
        try:
            row = _row(raw, file, line, format=format, language=language, keys=keys)
        except BadLine as error:
            yield Problem(file, line, str(error))
            continue
        if row is None or (not format.numbered and row.text in seen):
            continue
        if not format.numbered:
            seen.add(row.text)
        yield row
    if not line:
        yield Problem(file, 1, "The file is empty; expected one JSON object a line.")


def _row(
    raw: bytes | None, file: str, line: int, *, format: CorpusFormat, language: str, keys: Sequence[str]
) -> StoryRow | None:
    record = _object(raw)
    if record is None:
        return None
    if format == RECORDS:
        return story_of_record(record, file, line, keys)
    return story_of_question(record, file, line, language=language, category=category_of(file))
