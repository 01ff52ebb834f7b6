"""Stories of corpus files (`formats.CORPUS_FORMATS`): of spreadsheets and of JSON records, which are OmniToM's,
ToMBench's items, or any object with a text.

A line that cannot be used becomes a `Problem` with its file, line and one sentence; it stops nothing else.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from annotation.domain.columns import (
    WrongColumns,
    as_displayed,
    cell_of,
    columns_of,
    defused,
    fields_of,
    key_of,
    restored,
)
from annotation.domain.formats import QUESTIONS, RECORDS, FileFormat, is_story
from annotation.domain.problems import LeftOut, Problem
from annotation.domain.records import BELIEF_FIELDS, RECORD_FIELDS, belief_layout, fingerprint, record_layout
from core.digests import text_digest
from core.incoming.encodings import BadText, seekable, utf8_lines
from core.incoming.json_lines import BadLine
from core.incoming.json_records import JsonText, is_json
from core.incoming.misfit import Misfit, refusal
from core.incoming.shapes import Counted, Expected, Like, Open, Within
from core.incoming.sheets import BadSheet, SheetRow, Sheets, rows_of
from core.messages import Sentence, capitalised, gettext_noop
from core.plain import Json

MAX_STORY_LENGTH = 200_000
MAX_CATEGORY_LENGTH = 120
MAX_SPLIT_LENGTH = 40
MAX_NUMBER = 2**63 - 1


@dataclass(slots=True)
class PropositionRow:
    """`layout` is described in `records`; `labels` is None where the record has none."""

    actor: str
    belief: str
    labels: dict[str, str] | None = None
    layout: str = ""


@dataclass(slots=True)
class StoryRow:
    """`number` is None where the file has none. `line` is where it was first seen.

    `fingerprint` and `layout` are those of its record (see `records`).
    """

    file: str
    line: int
    category: str
    text: str
    number: int | None = None
    language: str = "en"
    translations: dict[str, str] = field(default_factory=dict)
    propositions: list[PropositionRow] | None = None
    fingerprint: str = ""
    layout: str = ""

    @property
    def digest(self) -> str:
        return text_digest(self.text)


REQUIRED = ("story",)
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "story": ("text",), "story_id": ("number", "id"), "category": ("story_category",), "translation": (),
}  # fmt: skip
_QUESTIONS = frozenset({"question", "questions", "问题"})


def read_stories(
    sheet: Iterable[SheetRow], file: str, *, language: str, left_out: LeftOut
) -> Iterator[StoryRow | Problem]:
    """Yield the stories of a spreadsheet in order, with a Problem in place of each row that cannot be used. A row
    without a category has the name of the file for one.

    Raises WrongColumns and BadSheet.
    """
    rows = iter(sheet)
    header = next(rows, SheetRow(1, []))
    spellings = spellings_for(header.cells)
    at, unused = columns_of(header.cells, file, required=REQUIRED, spellings=spellings, line=header.line)
    left_out.add(unused)
    for line, cells, problem in rows:
        values = {name: restored(cell_of(cells, at, name)) for name in at}
        values["story_id"] = as_displayed(values.get("story_id", ""))
        try:
            if problem:
                raise BadLine(capitalised(problem))
            yield _Object.of(values).row(file, line, language)
        except (BadLine, Misfit) as error:
            yield Problem(file, line, str(error))


def spellings_for(names: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the spellings of fields next to fields of these names: `id` is the number of a story unless each row has
    a question of its own, which it then numbers."""
    has_questions = any(key_of(name) in _QUESTIONS for name in names)
    return {**_SPELLINGS, "story_id": ()} if has_questions else _SPELLINGS


def typed_story(text: str, category: str) -> bytes:
    """Return the sheet, as `read_stories` takes it, of one story without a number."""
    sheet = io.StringIO()
    csv.writer(sheet, lineterminator="\n").writerows([("story", "category"), (defused(text), defused(category))])
    return sheet.getvalue().encode()


MAX_PROPOSITIONS = 2_000


def _story(text: str) -> str:
    if not text.strip():
        raise refusal(gettext_noop("a story"), gettext_noop("it is empty"))
    if len(text) > MAX_STORY_LENGTH:
        raise refusal(
            Sentence("at most {max_story_length}", max_story_length=MAX_STORY_LENGTH),
            Sentence("the story has {count} characters", count=len(text)),
        )
    return text


StoryText = Annotated[str, AfterValidator(_story)]
Number = Annotated[int, Within(0, MAX_NUMBER, gettext_noop("a whole number from 0 to 2^63 - 1"))]
CategoryName = Annotated[
    str,
    Like(
        rf"(?s)^.{{1,{MAX_CATEGORY_LENGTH}}}$",
        Sentence("a text of 1 to {max_category_length} characters", max_category_length=MAX_CATEGORY_LENGTH),
    ),
]


