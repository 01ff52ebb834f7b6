"""Stories of JSON records: of OmniToM's, of ToMBench's items, and of any object with the text of a story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from annotation.domain.columns import fields_of, key_of
from annotation.domain.records import BELIEF_FIELDS, RECORD_FIELDS, belief_layout, fingerprint, record_layout
from annotation.domain.stories_csv import REQUIRED, WHOLE_NUMBER, described_story, is_number, spellings_for
from annotation.domain.story_rows import MAX_CATEGORY_LENGTH, MAX_NUMBER, MAX_STORY_LENGTH, PropositionRow, StoryRow
from core.incoming.json_lines import BadLine
from core.incoming.misfit import refusal
from core.incoming.shapes import Counted, Expected, Like, Open, Within
from core.messages import Sentence, gettext_noop
from core.plain import Json

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
    if isinstance(value, str) and is_number(value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
        raise refusal(WHOLE_NUMBER)
    return value


class _Object(Open):
    """An object with the text of a story; other fields are named in the result of the import."""

    story: StoryText
    story_id: Annotated[int | None, BeforeValidator(_number)] = None
    category: Annotated[str | None, Field(max_length=MAX_CATEGORY_LENGTH)] = None
    translation: Annotated[str | None, Expected(gettext_noop("a text"))] = None


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
    parsed = _Object.of(fields)
    row = described_story(
        file,
        line,
        parsed.story,
        number=parsed.story_id,
        category=parsed.category or "",
        translation=parsed.translation or "",
        language=language,
    )
    return row, unused


def with_names(record: Json) -> Json:
    """Return an OmniToM record with the fields that are read under the names that they have in the format."""
    named = _renamed(record, RECORD_FIELDS)
    beliefs = named.get("beliefs")
    if not isinstance(beliefs, list):
        return named
    renamed = [_renamed(belief, BELIEF_FIELDS) if isinstance(belief, dict) else belief for belief in beliefs]
    return named if renamed == beliefs else {**named, "beliefs": renamed}


def _renamed(record: Json, names: Sequence[str]) -> Json:
    by_key = {key_of(name): name for name in names if name not in record}
    if not by_key or not by_key.keys() & set(map(key_of, record)):
        return record
    return {by_key.pop(key_of(name), name): value for name, value in record.items()}


def foreign_fields(record: Json) -> list[str]:
    """Return the fields of an OmniToM record that are not used; exports of the record keep them."""
    names = [name for name in record if name not in RECORD_FIELDS]
    beliefs = record["beliefs"] if isinstance(record.get("beliefs"), list) else []
    inner = (name for belief in beliefs if isinstance(belief, dict) for name in belief if name not in BELIEF_FIELDS)
    return names + [f"beliefs.{name}" for name in dict.fromkeys(inner)]
