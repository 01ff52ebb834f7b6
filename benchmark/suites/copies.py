"""The description of a user's copy of a benchmark: where it is had, which files are needed, and under which terms; and
the copy as it was read. The page, the command and the API of imports say where it is had before there is a copy, and
the page of a dataset afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from benchmark.suites.asked import Sample
from core.plain import Json


class BadImport(ValueError):
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
