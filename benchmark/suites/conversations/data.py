"""FANToM as it is distributed: one JSON file of sets of questions."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.suites.conversations.flattening import question_sets
from benchmark.suites.conversations.records import BadFantom, SetRecord
from benchmark.suites.conversations.rows import CHOICE, FACT, LIST, YES_NO, Sets
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
"""What the released file holds."""


@dataclass(frozen=True, slots=True)
class Fantom:
    """A copy of the benchmark: sets by id, in the order of the file, the SHA-256 of the file as 64 hexadecimal digits, and its records."""

    sets: Sets
    digest: str
    records: Sequence[SetRecord] = ()


def read_fantom(path: Path) -> Fantom:
    """Read the sets of a file. Raises BadFantom."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadFantom(f"{path} cannot be read ({error.strerror}).") from error
    try:
        value = json_of(raw)
    except NotJson as error:
        raise BadFantom(error.told(path.name)) from error
    if not isinstance(value, list) or not value:
        raise BadFantom(f"{path.name}: it is {kind_of(value)}; expected a list of sets of questions.")
    records = [_record(path.name, number, entry) for number, entry in enumerate(value)]
    _check_ids(path.name, records)
    return Fantom(question_sets(records), hashlib.sha256(raw).hexdigest(), records)


def file_of(path: Path) -> Path:
    """Return the JSON file that a path is, or that the folder holds as its only one. Raises BadFantom."""
    if not path.is_dir():
        return path
    files = sorted(path.glob("*.json"))
    if len(files) != 1:
        raise BadFantom(f"{path.name}: the number of JSON files is {len(files)}; expected fantom_v1.json alone.")
    return files[0]


def licence_beside(file: Path) -> str:
    """Return the text of the LICENSE in the folder of a file; empty where there is none. Raises BadFantom for one that is not a text."""
    path = file.with_name("LICENSE")
    if not path.is_file():
        return ""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFantom(f"LICENSE is not UTF-8 (byte {error.start}).") from error
    except OSError as error:
        raise BadFantom(f"LICENSE cannot be read ({error.strerror}).") from error
    if not text.strip():
        raise BadFantom("LICENSE is empty; expected the licence that comes with FANToM, or no such file.")
    return text


def check_counts(name: str, copy: Fantom) -> None:
    """Check that a file of that name holds as much as the released one. Raises BadFantom."""
    kinds = Counter(row.kind for question_set in copy.sets.values() for row in question_set.rows)
    found = {
        "sets": len(copy.sets),
        "parts of conversations": len({set_id.rpartition("-")[0] for set_id in copy.sets}),
        "questions on facts": kinds[FACT],
        "questions on beliefs": kinds[CHOICE],
        "lists": kinds[LIST],
        "yes or no questions": kinds[YES_NO],
    }
    for what, count in found.items():
        if count != COUNTS[what]:
            raise BadFantom(f"{name}: the number of {what} is {count:,}; expected {COUNTS[what]:,}.")


def _record(name: str, number: int, entry: object) -> SetRecord:
    try:
        return SetRecord.of(entry, start=(number,))
    except Misfit as error:
        raise BadFantom(error.told(name)) from error


def _check_ids(name: str, records: Sequence[SetRecord]) -> None:
    for set_id, count in Counter(record.set_id for record in records).items():
        if count > 1:
            raise BadFantom(f"{name}: set {set_id} occurs {count} times; expected each set once.")
