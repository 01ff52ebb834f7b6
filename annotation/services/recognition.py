"""Recognition of files by their first line, before anything else is read of them (`domain.formats`)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.utils.translation import gettext

from annotation.domain.columns import names_of
from annotation.domain.formats import IMPORTED, FileFormat, formats_of
from core import joints
from core.incoming.encodings import BadText, encoding_of, seekable, utf8_lines
from core.incoming.json_lines import lines_of
from core.incoming.sheets import BadSheet, is_workbook, rows_of
from core.joints import LIST, joint, listed

Opener = Callable[[], AbstractContextManager[BinaryIO]]
Source = tuple[str, Opener]
_SHEETS = (".csv", ".tsv", ".xlsx", ".xls", ".ods")
_START = 1024 * 1024
_MOST_FIELDS = 8
_NAMES_WITHIN = 64 * 1024
_NAME = re.compile(r'"(\w{1,60})"\s*:')


@dataclass(frozen=True, slots=True)
class Seen:
    """Guess of what files are: `formats` are those that all of them are of, `rows` what they hold together. `fields`
    are those of the first file that none fits, and `problem` says in a sentence why a file cannot be read."""

    files: int
    rows: int
    formats: Sequence[FileFormat]
    fields: Sequence[str] = ()
    file: str = ""
    problem: str = ""

    @property
    def here(self) -> list[FileFormat]:
        """The formats that the page *Import* takes."""
        return [file_format for file_format in self.formats if not file_format.page]

    @property
    def elsewhere(self) -> list[FileFormat]:
        """The formats that other pages take."""
        return [file_format for file_format in self.formats if file_format.page]

    @property
    def sentence(self) -> str:
        """One sentence on what the files seem to be."""
        if self.problem:
            return self.problem
        if not self.formats:
            return gettext("{file} is of no format that is known here{fields}.").format(
                file=self.file, fields=self._fields_text
            )
        first = self.formats[0]
        title = gettext(first.title)
        title = f"{title[0].lower()}{title[1:]}" if first.in_sheet else title
        description = joints.labelled(title, first.so_many(self.rows)) if self.rows else title
        if self.files == 1:
            return gettext("This looks like {description}.").format(description=description)
        return gettext("These look like {description} in {files} files.").format(
            description=description, files=self.files
        )

    @property
    def question(self) -> str:
        """The question which of several things the files are to become; empty where there is no choice."""
        uses = list(dict.fromkeys(file_format.becomes for file_format in self.formats))
        named = gettext(" or as ").join(gettext(use) for use in uses)
        return gettext("As {uses}?").format(uses=named) if len(uses) > 1 else ""

    @property
    def _fields_text(self) -> str:
        names = listed(name[:40] for name in self.fields[:_MOST_FIELDS] if name)
        more = f"{joint(LIST)}…" if len(self.fields) > _MOST_FIELDS else ""
        return gettext(": its first line has {names}{more}").format(names=names, more=more) if names else ""


def look_at(sources: Sequence[Source], *, encoding: str = "") -> Seen:
    """Return what files seem to be. Each is read once, in bounded memory; nothing of it is kept."""
    formats: list[FileFormat] | None = None
    rows = 0
    for name, opener in sources:
        file = Path(name).name
        try:
            fields, in_sheet, count = _fields(opener, file, encoding)
        except (BadSheet, BadText) as error:
            return Seen(len(sources), rows, (), file=file, problem=str(error))
        if in_sheet and not count and not any(fields):
            problem = gettext("{file} is empty: none of its rows has a cell.").format(file=file)
            return Seen(len(sources), rows, (), file=file, problem=problem)
        fitting = formats_of(fields, in_sheet=in_sheet)
        if not fitting:
            return Seen(len(sources), rows, (), fields, file)
        formats = fitting if formats is None else [file_format for file_format in formats if file_format in fitting]
        if not formats:
            return Seen(
                len(sources),
                rows,
                (),
                file=file,
                problem=gettext("{file} is of another format than the files before.").format(file=file),
            )
        rows += count
    return Seen(len(sources), rows, formats or ())


def other_format(seen: Seen, chosen: str) -> str:
    """Return one sentence where files seem to be of other formats than the one of that key; empty where they may be of
    it, or where nothing is known of them."""
    if not seen.formats or any(file_format.key == chosen for file_format in seen.formats):
        return ""
    what = gettext(" or ").join(
        dict.fromkeys(gettext(file_format.title) for file_format in seen.here or seen.elsewhere)
    )
    description, asked = seen.sentence.rstrip(".。"), gettext(IMPORTED[chosen].title)
    if seen.here:
        return gettext("{description}, not {asked}; choose {what}.").format(
            description=description, asked=asked, what=what
        )
    return gettext("{description}, not {asked}; choose {what}, which another page takes ({becomes}).").format(
        description=description, asked=asked, what=what, becomes=gettext(seen.elsewhere[0].becomes)
    )


def _fields(
    opener: Callable[[], AbstractContextManager[BinaryIO]], file: str, encoding: str
) -> tuple[list[str], bool, int]:
    """Return (names of fields, whether they are columns, number of rows). Raises BadSheet and BadText."""
    with opener() as handle:
        source = seekable(handle)
        start = source.read(_START)
        source.seek(0)
        if is_workbook(start) or (Path(file).suffix.lower() in _SHEETS) or not _is_json(start):
            with closing(rows_of(source, file, encoding=encoding)) as rows:
                header = next(rows, None)
                return names_of(header.cells) if header else [], True, sum(any(row.cells) for row in rows)
        lines = utf8_lines(source, file, encoding=encoding)
        first, count = b"", 0
        for _, line in lines_of(lines):
            count += line is None or bool(line.strip())
            first = first or (line or b"").strip()
        fields = _keys(first.decode("utf-8-sig", "replace"))
        return (fields, False, count) if fields else (_names(start), False, 0)


def _is_json(start: bytes) -> bool:
    return start.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")[:1] in (b"{", b"[")


def _keys(text: str) -> list[str]:
    """Return the fields of the first JSON object of a text; none where there is none that can be read."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return []
    return list(value) if isinstance(value, dict) else []


def _names(start: bytes) -> list[str]:
    """Return what look like fields in the first bytes of a file that is one JSON value over many lines."""
    text = start[:_NAMES_WITHIN].decode(encoding_of(start), "ignore")
    return list(dict.fromkeys(_NAME.findall(text)))
