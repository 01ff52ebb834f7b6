"""The file of FANToM, alone or in the archive that its authors give out, and what can be checked of it against the
release."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.suites.copies import (
    BadImport,
    CopyFile,
    CopySource,
    bytes_of,
    check_released,
    digest_of,
    rows_of_csv,
    text_of,
)
from benchmark.suites.fantom_questions.rows import CHOICE, Row, Sets
from core.incoming.damage import MOST_UNPACKED, damage_as, fault_of
from core.messages import Sentence, gettext_noop

ARCHIVE, FILE, FLATTENED = "fantom.tar.gz", "fantom_v1.json", "flattened_fantom.csv"
DIGESTS = {
    ARCHIVE: "1d08dfa0ea474c7f83b9bc7e3a7b466eab25194043489dd618b4c5223e1253a4",
    FLATTENED: "c57c5a09fefdec92e3e7bf2f78cbb9c786ca4b8a4d5184d2979ef1c16f28b49e",
}
"""The SHA-256 of released files, as 64 hexadecimal digits, line ends of the second as they were released."""
SOURCE = CopySource(
    publisher=gettext_noop("the repository of its authors"),
    address="https://github.com/skywalker023/fantom",
    licence=gettext_noop(
        "The code is under MIT. The data have no licence of their own: their authors give them out for evaluation only."
    ),
    checked=gettext_noop(
        "Sets, parts and questions of each kind are counted. The digest of the archive is checked; that of the JSON "
        "file alone is not known, so use the archive if you can."
    ),
    files=(
        CopyFile(
            ARCHIVE,
            gettext_noop("the archive that the loader of the repository fetches, as it is; or the JSON file inside it"),
        ),
        CopyFile("LICENSE", gettext_noop("the licence of the repository"), optional=True),
        CopyFile(
            FLATTENED,
            gettext_noop("a list of all questions, of the repository chanijung/PercepToM: each is held against it"),
            optional=True,
        ),
    ),
)
_CHOOSE = "\n\nChoose an answer from above:"


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of the JSON file under its `name`, and whether they are `released`: as the archive has them. `digests`
    are of what was read, by name."""

    name: str
    raw: bytes
    digests: dict[str, str]
    released: bool

    @property
    def unchecked(self) -> str:
        """Say that nobody can tell whether the file is the released one; empty where it is."""
        if self.released:
            return ""
        return Sentence(
            "The digest of {name} as it was released is not known, so a changed text or answer in it is "
            "not noticed: import {archive}, whose digest is checked.",
            name=self.name,
            archive=ARCHIVE,
        )


def source_of(path: Path) -> Source:
    """Return the file of FANToM that a path is or holds: JSON, or the archive. Raises BadImport."""
    name, raw = path.name, bytes_of(path, "the file of FANToM")
    if not name.endswith((".tar.gz", ".tgz")):
        return Source(name, raw, {name: hashlib.sha256(raw).hexdigest()}, released=False)
    digest = hashlib.sha256(raw).hexdigest()
    check_released(name, digest, DIGESTS[ARCHIVE], "archive")
    inner, content = _unpacked(name, raw)
    return Source(inner, content, {name: digest, inner: hashlib.sha256(content).hexdigest()}, released=True)


def _unpacked(name: str, raw: bytes) -> tuple[str, bytes]:
    """Return name and content of the only JSON file in an archive."""
    damaged = damage_as(lambda error: BadImport(f"{name} cannot be read as an archive ({fault_of(error)})."), BadImport)
    with damaged, tarfile.open(fileobj=io.BytesIO(raw), mode="r:gz") as archive:
        files = [member for member in archive if member.isfile() and _is_json(member.name)]
        if len(files) != 1:
            raise BadImport(f"{name}: the number of JSON files is {len(files)}; expected {FILE} alone.")
        handle = archive.extractfile(files[0])
        content = handle.read(MOST_UNPACKED + 1) if handle else b""
    if len(content) > MOST_UNPACKED:
        raise BadImport(f"{name}: {files[0].name} is larger than {MOST_UNPACKED // 2**20:,} MB.")
    return Path(files[0].name).name, content


def _is_json(name: str) -> bool:
    return name.endswith(".json") and not Path(name).name.startswith(".")


def lines_of_entries(raw: bytes) -> list[int]:
    """Return the line, from 1, on which each entry of a JSON list begins; empty where it is not such a list."""
    try:
        text = raw.decode("utf-8-sig")
        lines: list[int] = []
        at, line, seen = text.index("[") + 1, 1, 0
        while True:
            at = _past(text, at, " \t\r\n,")
            if at >= len(text) or text[at] == "]":
                return lines
            line, seen = line + text.count("\n", seen, at), at
            lines.append(line)
            at = json.JSONDecoder().raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return []


def _past(text: str, at: int, blanks: str) -> int:
    while at < len(text) and text[at] in blanks:
        at += 1
    return at


def check_flattened(path: Path, name: str, sets: Sets) -> dict[str, str]:
    """Hold every question, with the options of choices in their order, against PercepToM's list of the released ones.
    Returns its digest by name, nothing where there is no such list. Raises BadImport with set and line of the list."""
    if not path.is_file():
        return {}
    raw = bytes_of(path, "the list of questions")
    digest = digest_of(raw)
    check_released(path.name, digest, DIGESTS[FLATTENED])
    compare_flattened(raw, path.name, name, sets)
    return {path.name: digest}


def compare_flattened(raw: bytes, listed: str, name: str, sets: Sets) -> None:
    """`check_flattened` of a list whatever its digest."""
    expected = list(_listed(raw, listed))
    for row, (line, set_id, text) in zip(rows_in_order(sets), expected, strict=False):
        if (row.set_id, question_text(row)) != (set_id, text):
            what = "another question or other options" if row.set_id == set_id else f"a question of set {row.set_id}"
            raise BadImport(
                f"{name}, set {set_id}: it has {what} than {listed}, line {line}: {text[:80]!r} is expected."
            )


def rows_in_order(sets: Sets) -> Sequence[Row]:
    return [row for question_set in sets.values() for row in question_set.rows]


def question_text(row: Row) -> str:
    """A question as the list has it."""
    if row.kind != CHOICE:
        return row.question
    first, second = row.options
    return f"{row.question}\n(a) {first}\n(b) {second}{_CHOOSE}"


def _listed(raw: bytes, name: str) -> Iterator[tuple[int, str, str]]:
    """(line, set, question) of each row."""
    text = text_of(raw.replace(b"\r\n", b"\n"), name)
    return ((line, row["set_id"], row["question"]) for line, row in rows_of_csv(text, name, ("set_id", "question")))
