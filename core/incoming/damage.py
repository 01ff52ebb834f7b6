"""Faults of files that libraries raise errors of their own for, as one sentence; and the limits on packed files."""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from core.messages import Sentence
from core.storage_trouble import sentence_of

MOST_UNPACKED = 500 * 1024 * 1024
MOST_FILES = 2_000


@contextmanager
def damage_as(refusal: Callable[[Exception], Exception], *own: type[Exception]) -> Iterator[None]:
    """Raise what `refusal` makes of an error instead of whatever a library raises for a damaged file: a damaged byte
    can end in any error. The `own` errors already are sentences and pass, and so do errors of a full disk or a database
    that is away."""
    try:
        yield
    except own:
        raise
    except Exception as error:
        if sentence_of(error, place=""):
            raise
        raise refusal(error) from error


def fault_of(error: Exception) -> str:
    """Return the first line of an error's text, or its name where it has no text."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def oversize(archive: zipfile.ZipFile, *, most_bytes: int = MOST_UNPACKED, most_files: int = MOST_FILES) -> str:
    """Return how a zip archive is too large to unpack, as the end of a sentence about it. Returns "" if it is not."""
    entries = archive.infolist()
    if len(entries) > most_files:
        sizes = {"entries": f"{len(entries):,}", "most_files": f"{most_files:,}"}
        return Sentence("holds {entries} files; expected at most {most_files}.", **sizes)
    if sum(entry.file_size for entry in entries) > most_bytes:
        return Sentence("unpacks to more than {most_bytes} MB.", most_bytes=f"{most_bytes // 2**20:,}")
    return ""
