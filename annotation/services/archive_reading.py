"""The file of an archive: checked as a whole before anything is made of it, then read line by line."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext

from annotation.domain.archive_format import (
    ADDED,
    MANIFEST,
    MAX_LINE_BYTES,
    BadArchive,
    check_contents,
    digests_of,
    file_of,
)
from core.incoming.text import NotJson, json_of, json_of_line, unstorable
from core.language import gettext_noop

_EXPECTED = gettext_noop(f"expected one JSON object of at most {MAX_LINE_BYTES // 1024**2} MB")


def checked(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the SHA-256 of each file, which the manifest says, too. Raises BadArchive."""
    entries = archive.infolist()
    sizes = {entry.filename: (entry.compress_size, entry.file_size) for entry in entries}
    if len(sizes) < len(entries):
        raise BadArchive(gettext("The archive holds a name twice."))
    check_contents(sizes)
    with archive.open(MANIFEST) as handle:
        try:
            files = digests_of(json_of(handle.read(MAX_LINE_BYTES)))
        except NotJson as error:
            raise BadArchive(error.message_for(MANIFEST)) from error
    for name, expected in files.items():
        digest = hashlib.sha256()
        with archive.open(name) as handle:
            while chunk := handle.read(1 << 20):
                digest.update(chunk)
        if expected != digest.hexdigest():
            raise BadArchive(
                gettext("{name} is not what the manifest says; the archive was damaged or changed.").format(name=name)
            )
    return files


def lines_of(archive: zipfile.ZipFile, section: str) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Number, row and length in bytes of each line of a section, of which a database can keep every text. Raises
    BadArchive."""
    file = file_of(section)
    if section in ADDED and file not in archive.namelist():
        return
    with archive.open(file) as handle:
        number = 0
        while raw := handle.readline(MAX_LINE_BYTES + 1):
            number += 1
            try:
                yield number, _row(raw), len(raw)
            except BadLine as error:
                raise BadArchive(gettext_noop(f"{file}, line {number}: {error}")) from error


class BadLine(ValueError):
    """A line of a section holds no row; the message is one sentence."""


def _row(raw: bytes) -> dict[str, Any]:
    if len(raw) > MAX_LINE_BYTES:
        raise BadLine(f"{_EXPECTED}.")
    try:
        row = json_of_line(raw)
    except NotJson as error:
        raise BadLine(f"{_EXPECTED}; {error.actual}.") from error
    if not isinstance(row, dict):
        raise BadLine(f"{_EXPECTED}.")
    if b"\\u" in raw and (what := unstorable(row)):
        raise BadLine(gettext("it cannot be kept: {what}.").format(what=what))
    return row
