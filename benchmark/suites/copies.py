"""The description of a user's copy of a benchmark: where it is had, which files are needed, and under which terms; and
the copy as it was read. The page, the command and the API of imports say where it is had before there is a copy, and
the page of a dataset afterwards."""

from __future__ import annotations

import ast
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmark.suites.questions import Sample
from core.incoming.sheets import BadSheet, SheetRow, rows_of_text
from core.messages import Refusal
from core.plain import Json


class BadImport(Refusal):
    """The fault in a copy of a benchmark, as one sentence that names the file."""


@dataclass(frozen=True, slots=True)
class CopyFile:
    """A file of a copy, or several that are named alike: `name` as it is released, `holds` what is in it. One that is
    `optional` may be missing."""

    name: str
    holds: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class CopySource:
    """Source from which users get a benchmark, and what of it is read.

    `publisher` is who gives it out, `address` where, `folder` the folder there that has the files, empty where the
    address itself leads to them. `licence` are its terms of use in our own words, `checked` what a copy is held
    against, each a sentence.
    """

    publisher: str
    address: str
    licence: str
    checked: str
    files: tuple[CopyFile, ...]
    folder: str = ""

    def as_json(self) -> Json:
        """The fields by name, files as {name, holds, optional}."""
        return asdict(self)

    @property
    def lines(self) -> list[str]:
        """The description as lines of a terminal."""
        place = f"{self.address}, folder {self.folder}" if self.folder else self.address
        files = [f"{file.name}{' (may be missing)' if file.optional else ''}: {file.holds}" for file in self.files]
        return [f"from {self.publisher}: {place}", *files, f"Licence: {self.licence}", self.checked]


@dataclass(frozen=True, slots=True)
class Imported:
    """A user's copy of a benchmark, read and checked: `title` says what it is, `licence` is the text that came with it,
    `files` are the SHA-256 digests of what was read, by name. `problems` are what is odd in it and was left out or
    mended: {"file", "line", "message"}, a sentence each, with 0 for no line. `unchecked` says in a sentence what could
    not be held against the release; empty where everything was."""

    title: str
    samples: Sequence[Sample]
    licence: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    problems: Sequence[Mapping[str, str | int]] = ()
    unchecked: str = ""


LICENCE = "LICENSE"
LONGEST_LIST = 20_000


def bytes_of(path: Path, expected: str) -> bytes:
    """Return what a file holds; `expected` says what should be there where nothing is."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise BadImport(f"{path.name} is missing in {path.parent}; expected {expected}.") from error
    except OSError as error:
        raise BadImport(f"{path.name} cannot be read ({error.strerror}).") from error


def text_of(raw: bytes, name: str) -> str:
    """Return the UTF-8 text of a file, a byte order mark left out."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BadImport(f"{name}, line {line}: byte {error.start} is not UTF-8; expected text in UTF-8.") from error


def licence_beside(file: Path, title: str) -> str:
    """Return the text of the LICENSE in the folder of a file, which comes with the benchmark of that title; empty where
    there is none."""
    path = file.with_name(LICENCE)
    return licence_in(path.parent, title, ", or no such file") if path.is_file() else ""


def licence_in(folder: Path, title: str, otherwise: str = "") -> str:
    """Return the text of the LICENSE in a folder, which is needed."""
    expected = f"the licence that comes with {title}"
    text = text_of(bytes_of(folder / LICENCE, expected), LICENCE)
    if not text.strip():
        raise BadImport(f"{LICENCE} is empty; expected {expected}{otherwise}.")
    return text


def digest_of(raw: bytes) -> str:
    """Return the SHA-256 of a text file as 64 hexadecimal digits, whichever line ends it has."""
    return hashlib.sha256(raw.replace(b"\r\n", b"\n")).hexdigest()


def check_released(name: str, digest: str, released: str, what: str = "file") -> None:
    """Check the SHA-256 of a file against the released one."""
    if digest != released:
        raise BadImport(
            f"{name} is not the released {what}: its SHA-256 begins with {digest[:12]}; expected {released[:12]}."
        )


def rows_of_csv(text: str, name: str, columns: Sequence[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the rows of a table that has at least these columns, each with the line on which it begins."""
    rows = rows_of_text(io.StringIO(text, newline=""), name, delimiter=",")
    try:
        header = next(rows, SheetRow(1, [])).cells
        if missing := [column for column in columns if column not in header]:
            raise BadImport(f"{name}, line 1: there is no column {missing[0]}; expected {', '.join(columns)}.")
        for line, cells, problem in rows:
            if problem:
                raise BadImport(f"{name} cannot be read at line {line}: {problem}")
            yield line, dict(zip(header, cells, strict=False))
    except BadSheet as error:
        raise BadImport(str(error)) from error


def list_in(cell: str) -> list[object] | None:
    """Return the Python list that a cell holds, read as a literal and never evaluated; None where it holds none, or one
    of more than LONGEST_LIST characters."""
    try:
        value = ast.literal_eval(cell) if len(cell) <= LONGEST_LIST else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    return value if isinstance(value, list) else None
