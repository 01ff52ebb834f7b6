"""Recognition of files by their first line, before anything else is read of them (`domain.formats`)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from django.utils.translation import gettext

from annotation.domain.columns import display_name
from annotation.domain.formats import IMPORTED, FileFormat, formats_of, is_story, nearest
from core import joints
from core.incoming.encodings import BadText, encoding_of, seekable, utf8_lines
from core.incoming.json_records import JsonText, NoRecords, is_json
from core.incoming.sheets import BadSheet, rows_of
from core.joints import LIST, joint, listed

Opener = Callable[[], AbstractContextManager[BinaryIO]]
Source = tuple[str, Opener]
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
    in_sheet: bool = False

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
            unknown = gettext("{file} is of no format that is known here{fields}.").format(
                file=self.file, fields=self._fields_text
            )
            return joints.sentences(unknown, self._nearest)
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
        names = listed(display_name(name)[:40] for name in self.fields[:_MOST_FIELDS] if display_name(name))
        more = f"{joint(LIST)}…" if len(self.fields) > _MOST_FIELDS else ""
        if not names:
            return ""
        if self.in_sheet:
            return gettext(": its first line has {names}{more}").format(names=names, more=more)
        return gettext(": its first object has {names}{more}").format(names=names, more=more)

    @property
    def _nearest(self) -> str:
        """One sentence on what would fit."""
        lacks = nearest(self.fields, in_sheet=self.in_sheet)
        if len(lacks) == 1:
            return gettext("The nearest format is {title}, which needs {missing} too.").format(
                title=gettext(lacks[0][0].title), missing=listed(lacks[0][1])
            )
        formats = (joints.noted(gettext(kind.title), listed(missing)) for kind, missing in lacks)
        return gettext("Expected the fields of one of these: {formats}.").format(formats=joint(";").join(formats))


def look_at(sources: Sequence[Source], *, encoding: str = "") -> Seen:
    """Return what files seem to be. Each is read once, in bounded memory; nothing of it is kept."""
    formats: list[FileFormat] | None = None
    rows = 0
    for name, opener in sources:
        file = Path(name).name
        refused = partial(Seen, len(sources), rows, (), file=file)
        try:
            looked = _looked(opener, file, encoding)
        except (BadSheet, BadText) as error:
            return refused(problem=str(error))
        if looked.in_sheet and not looked.number and not any(looked.fields):
            return refused(problem=gettext("{file} is empty.").format(file=file))
        by_fields = formats_of(looked.fields, in_sheet=looked.in_sheet)
        fitting = _elsewhere(looked.around) or by_fields or _elsewhere(looked.within)
        if not fitting:
            return refused(fields=looked.fields, problem=looked.problem, in_sheet=looked.in_sheet)
        formats = fitting if formats is None else [file_format for file_format in formats if file_format in fitting]
        if not formats:
            return refused(problem=gettext("{file} is of another format than the files before.").format(file=file))
        rows += looked.number if by_fields else 0
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


class _Looked(NamedTuple):
    """What is seen of a file: the fields by which it may be recognised, which are columns `in_sheet`; names around and
    within its records, by which formats of other pages are recognised; the number of rows or records; and why these
    cannot be told apart."""

    fields: Sequence[str]
    in_sheet: bool
    number: int
    around: Sequence[str] = ()
    within: Sequence[str] = ()
    problem: str = ""


def _elsewhere(names: Sequence[str]) -> list[FileFormat]:
    """Return the formats that pages of other apps take, by names in a document."""
    return [file_format for file_format in formats_of(names, in_sheet=False) if file_format.page]


def _looked(opener: Opener, file: str, encoding: str) -> _Looked:
    """Read a file to its end. Raises BadSheet and BadText."""
    with opener() as handle:
        source = seekable(handle)
        start = source.read(_START)
        source.seek(0)
        if not is_json(start):
            with closing(rows_of(source, file, encoding=encoding)) as rows:
                header = next(rows, None)
                return _Looked(header.cells if header else [], True, sum(1 for _ in rows))
        text = JsonText(utf8_lines(source, file, encoding=encoding), file, is_story)
        looked = _of_document(text) if text.is_document else _of_lines(text)
        return looked._replace(around=text.names, within=_names(start))


def _of_document(text: JsonText) -> _Looked:
    fields, count = list[str](), 0
    try:
        for _, item in text.objects():
            count += 1
            fields = fields or (list(item) if isinstance(item, dict) else [])
    except NoRecords as error:  # a page of another app may take it
        return _Looked([], False, 0, problem=str(error))
    return _Looked(fields, False, count)


def _of_lines(text: JsonText) -> _Looked:
    first, count = b"", 0
    for _, line in text.lines():
        count += line is None or bool(line.strip())
        first = first or (line or b"").strip()
    return _Looked(_keys(first.decode("utf-8-sig", "replace")), False, count)


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
