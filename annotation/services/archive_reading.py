"""The file of an archive: checked as a whole before anything is made of it, then read line by line."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext

from annotation.domain.archive_format import MANIFEST, MAX_LINE_BYTES, BadArchive, check_contents, digests_of, file_of
from core.incoming.json_lines import BadLine, lines_of, object_of_line
from core.incoming.text import NotJson, json_of
from core.messages import Sentence, gettext_noop


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


def rows_of(archive: zipfile.ZipFile, section: str) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Number, row and length in bytes of each line of a section, of which a database can keep every text. Raises
    BadArchive."""
    file = file_of(section)
    with archive.open(file) as handle:
        for number, raw in lines_of(handle, longest=MAX_LINE_BYTES):
            try:
                yield number, _row(raw), len(raw or b"")
            except BadLine as error:
                raise BadArchive(
                    Sentence("{file}, line {number}: {error}", file=file, number=number, error=error)
                ) from error


def _row(raw: bytes | None) -> dict[str, Any]:
    row = object_of_line(raw, longest=MAX_LINE_BYTES)
    if row is None:
        raise BadLine(gettext_noop("The line is empty; expected one JSON object."))
    return row
