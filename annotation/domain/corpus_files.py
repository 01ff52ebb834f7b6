"""Read corpus files (`formats.CORPUS_FORMATS`) into stories.

A line that cannot be used becomes a `Problem` with its file, line and one sentence; it stops nothing else.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from annotation.domain.columns import WrongColumns
from annotation.domain.formats import QUESTIONS, RECORDS, FileFormat, is_story
from annotation.domain.problems import LeftOut, Problem
from annotation.domain.stories import (
    ITEM_FIELDS,
    StoryRow,
    category_of,
    foreign_fields,
    read_stories,
    story_of_object,
    story_of_question,
    story_of_record,
)
from core.incoming.encodings import BadText, seekable, utf8_lines
from core.incoming.json_lines import BadLine
from core.incoming.json_records import JsonText, is_json
from core.incoming.misfit import Misfit
from core.incoming.sheets import BadSheet, Sheets, rows_of
from core.messages import gettext_noop

_START = 4096


def read_file(
    handle: IO[bytes],
    file: str,
    *,
    format: FileFormat,
    language: str,
    keys: Sequence[str],
    left_out: LeftOut,
    encoding: str = "",
) -> Iterator[StoryRow | Problem]:
    """The stories of one file in its order; of those without numbers that say the same the first. Items that repeat the
    story with each of its questions may translate it differently: of those the first of each text. `left_out` takes
    the columns, fields and sheets that are not used.

    `keys` are the dimensions of the project that the stories go to; `encoding` is that of a file that is neither UTF-8
    nor UTF-16. A file that cannot be read to its end is a last Problem.
    """
    source = seekable(handle)
    seen, sheets = set[tuple[str, ...]](), Sheets()
    try:
        if format.in_sheet and not begins_json(source):
            rows = rows_of(source, file, encoding=encoding, sheets=sheets)
            items: Iterable[StoryRow | Problem] = read_stories(rows, file, language=language, left_out=left_out)
        else:
            text = JsonText(utf8_lines(source, file, encoding=encoding), file, is_story)
            items = _stories(text, file, format, language, keys, left_out)
        for item in items:
            if isinstance(item, StoryRow) and item.number is None:
                others = () if format == QUESTIONS else (item.category, *item.translations.values())
                if (identity := (item.digest, *others)) in seen:
                    continue
                seen.add(identity)
            yield item
    except (BadSheet, BadText, WrongColumns) as error:
        yield Problem(file, getattr(error, "line", 1), str(error))
    left_out.add_sheets(sheets)


def begins_json(source: IO[bytes]) -> bool:
    """Return whether a file is JSON and no spreadsheet, by its beginning."""
    source.seek(0)
    start = source.read(_START)
    source.seek(0)
    return is_json(start)


def _stories(
    text: JsonText, file: str, format: FileFormat, language: str, keys: Sequence[str], left_out: LeftOut
) -> Iterator[StoryRow | Problem]:
    """Yield the stories of the records of a JSON text, in one of the formats."""
    line = 0
    for line, item in text.objects():
        try:
            if isinstance(item, BadLine):
                raise item
            if format == RECORDS:
                left_out.add(foreign_fields(item))
                yield story_of_record(item, file, line, keys)
            elif format == QUESTIONS:
                left_out.add(name for name in item if name not in ITEM_FIELDS)
                yield story_of_question(item, file, line, language=language, category=category_of(file))
            else:
                story, unused = story_of_object(item, file, line, language=language)
                left_out.add(unused)
                yield story
        except (BadLine, Misfit) as error:
            yield Problem(file, line, str(error))
    left_out.add(text.around)
    if not line:
        yield Problem(file, 1, gettext_noop("The file is empty; expected one JSON object a line."))
