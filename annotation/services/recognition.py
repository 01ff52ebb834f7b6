"""Recognition of files by their first line, before anything else is read of them (`domain.formats`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from django.utils.translation import gettext

from annotation.domain.columns import display_name
from annotation.domain.corpus_files import begins_json
from annotation.domain.formats import IMPORTED, FileFormat, formats_of, is_story
from core import joints
from core.incoming.encodings import BadText, seekable, utf8_lines
from core.incoming.json_records import JsonText
from core.incoming.sheets import BadSheet, rows_of
from core.joints import joint, listed

Opener = Callable[[], AbstractContextManager[BinaryIO]]
Source = tuple[str, Opener]
_MOST_FIELDS = 8


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
    def sentence(self) -> str:
        """One sentence on what the files seem to be."""
        if self.problem:
            return self.problem
        if not self.formats:
            unknown = gettext("{file} is of no format that is known here{fields}.").format(
                file=self.file, fields=self._fields_text
            )
            return joints.sentences(unknown, self._expected)
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
    def _fields_text(self) -> str:
        names = listed(name for name in map(display_name, self.fields[:_MOST_FIELDS]) if name)
        if not names:
            return ""
        first = gettext(": its first line has {names}") if self.in_sheet else gettext(": its first object has {names}")
        return first.format(names=names)

    @property
    def _expected(self) -> str:
        kinds = [kind for kind in IMPORTED.values() if (kind.in_sheet if self.in_sheet else kind.in_json)]
        formats = joint(";").join(joints.noted(gettext(kind.title), listed(sorted(kind.needed))) for kind in kinds)
        return gettext("Expected the fields of one of these: {formats}.").format(formats=formats)


def look_at(sources: Sequence[Source], *, encoding: str = "") -> Seen:
    """Return what files seem to be. Each is read once, in bounded memory; nothing of it is kept."""
    formats: list[FileFormat] | None = None
    rows = 0
    for name, opener in sources:
        file = Path(name).name
        refused = partial(Seen, len(sources), rows, (), file=file)
        try:
            fields, in_sheet, number = _looked(opener, file, encoding)
        except (BadSheet, BadText) as error:
            return refused(problem=str(error))
        if in_sheet and not number and not any(fields):
            return refused(problem=gettext("{file} is empty.").format(file=file))
        fitting = formats_of(fields, in_sheet=in_sheet)
        if not fitting:
            return refused(fields=fields, in_sheet=in_sheet)
        formats = fitting if formats is None else [file_format for file_format in formats if file_format in fitting]
        if not formats:
            return refused(problem=gettext("{file} is of another format than the files before.").format(file=file))
        rows += number
    return Seen(len(sources), rows, formats or ())


def other_format(seen: Seen, chosen: str) -> str:
    """Return one sentence if files seem to be of other formats than the one of that key. Returns "" if they may be of
    it, or if nothing is known of them."""
    if not seen.formats or any(file_format.key == chosen for file_format in seen.formats):
        return ""
    names = {"description": seen.sentence.rstrip(".。"), "asked": gettext(IMPORTED[chosen].title)}
    what = gettext(" or ").join(dict.fromkeys(gettext(file_format.title) for file_format in seen.formats))
    return gettext("{description}, not {asked}; choose {what}.").format(**names, what=what)


def _looked(opener: Opener, file: str, encoding: str) -> tuple[list[str], bool, int]:
    """Read a file to its end. Returns the columns or the fields of the first object, whether the file is a spreadsheet,
    and the number of rows or records. Raises BadSheet and BadText."""
    with opener() as handle:
        source = seekable(handle)
        if not begins_json(source):
            with closing(rows_of(source, file, encoding=encoding)) as rows:
                header = next(rows, None)
                return list(header.cells if header else []), True, sum(1 for _ in rows)
        fields, count = list[str](), 0
        for _, item in JsonText(utf8_lines(source, file, encoding=encoding), file, is_story).objects():
            count += 1
            fields = fields or (list(item) if isinstance(item, dict) else [])
        return fields, False, count
