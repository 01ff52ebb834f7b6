"""The file of an archive: checked as a whole before anything is made of it, then read line by line."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator

from annotation.domain.archive_format import (
    MANIFEST,
    MAX_LINE_BYTES,
    BadArchive,
    check_contents,
    digests_of,
    file_of,
)
from core.incoming.text import NotJson, json_of


def checked(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the SHA-256 of each file, which the manifest says, too. Raises BadArchive."""
    entries = archive.infolist()
    sizes = {entry.filename: (entry.compress_size, entry.file_size) for entry in entries}
    if len(sizes) < len(entries):
        raise BadArchive("The archive holds a name twice.")
    check_contents(sizes)
    with archive.open(MANIFEST) as handle:
        try:
            files = digests_of(json_of(handle.read(MAX_LINE_BYTES)))
        except NotJson as error:
            raise BadArchive(error.told(MANIFEST)) from error
    for name, expected in files.items():
        digest = hashlib.sha256()
        with archive.open(name) as handle:
            while chunk := handle.read(1 << 20):
                digest.update(chunk)
        if expected != digest.hexdigest():
            raise BadArchive(f"{name} is not what the manifest says; the archive was damaged or changed.")
    return files


def lines_of(archive: zipfile.ZipFile, section: str) -> Iterator[tuple[int, dict, int]]:
    """Number, row and length in bytes of each line of a section. Raises BadArchive."""
    file = file_of(section)
    with archive.open(file) as handle:
        number = 0
        while raw := handle.readline(MAX_LINE_BYTES + 1):
            number += 1
            try:
                row = json.loads(raw) if len(raw) <= MAX_LINE_BYTES else None
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise BadArchive(f"{file}, line {number}: expected one JSON object of at most 16 MB.")
            yield number, row, len(raw)
