"""Recognition of files by their first line, before anything else is read of them (`domain.formats`)."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import BinaryIO

from django.utils.translation import gettext

from annotation.domain.columns import display_name
from annotation.domain.corpus_files import begins_json
from annotation.domain.formats import IMPORTED, WHAT_IT_SEEMS, FileFormat, formats_of, is_story
from core import joints
from core.incoming.encodings import BadText, seekable, utf8_lines
from core.incoming.json_records import JsonText
from core.incoming.sheets import rows_of
from core.joints import joint, listed

Opener = Callable[[], AbstractContextManager[BinaryIO]]
Source = tuple[str, Opener]
_MOST_FIELDS = 8


def format_of(sources: Sequence[Source], chosen: str, *, encoding: str = "") -> tuple[FileFormat, str]:
    """Return the chosen format of files, or the one that they seem to be of, and a sentence on what they seem to be.
    Returns no sentence if they are of a chosen format and not recognised: its importer says what they lack.

    Each file is read to its end, in bounded memory. Raises BadText and BadSheet, also if the files seem to be of
    another format.
    """
    formats: list[FileFormat] | None = None
    rows = 0
    for name, opener in sources:
        file = Path(name).name
        fields, in_sheet, number = _looked(opener, file, encoding)
        if in_sheet and not number and not any(fields):
            raise BadText(gettext("{file} is empty.").format(file=file))
        fitting = formats_of(fields, in_sheet=in_sheet)
        if not fitting and chosen != WHAT_IT_SEEMS:
            return IMPORTED[chosen], ""
        if not fitting:
            raise BadText(_unknown(file, fields, in_sheet=in_sheet))
        formats = [file_format for file_format in formats or fitting if file_format in fitting]
        if not formats:
            raise BadText(gettext("{file} is of another format than the files before.").format(file=file))
        rows += number
    assert formats, "there is a file"
    sentence = _sentence(formats[0], rows, len(sources))
    if chosen == WHAT_IT_SEEMS:
        return formats[0], sentence
    if IMPORTED[chosen] not in formats:
        names = {"description": sentence.rstrip(".。"), "asked": gettext(IMPORTED[chosen].title)}
        text = gettext("{description}, not {asked}; choose {what}.")
        raise BadText(text.format(**names, what=gettext(formats[0].title)))
    return IMPORTED[chosen], sentence


def _sentence(file_format: FileFormat, rows: int, files: int) -> str:
    """Return one sentence on what files seem to be."""
    title = gettext(file_format.title)
    title = f"{title[0].lower()}{title[1:]}" if file_format.in_sheet else title
    description = joints.labelled(title, file_format.so_many(rows)) if rows else title
    if files == 1:
        return gettext("This looks like {description}.").format(description=description)
    return gettext("These look like {description} in {files} files.").format(description=description, files=files)


def _unknown(file: str, fields: Sequence[str], *, in_sheet: bool) -> str:
    """Return a sentence about a file of no known format, and one on what would fit."""
    names = listed(name for name in map(display_name, fields[:_MOST_FIELDS]) if name)
    first = gettext(": its first line has {names}") if in_sheet else gettext(": its first object has {names}")
    text = gettext("{file} is of no format that is known here{fields}.")
    unknown = text.format(file=file, fields=first.format(names=names) if names else "")
    kinds = [kind for kind in IMPORTED.values() if (kind.in_sheet if in_sheet else kind.in_json)]
    formats = joint(";").join(joints.noted(gettext(kind.title), listed(sorted(kind.needed))) for kind in kinds)
    expected = gettext("Expected the fields of one of these: {formats}.").format(formats=formats)
    return joints.sentences(unknown, expected)


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
