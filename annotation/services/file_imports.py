"""Files of any format on the page *Import*: recognising, checking and importing them."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.utils.translation import gettext

from annotation.domain.columns import WrongColumns, display_name
from annotation.domain.formats import IMPORTED, LABELS, TABLES, WHAT_IT_SEEMS, FileFormat, formats_of, is_story
from annotation.domain.stories import begins_json
from annotation.models import Project, User
from annotation.services.corpus_import import ImportRefused, import_corpus
from annotation.services.import_results import ImportResult, Opener, Source
from annotation.services.table_import import import_tables
from annotation.services.vote_import import ImportBroken, import_votes
from core import joints
from core.incoming.encodings import BadText, seekable, utf8_lines
from core.incoming.json_records import JsonText
from core.incoming.sheets import BadSheet, rows_of
from core.joints import joint, listed
from core.plain import Json

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


@dataclass(frozen=True, slots=True)
class Answer:
    """What files seem to be, and the result if they were imported or checked, else the reason in `refusal`."""

    format: FileFormat | None = None
    seems: str = ""
    result: ImportResult | None = None
    refusal: str = ""
    kept: bool = False

    @property
    def heading(self) -> str:
        """The outcome of the files as a whole."""
        if self.result is None:
            return gettext("Nothing was imported")
        return self.result.heading(kept=self.kept)


def import_files(
    *,
    by: User,
    project: Project,
    sources: Sequence[Source],
    now: datetime,
    keep: bool,
    format: str = WHAT_IT_SEEMS,
    language: str = "en",
    encoding: str = "",
    replace: bool = False,
    sure: bool = False,
) -> Answer:
    """Import files into a project, or only check them. A file that cannot be read to its end refuses all.
    `replace` writes over existing tables, if the reader is `sure`."""
    try:
        chosen, seems = format_of(sources, format, encoding=encoding)
    except (BadSheet, BadText) as error:
        return Answer(refusal=str(error))
    keep = keep and (chosen != TABLES or not replace or sure)
    options: Json = {"by": by, "encoding": encoding, "dry_run": not keep}
    try:
        if chosen not in (TABLES, LABELS):
            options |= {"project_slug": project.slug, "format": chosen.key, "language": language}
            return Answer(chosen, seems, import_corpus(**options, sources=sources), kept=keep)
        if len(sources) > 1:
            text = gettext("{title}: {sources} files; choose one at a time.")
            raise ImportRefused(text.format(title=chosen.title, sources=len(sources)))
        ((name, opener),) = sources
        with opener() as handle:
            options |= {"project": project, "handle": handle, "file": name, "now": now}
            result = import_tables(**options, replace=replace) if chosen == TABLES else import_votes(**options)
    except (ImportRefused, ImportBroken, WrongColumns, BadSheet, BadText) as error:
        return Answer(chosen, seems, refusal=str(error))
    return Answer(chosen, seems, result, kept=keep)
