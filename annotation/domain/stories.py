"""Stories of spreadsheets and of JSON records: of OmniToM's, of ToMBench's items, and of any object with a text."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from annotation.domain.columns import as_displayed, cell_of, columns_of, defused, fields_of, key_of, restored
from annotation.domain.problems import LeftOut, Problem
from annotation.domain.records import BELIEF_FIELDS, RECORD_FIELDS, belief_layout, fingerprint, record_layout
from core.digests import text_digest
from core.incoming.json_lines import BadLine
from core.incoming.misfit import Misfit, refusal
from core.incoming.shapes import Counted, Expected, Like, Open, Within
from core.incoming.sheets import SheetRow
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
ITEM_FIELDS = ("STORY", "故事")
"""Fields of a ToMBench item that are used."""


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


def story_of_object(record: Json, file: str, line: int, *, language: str) -> tuple[StoryRow, list[str]]:
    """Return the story of an object with a field `story` or `text`, and the names of the fields that are not used.
    Raises BadLine and Misfit."""
    fields, unused = fields_of(record, required=REQUIRED, spellings=spellings_for(record))
    if not fields.keys() & set(REQUIRED):
        keys, values = ", ".join(list(record)[:8])[:120] or gettext_noop("no field"), "story, text"
        raise BadLine(Sentence("The object has {keys}; expected one of {values}.", keys=keys, values=values))
    return _Object.of(fields).row(file, line, language), unused


def foreign_fields(record: Json) -> list[str]:
    """Return the fields of an OmniToM record that are not used; exports of the record keep them."""
    names = [name for name in record if name not in RECORD_FIELDS]
    beliefs = record["beliefs"] if isinstance(record.get("beliefs"), list) else []
    inner = (name for belief in beliefs if isinstance(belief, dict) for name in belief if name not in BELIEF_FIELDS)
    return names + [f"beliefs.{name}" for name in dict.fromkeys(inner)]
