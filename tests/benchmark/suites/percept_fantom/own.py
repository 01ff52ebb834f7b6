"""A small copy with conversations of our own: the sets of FANToM's small copy, and who hears each utterance of their
parts."""

import csv
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from benchmark.suites.fantom_questions import data as questions
from benchmark.suites.percept_fantom import data
from tests.benchmark.suites.fantom import conftest as fantom

ALL_OF_THE_GARDEN, WITHOUT_BEA = ["Bea", "Ida", "Ole"], ["Ida", "Ole"]
PERCEIVERS = {
    "1-0": [ALL_OF_THE_GARDEN, ALL_OF_THE_GARDEN, WITHOUT_BEA, WITHOUT_BEA],
    "1-1": [ALL_OF_THE_GARDEN, ALL_OF_THE_GARDEN, WITHOUT_BEA, WITHOUT_BEA],
    "2-0": [["Tom", "Una", "Vic"]] * 3,
}
COLUMNS = ("", "Unnamed: 0", "part_id", "utterance", "utterance_symbol_removed", "perceivers")


def rows() -> list[dict[str, Any]]:
    """The rows of the annotation."""
    texts = {record["part_id"]: record["short_context"].split("\n") for record in fantom.records()}
    return [
        {"part_id": part, "utterance": text, "utterance_symbol_removed": text, "perceivers": names}
        for part, perceivers in PERCEIVERS.items()
        for text, names in zip(texts[part], perceivers, strict=True)
    ]


def write(folder: Path, made: Iterable[dict[str, Any]] | None = None, *, records: Any = None, columns=COLUMNS) -> Path:
    """Write a copy into a folder and return the folder."""
    (folder / "fantom_v1.json").write_text(json.dumps(fantom.records() if records is None else records))
    (folder / "LICENSE").write_text("For evaluation only.")
    _csv(folder / data.FILE, columns, rows() if made is None else made)
    return folder


def _csv(path: Path, columns: tuple[str, ...], made: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(made)


def released(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Take the copy of a folder for the released one, and return the folder."""
    patch.setattr(questions, "COUNTS", fantom.COUNTS)
    patch.setattr(data, "COUNTS", dict(zip(data.COUNTS, (3, 2, 2), strict=True)))
    raw = (folder / data.FILE).read_bytes().replace(b"\r\n", b"\n")
    patch.setattr(data, "DIGEST", hashlib.sha256(raw).hexdigest())
    return folder