class _Belief(Open):
    actor: str
    belief: str
    labels: dict[str, str] = {}


class _Record(Open):
    """A record of OmniToM, appendix B.5."""

    story_id: Number
    story_category: CategoryName
    story: StoryText
    beliefs: Annotated[list[_Belief], Counted(0, MAX_PROPOSITIONS)]


class _EnglishItem(Open):
    """The fields read from an English ToMBench item."""

    story: StoryText = Field(alias="STORY")
    translation: Any = Field(None, alias="故事")


class _ChineseItem(Open):
    story: StoryText = Field(alias="故事")
    translation: Any = Field(None, alias="STORY")


def _number(value: Any) -> Any:
    if value is None or value == "":
        return None
    text = value.strip() if isinstance(value, str) else ""
    if text.isascii() and text.isdecimal() and len(text) < 20:
        value = int(text)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
        raise refusal(gettext_noop("a whole number, or nothing for the next free one"))
    return value


class _Object(Open):
    """A row of a spreadsheet or an object with the text of a story; other fields are named in the result of the
    import."""

    story: StoryText
    story_id: Annotated[int | None, BeforeValidator(_number)] = None
    category: Annotated[str | None, Field(max_length=MAX_CATEGORY_LENGTH)] = None
    translation: Annotated[str | None, Expected(gettext_noop("a text"))] = None

    def row(self, file: str, line: int, language: str) -> StoryRow:
        """Return the story, without a belief table. An empty category is the name of the file; a story with a number
        can be compared with the one of that number in the project."""
        category = (self.category or "").strip() or category_of(file)
        row = StoryRow(file, line, category, self.story, number=self.story_id, language=language)
        if (self.translation or "").strip():
            row.translations = {"zh" if language == "en" else "en": self.translation or ""}
        if self.story_id is not None:
            row.fingerprint = fingerprint({"story_id": self.story_id, "story_category": category, "story": self.story})
        return row


def _story_of_record(record: Json, file: str, line: int, keys: Sequence[str], left_out: LeftOut) -> StoryRow:
    """Return the story of a record (OmniToM, appendix B.5), every text verbatim; `keys` are the dimensions of the
    project. Exports of the record keep the fields that are not used. Raises Misfit."""
    left_out.add(name for name in record if name not in RECORD_FIELDS)
    beliefs = record["beliefs"] if isinstance(record.get("beliefs"), list) else []
    inner = (name for belief in beliefs if isinstance(belief, dict) for name in belief if name not in BELIEF_FIELDS)
    left_out.add(f"beliefs.{name}" for name in dict.fromkeys(inner))
    parsed, rows = _Record.of(record), []
    for belief, raw in zip(parsed.beliefs, beliefs, strict=True):
        labels = belief.labels if "labels" in belief.model_fields_set else None
        rows.append(PropositionRow(belief.actor, belief.belief, labels, belief_layout(raw, labels, keys)))
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


def _story_of_question(record: Json, file: str, line: int, language: str, left_out: LeftOut) -> StoryRow:
    """Return the story of one ToMBench item, in `language`, with the other language as its translation. Raises
    Misfit."""
    left_out.add(name for name in record if name not in ("STORY", "故事"))
    item: _EnglishItem | _ChineseItem = (_EnglishItem if language == "en" else _ChineseItem).of(record)
    other, translation = "zh" if language == "en" else "en", item.translation
    translations = {other: translation} if isinstance(translation, str) and translation.strip() else {}
    return StoryRow(file, line, category_of(file), item.story, language=language, translations=translations)


def category_of(file: str) -> str:
    """ToMBench names a file after its task; records use the same names."""
    return Path(file).stem[:MAX_CATEGORY_LENGTH]


def _story_of_object(record: Json, file: str, line: int, language: str, left_out: LeftOut) -> StoryRow:
    """Return the story of an object with a field `story` or `text`. Raises BadLine and Misfit."""
    fields, unused = fields_of(record, required=REQUIRED, spellings=spellings_for(record))
    if not fields.keys() & set(REQUIRED):
        keys, values = ", ".join(list(record)[:8])[:120] or gettext_noop("no field"), "story, text"
        raise BadLine(Sentence("The object has {keys}; expected one of {values}.", keys=keys, values=values))
    story = _Object.of(fields).row(file, line, language)
    left_out.add(unused)
    return story


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
    start = source.read(4096)
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
                yield _story_of_record(item, file, line, keys, left_out)
            elif format == QUESTIONS:
                yield _story_of_question(item, file, line, language, left_out)
            else:
                yield _story_of_object(item, file, line, language, left_out)
        except (BadLine, Misfit) as error:
            yield Problem(file, line, str(error))
    left_out.add(text.around)
    if not line:
        yield Problem(file, 1, gettext_noop("The file is empty; expected one JSON object a line."))
