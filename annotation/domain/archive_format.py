"""The format of a project archive: a zip with a JSON Lines file for each section, and a manifest with their hashes.

People are named by user name, imported annotators of the project by `:` and their name; stories, tables, propositions
and changes of votes by numbers that count within the archive, so that it means the same on every installation.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated

from core.incoming.misfit import Misfit
from core.incoming.shapes import Among, Open, Within
from core.messages import Sentence

FORMAT = "credence-project"
VERSION = 1
MANIFEST = "manifest.json"
IMPORTED_MARK = ":"
"""Begins the name of an imported annotator."""
MAX_UNPACKED_BYTES = 2 * 1024**3
MAX_RATIO = 200
MAX_LINE_BYTES = 16 * 1024 * 1024


class BadArchive(ValueError):
    """Refusal of an archive: nothing was imported; the message is one sentence."""


def file_of(section: str) -> str:
    return f"{section}.jsonl"


def check_contents(sizes: Mapping[str, tuple[int, int]], files: Iterable[str]) -> None:
    """Check names and sizes before anything is unpacked: other files than these and decompression bombs are refused.

    `sizes` maps each name of the zip to its packed and unpacked bytes. Raises BadArchive.
    """
    expected = {MANIFEST, *files}
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
    format: Annotated[str, Among([FORMAT])]
    version: Annotated[int, Within(VERSION, VERSION, str(VERSION))]
    files: dict[str, _File]


class Person(Open):
    """A line of the section `people`."""

    username: str
    display_name: str


def digests_of(manifest: object, files: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file that a manifest names: exactly these files. Raises BadArchive."""
    try:
        digests = {name: file.sha256 for name, file in _Manifest.of(manifest).files.items()}
    except Misfit as error:
        raise BadArchive(error.message_for(MANIFEST)) from error
    if digests.keys() != set(files):
        raise BadArchive(Sentence("The manifest names other files than those of a project."))
    return digests
