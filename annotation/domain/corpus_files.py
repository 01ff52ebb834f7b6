"""Read corpus files (`formats.CorpusFormat`) line by line into stories.

A line that cannot be used becomes a `Problem` with its file, line and one sentence; it stops nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from pydantic import AfterValidator, Field

from annotation.domain.columns import WrongColumns
from annotation.domain.formats import RECORDS, CorpusFormat
from annotation.domain.problems import Problem
from annotation.domain.records import belief_layout, fingerprint, record_layout
from annotation.domain.stories_csv import read_stories
from annotation.domain.story_rows import MAX_CATEGORY_LENGTH, MAX_NUMBER, MAX_STORY_LENGTH, PropositionRow, StoryRow
from core.incoming.encodings import BadText, Lines, utf8_lines
from core.incoming.json_lines import BadLine, lines_of, object_of_line
from core.incoming.misfit import Misfit, refusal
from core.incoming.shapes import Counted, Like, Open, Within
from core.incoming.sheets import BadSheet, rows_of
from core.language import gettext_noop
from core.plain import Json

MAX_PROPOSITIONS = 2_000


def _story(text: str) -> str:
    if not text.strip():
        raise refusal(gettext_noop("a story"), gettext_noop("it is empty"))
    if len(text) > MAX_STORY_LENGTH:
        raise refusal(
            gettext_noop(f"at most {MAX_STORY_LENGTH}"), gettext_noop(f"the story has {len(text)} characters")
        )
    return text


StoryText = Annotated[str, AfterValidator(_story)]
Number = Annotated[int, Within(0, MAX_NUMBER, gettext_noop("a whole number from 0 to 2^63 - 1"))]
CategoryName = Annotated[
    str,
    Like(rf"(?s)^.{{1,{MAX_CATEGORY_LENGTH}}}$", gettext_noop(f"a text of 1 to {MAX_CATEGORY_LENGTH} characters")),
]


class _Belief(Open):
    actor: str
    belief: str
    labels: dict[str, str] = {}


Beliefs = Annotated[list[_Belief], Counted(0, MAX_PROPOSITIONS)]


class _Record(Open):
    """A record of OmniToM, appendix B.5."""

    story_id: Number
    story_category: CategoryName
    story: StoryText
    beliefs: Beliefs


class _EnglishItem(Open):
    """The fields read from an English ToMBench item."""

    story: StoryText = Field(alias="STORY")
    translation: Any = Field(None, alias="故事")


class _ChineseItem(Open):
    story: StoryText = Field(alias="故事")
    translation: Any = Field(None, alias="STORY")


_ITEM: Mapping[str, type[_EnglishItem | _ChineseItem]] = {"en": _EnglishItem, "zh": _ChineseItem}


def story_of_record(record: Json, file: str, line: int, keys: Sequence[str]) -> StoryRow:
    """Return the story of a record (OmniToM, appendix B.5), every text verbatim; `keys` are the dimensions of the
    project. Raises Misfit."""
    parsed = _Record.of(record)
    rows = [_row_of(*both, keys) for both in zip(parsed.beliefs, record["beliefs"], strict=True)]
    return StoryRow(
        file,
        line,
        parsed.story_category,
        parsed.story,
        number=parsed.story_id,
        propositions=rows,
        fingerprint=fingerprint(record),
        layout=record_layout(record),
    )


def _row_of(parsed: _Belief, raw: Json, keys: Sequence[str]) -> PropositionRow:
    labels = parsed.labels if "labels" in parsed.model_fields_set else None
    return PropositionRow(parsed.actor, parsed.belief, labels, belief_layout(raw, labels, keys))


def story_of_question(record: Json, file: str, line: int, *, language: str, category: str) -> StoryRow:
    """Return the story of one ToMBench item, in `language`, with the other language as its translation. Raises
    Misfit."""
    item = _ITEM[language].of(record)
    other, translation = "zh" if language == "en" else "en", item.translation
    translations = {other: translation} if isinstance(translation, str) and translation.strip() else {}
    return StoryRow(file, line, category, item.story, language=language, translations=translations)


def category_of(file: str) -> str:
    """ToMBench names a file after its task; records use the same names."""
    return Path(file).stem[:MAX_CATEGORY_LENGTH]


def read_file(
    handle: BinaryIO, file: str, *, format: CorpusFormat, language: str, keys: Sequence[str], encoding: str = ""
) -> Iterator[StoryRow | Problem]:
    """The stories of one file in its order; where they have no numbers the first of each distinct text (identity: exact
    text).

    `keys` are the dimensions of the project that the stories go to; `encoding` is that of a file that is neither UTF-8
    nor UTF-16. What cannot be read on is a last Problem.
    """
    try:
        if format.in_sheet:
            yield from read_stories(rows_of(handle, file, encoding=encoding), file, language=language)
        else:
            yield from _records(utf8_lines(handle, file, encoding=encoding), file, format, language, keys)
    except (BadSheet, BadText, WrongColumns) as error:
        yield Problem(file, getattr(error, "line", 1), str(error))


def _records(
    handle: Lines, file: str, format: CorpusFormat, language: str, keys: Sequence[str]
) -> Iterator[StoryRow | Problem]:
    seen: set[str] = set()
    line = 0
    for line, raw in lines_of(handle):
        try:
            row = _row(raw, file, line, format=format, language=language, keys=keys)
        except (BadLine, Misfit) as error:
            yield Problem(file, line, str(error))
            continue
        if row is None or (not format.numbered and row.text in seen):
            continue
        if not format.numbered:
            seen.add(row.text)
        yield row
    if not line:
        yield Problem(file, 1, gettext_noop("The file is empty; expected one JSON object a line."))


def _row(
    raw: bytes | None, file: str, line: int, *, format: CorpusFormat, language: str, keys: Sequence[str]
) -> StoryRow | None:
    record = object_of_line(raw, nan=True)
    if record is None:
        return None
    if format == RECORDS:
        return story_of_record(record, file, line, keys)
    return story_of_question(record, file, line, language=language, category=category_of(file))
