"""What a project archive is made of: a zip with one JSON Lines file a section and a manifest with their hashes.

People are named by user name, imported annotators of the project by `:` and their name; stories, tables, propositions and changes of votes by numbers that count within the
archive, so that it means the same on every installation.
"""

from __future__ import annotations

from typing import Any

FORMAT = "credence-project"
VERSION = 1
MANIFEST = "manifest.json"
IMPORTED_MARK = ":"
"""Begins the name of an imported annotator."""
MAX_UNPACKED_BYTES = 2 * 1024**3
MAX_RATIO = 200
MAX_LINE_BYTES = 16 * 1024 * 1024

SECTIONS = (
    "people",
    "project",
    "members",
    "guidelines",
    "categories",
    "splits",
    "stories",
    "tables",
    "propositions",
    "seats",
    "suggestions",
    "votes",
    "vote_events",
    "gold",
    "gold_events",
    "comments",
    "flags",
    "audit",
)
"""In the order in which they are read: each names only rows of those before it."""


class BadArchive(ValueError):
    """Nothing was imported; the message is one sentence."""


def file_of(section: str) -> str:
    return f"{section}.jsonl"


def check_contents(sizes: dict[str, tuple[int, int]]) -> None:
    """Refuses foreign names and bombs before a byte is unpacked.

    `sizes` maps each name of the zip to its packed and unpacked bytes. Raises BadArchive.
    """
    expected = {MANIFEST, *map(file_of, SECTIONS)}
    if foreign := sorted(set(sizes) - expected):
        raise BadArchive(f"The archive holds {foreign[0][:80]!r}, which is no part of a project.")
    if missing := sorted(expected - set(sizes)):
        raise BadArchive(f"The archive lacks {missing[0]}.")
    packed = sum(small for small, _ in sizes.values())
    unpacked = sum(large for _, large in sizes.values())
    if unpacked > MAX_UNPACKED_BYTES or unpacked > MAX_RATIO * max(packed, 4096):
        raise BadArchive(f"The archive unpacks to {unpacked // 1024**2} MB, which is more than is taken.")


def check_manifest(manifest: object) -> dict[str, dict[str, Any]]:
    """The files of a manifest: name → {"sha256", "rows"}. Raises BadArchive."""
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BadArchive(f"The manifest is not that of a {FORMAT} archive.")
    if manifest.get("version") != VERSION:
        raise BadArchive(f"The archive has version {manifest.get('version')!r}; expected {VERSION}.")
    files = manifest.get("files")
    if not isinstance(files, dict) or set(files) != set(map(file_of, SECTIONS)):
        raise BadArchive("The manifest does not name the files of a project.")
    return files
