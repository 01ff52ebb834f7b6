"""Annotation of who hears each utterance: the CSV files of Percept-FANToM, whose cells hold Python literals, which are
read as literals and never evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmark.suites.copies import BadImport, bytes_of, check_released, digest_of, list_in, rows_of_csv, text_of
from core.incoming.text import NotJson, json_of

FILE = "Percept-FANToM.csv"
BESIDE = "Percept-FANToM-conv_with_perceivers.csv"
"""A second copy of the annotation, a row a conversation; it need not be there."""
DIGEST = "69ceaa7c1abc894ad8ef7a811d772f399393bf725e8dab7a4197465f74337691"
"""The SHA-256 of the released file, as 64 hexadecimal digits, line ends as they were released."""
PARTS, UTTERANCES = 311, 7_129
COLUMNS = ("part_id", "utterance", "utterance_symbol_removed", "perceivers")
_BESIDE_COLUMNS = ("part_id", "conversation_with_perceivers")
_PART = re.compile(r"\d+-\d+")


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
    """Read the annotation in a folder and check that it is the released one. Raises BadImport."""
    raw = bytes_of(folder / FILE, "it beside the file of FANToM")
    parts = _parts(text_of(raw, FILE))
    for what, count, released in (
        ("parts of conversations", len(parts), PARTS),
        ("utterances", sum(map(len, parts.values())), UTTERANCES),
    ):
        if count != released:
            raise BadImport(f"{FILE}: the number of {what} is {count:,}; expected {released:,}.")
    digest = digest_of(raw)
    check_released(FILE, digest, DIGEST)
    return Annotation(parts, {FILE: digest} | _beside(folder / BESIDE, parts))


def _parts(text: str) -> Parts:
    parts: dict[str, list[Utterance]] = {}
    last = ""
    for line, row in rows_of_csv(text, FILE, COLUMNS):
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
    raise BadImport(f"{FILE}, line {line}, {column}: {actual}; expected {expected}.")


def _names(line: int, cell: str) -> tuple[str, ...]:
    values = list_in(cell) or []
    names = tuple(value for value in values if isinstance(value, str) and value.strip())
    if not names or len(names) < len(values):
        _refuse(line, "perceivers", f"it is {cell[:40]!r}", "a Python list of names")
    return names


def _beside(file: Path, parts: Parts) -> dict[str, str]:
    """The digest of the second file, which says the same; nothing where it is not there."""
    if not file.is_file():
        return {}
    raw = bytes_of(file, "a second copy of the annotation")
    seen: set[str] = set()
    for line, row in rows_of_csv(text_of(raw, file.name), file.name, _BESIDE_COLUMNS):
        part = row["part_id"].strip()
        try:
            annotated = json_of(row["conversation_with_perceivers"].encode())
        except NotJson as error:
            raise BadImport(f"{file.name}, line {line}: {error.message_for('its conversation')}") from error
        seen.add(part)
        if annotated != [{utterance.text: list(utterance.perceivers)} for utterance in parts.get(part, ())]:
            raise BadImport(
                f"{file.name}, line {line}: part {part[:40]!r} differs from {FILE}; expected the same in both."
            )
    if len(seen) != len(parts):
        raise BadImport(f"{file.name}: the number of parts of conversations is {len(seen)}; expected {len(parts)}.")
    return {file.name: digest_of(raw)}
