"""The format of a project archive: a zip with one JSON Lines file a section and a manifest with their hashes.

People are named by user name, imported annotators of the project by `:` and their name; stories, tables, propositions
and changes of votes by numbers that count within the archive, so that it means the same on every installation.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import field_validator

from core.incoming.misfit import Misfit, refusal
from core.incoming.shapes import Among, Open, Within
from core.messages import Sentence

FORMAT = "credence-project"
VERSION = 1
Format = Annotated[str, Among([FORMAT])]
Version = Annotated[int, Within(VERSION, VERSION, str(VERSION))]
MANIFEST = "manifest.json"
IMPORTED_MARK = ":"
"""Begins the name of an imported annotator."""
MAX_UNPACKED_BYTES = 2 * 1024**3
MAX_RATIO = 200
MAX_LINE_BYTES = 16 * 1024 * 1024

SECTIONS = [
    "people",
    "project",
    "members",
    "guidelines",
    "categories",
    "splits",
    "stories",
    "tables",
    "propositions",
    "suggested_rows",
    "draft_rows",
    "draft_events",
    "lane_rows",
    "lane_events",
    "assignments",
    "suggestions",
    "votes",
    "vote_events",
    "gold",
    "gold_events",
    "comments",
    "flags",
    "audit",
]
"""Sections in the order in which they are read: each names only rows of those before it. Those of apps above come last
(`archive_rows.register`)."""


class BadArchive(ValueError):
    """Refusal of an archive: nothing was imported; the message is one sentence."""


def file_of(section: str) -> str:
    return f"{section}.jsonl"


def check_contents(sizes: dict[str, tuple[int, int]]) -> None:
    """Check names and sizes before a byte is unpacked: foreign files and decompression bombs are refused.

    `sizes` maps each name of the zip to its packed and unpacked bytes. Raises BadArchive.
    """
    expected = {MANIFEST, *map(file_of, SECTIONS)}
    if foreign := sorted(set(sizes) - expected):
        raise BadArchive(
            Sentence("The archive holds {foreign}, which is not part of a project.", foreign=repr(foreign[0][:80]))
        )
    if missing := sorted(expected - set(sizes)):
        raise BadArchive(Sentence("The archive lacks {missing}.", missing=missing[0]))
    packed = sum(small for small, _ in sizes.values())
    unpacked = sum(large for _, large in sizes.values())
    if unpacked > MAX_UNPACKED_BYTES or unpacked > MAX_RATIO * max(packed, 4096):
        raise BadArchive(
            Sentence("The archive unpacks to {unpacked} MB, which is more than is taken.", unpacked=unpacked // 1024**2)
        )


class _File(Open):
    sha256: str


class _Manifest(Open):
    """The manifest of an archive; `version` is that of its format."""

    format: Format
    version: Version
    files: dict[str, _File]

    @field_validator("files")
    @classmethod
    def _are_those_of_a_project(cls, files: dict[str, _File]) -> dict[str, _File]:
        if set(files) != set(map(file_of, SECTIONS)):
            raise refusal("the files of a project", "the names are others")
        return files


class Person(Open):
    """A line of people: whoever has a part in the project."""

    username: str
    display_name: str


def digests_of(manifest: object) -> dict[str, str]:
    """Return the SHA-256 of each file that a manifest names. Raises BadArchive."""
    try:
        return {name: file.sha256 for name, file in _Manifest.of(manifest).files.items()}
    except Misfit as error:
        raise BadArchive(error.message_for(MANIFEST)) from error
