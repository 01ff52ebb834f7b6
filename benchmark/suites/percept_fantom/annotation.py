"""Who hears each utterance: the CSV files of Percept-FANToM, whose cells hold Python literals, which are read as
literals and never evaluated."""

from __future__ import annotations

import ast
import csv
import hashlib
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.incoming.text import NotJson, json_of

FILE = "Percept-FANToM.csv"
BESIDE = "Percept-FANToM-conv_with_perceivers.csv"
"""A second copy of the annotation, a row a conversation; it need not be there."""
DIGEST = "69ceaa7c1abc894ad8ef7a811d772f399393bf725e8dab7a4197465f74337691"
"""The SHA-256 of the released file, as 64 hexadecimal digits, line ends as they were released."""
PARTS, UTTERANCES = 311, 7_129
COLUMNS = ("part_id", "utterance", "utterance_symbol_removed", "perceivers")
_PART = re.compile(r"\d+-\d+")
_LONGEST_CELL = 20_000


class BadPerceptFantom(ValueError):
    """The fault in a copy of Percept-FANToM, as one sentence that names the file and the line."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """An utterance as it stands, its speaker first, and who hears it; `line` is that of the file, from 1."""

    text: str
    perceivers: tuple[str, ...]
    line: int


Parts = Mapping[str, tuple[Utterance, ...]]
"""The utterances of each part of a conversation, such as 3-0, in their order."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A copy of the annotation: the parts, and the SHA-256 of each file that was read, by name."""

    parts: Parts
    digests: Mapping[str, str]


def read_annotation(folder: Path) -> Annotation:
    """Read the annotation in a folder and check that it is the released one. Raises BadPerceptFantom."""
    raw = _bytes_of(folder / FILE)
    parts = _parts(_text(raw, FILE))
    for what, count, released in (
        ("parts of conversations", len(parts), PARTS),
        ("utterances", sum(map(len, parts.values())), UTTERANCES),
    ):
        if count != released:
            raise BadPerceptFantom(f"{FILE}: the number of {what} is {count:,}; expected {released:,}.")
    digest = _digest(raw)
    if digest != DIGEST:
        raise BadPerceptFantom(
            f"{FILE} is not the released file: its SHA-256 begins with {digest[:12]}; expected {DIGEST[:12]}."
        )
    return Annotation(parts, {FILE: digest} | _beside(folder / BESIDE, parts))


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise BadPerceptFantom(
            f"{file.name} is missing in {file.parent}; expected it beside the file of FANToM."
        ) from error
    except OSError as error:
        raise BadPerceptFantom(f"{file.name} cannot be read ({error.strerror}).") from error


def _text(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BadPerceptFantom(f"{name}, line {line}: not UTF-8 (byte {error.start}).") from error


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw.replace(b"\r\n", b"\n")).hexdigest()


def _rows(text: str, name: str, columns: tuple[str, ...]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows with their lines."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if missing := [column for column in columns if column not in (reader.fieldnames or ())]:
            raise BadPerceptFantom(f"{name}, line 1: there is no column {missing[0]}; expected {', '.join(columns)}.")
        for row in reader:
            line = reader.line_num
            if None in row or None in row.values():
                raise BadPerceptFantom(f"{name}, line {line}: the number of cells is not that of the header.")
            yield line, row
    except csv.Error as error:
        raise BadPerceptFantom(f"{name}, line {reader.reader.line_num}: it cannot be read as CSV ({error}).") from error


def _parts(text: str) -> Parts:
    parts: dict[str, list[Utterance]] = {}
    last = ""
    for line, row in _rows(text, FILE, COLUMNS):
        part, utterance = row["part_id"].strip(), row["utterance"]
        if not _PART.fullmatch(part):
            _refuse(line, "part_id", f"it is {part[:40]!r}", "conversation and part, such as 3-0")
        if part != last and part in parts:
            _refuse(
                line, "part_id", f"part {part} goes on after another one", "the utterances of a part one after another"
            )
        if not all(utterance.partition(": ")[:2]):
            _refuse(line, "utterance", f"it is {utterance[:40]!r}", "a speaker and a colon first")
        parts.setdefault(part, []).append(Utterance(utterance, _names(line, row["perceivers"]), line))
        last = part
    return {part: tuple(utterances) for part, utterances in parts.items()}


def _refuse(line: int, column: str, actual: str, expected: str) -> None:
    raise BadPerceptFantom(f"{FILE}, line {line}, {column}: {actual}; expected {expected}.")


def _names(line: int, cell: str) -> tuple[str, ...]:
    try:
        value = ast.literal_eval(cell) if len(cell) <= _LONGEST_CELL else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list) or not value or not all(isinstance(name, str) and name.strip() for name in value):
        _refuse(line, "perceivers", f"it is {cell[:40]!r}", "a Python list of names")
        raise AssertionError
    return tuple(value)


def _beside(file: Path, parts: Parts) -> dict[str, str]:
    """The digest of the second file, which says the same; nothing where it is not there."""
    if not file.is_file():
        return {}
    raw = _bytes_of(file)
    seen: set[str] = set()
    for line, row in _rows(_text(raw, file.name), file.name, ("part_id", "conversation_with_perceivers")):
        part = row["part_id"].strip()
        try:
            annotated = json_of(row["conversation_with_perceivers"].encode())
        except NotJson as error:
            raise BadPerceptFantom(f"{file.name}, line {line}: {error.message_for('its conversation')}") from error
        seen.add(part)
        if annotated != [{utterance.text: list(utterance.perceivers)} for utterance in parts.get(part, ())]:
            raise BadPerceptFantom(
                f"{file.name}, line {line}: part {part[:40]!r} differs from {FILE}; expected the same in both."
            )
    if len(seen) != len(parts):
        raise BadPerceptFantom(
            f"{file.name}: the number of parts of conversations is {len(seen)}; expected {len(parts)}."
        )
    return {file.name: _digest(raw)}
