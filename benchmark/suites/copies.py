"""The description of a user's copy of a benchmark: where it is had, which files are needed, and under which terms; and
the copy as it was read. The page, the command and the API of imports say where it is had before there is a copy, and
the page of a dataset afterwards."""

import codecs
import csv
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmark.suites.questions import Sample
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


def released_bytes(path: Path, expected: str, released: str) -> bytes:
    """Return the bytes of a text file as it was released: without a byte order mark, and with Unix line ends. Raises
    BadImport if their SHA-256 is not the released one, so readers need not check the content."""
    raw = bytes_of(path, expected).removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")
    check_released(path.name, hashlib.sha256(raw).hexdigest(), released)
    return raw


def check_released(name: str, digest: str, released: str, what: str = "file") -> None:
    """Check the SHA-256 of a file against the released one."""
    if digest != released:
        raise BadImport(
            f"{name} is not the released {what}: its SHA-256 begins with {digest[:12]}; expected {released[:12]}."
        )


def rows_of_csv(raw: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a released table, each with the line on which it begins."""
    reader, line = csv.DictReader(io.StringIO(raw.decode(), newline="")), 2
    for row in reader:
        yield line, row
        line = reader.line_num + 1
