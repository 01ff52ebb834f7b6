"""FANToM as it is distributed: one JSON file of sets of questions, in an archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmark.suites.copies import BadImport
from benchmark.suites.fantom_questions.flattening import question_sets
from benchmark.suites.fantom_questions.records import SetRecord
from benchmark.suites.fantom_questions.rows import CHOICE, FACT, LIST, YES_NO, Sets
from benchmark.suites.fantom_questions.sources import (
    ARCHIVE,
    FILE,
    FLATTENED,
    Source,
    check_flattened,
    lines_of_entries,
    source_of,
)
from core.incoming.misfit import Misfit, kind_of
from core.incoming.text import NotJson, json_of

COUNTS = {
    "sets": 870,
    "parts of conversations": 368,
    "questions on facts": 870,
    "questions on beliefs": 1_540,
    "lists": 1_740,
    "yes or no questions": 7_142,
}
"""The counts of the released file."""


@dataclass(frozen=True, slots=True)
class Fantom:
    """A copy of the benchmark: sets by id, in the order of the file, its records, and the SHA-256 of each file that was
    read by name, as 64 hexadecimal digits. `name` is that of the JSON file, `lines` where in it each set begins,
    `unchecked` what could not be told of it."""

    sets: Sets
    name: str
    digests: Mapping[str, str]
    records: Sequence[SetRecord] = ()
    lines: Mapping[str, int] = field(default_factory=dict)
    unchecked: str = ""


def read_fantom(path: Path) -> Fantom:
    """Read the sets of a file, JSON or the released archive of it, and hold them against PercepToM's list of questions
    where that lies beside. Raises BadImport."""
    source = source_of(path)
    name = source.name
    try:
        value = json_of(source.raw)
    except NotJson as error:
        raise BadImport(error.message_for(name)) from error
    if not isinstance(value, list) or not value:
        raise BadImport(f"{name}: it is {kind_of(value)}; expected a list of sets of questions.")
    records = [_record(source, number, entry) for number, entry in enumerate(value)]
    _check_ids(name, records)
    sets = question_sets(records)
    listed = check_flattened(path.with_name(FLATTENED), name, sets)
    lines = dict(zip((record.set_id for record in records), lines_of_entries(source.raw), strict=False))
    return Fantom(sets, name, source.digests | listed, records, lines, source.unchecked)


def file_of(path: Path) -> Path:
    """Return the file that a path is, or that the folder holds: the released archive, else its only JSON file. Raises
    BadImport."""
    if not path.is_dir():
        return path
    if (path / ARCHIVE).is_file():
        return path / ARCHIVE
    files = sorted(path.glob("*.json"))
    if len(files) != 1:
        raise BadImport(f"{path.name}: the number of JSON files is {len(files)}; expected {FILE} alone, or {ARCHIVE}.")
    return files[0]


def check_counts(copy: Fantom) -> None:
    """Check that a file holds as much as the released one. Raises BadImport."""
    kinds = Counter(row.kind for question_set in copy.sets.values() for row in question_set.rows)
    counts = {
        "sets": len(copy.sets),
        "parts of conversations": len({set_id.rpartition("-")[0] for set_id in copy.sets}),
        "questions on facts": kinds[FACT],
        "questions on beliefs": kinds[CHOICE],
        "lists": kinds[LIST],
        "yes or no questions": kinds[YES_NO],
    }
    for what, count in counts.items():
        if count != COUNTS[what]:
            raise BadImport(f"{copy.name}: the number of {what} is {count:,}; expected {COUNTS[what]:,}.")


def _record(source: Source, number: int, entry: object) -> SetRecord:
    try:
        return SetRecord.of(entry)
    except Misfit as error:
        raise BadImport(error.message_for(f"{source.name}, {_set_text(source, number, entry)}")) from error


def _set_text(source: Source, number: int, entry: object) -> str:
    """Name an entry of the file, as people look for it: its set with its conversation, and its line."""
    lines = lines_of_entries(source.raw)
    line = f"line {lines[number]}, " if number < len(lines) else ""
    set_id = entry.get("set_id") if isinstance(entry, dict) else None
    if not isinstance(set_id, str) or not set_id.strip():
        return f"{line}set {number + 1:,} of the file"
    return f"{line}set {set_id[:40]} of conversation {set_id[:40].partition('-')[0]}"


def _check_ids(name: str, records: Sequence[SetRecord]) -> None:
    for set_id, count in Counter(record.set_id for record in records).items():
        if count > 1:
            raise BadImport(f"{name}: set {set_id} occurs {count} times; expected each set once.")
