"""Stories kept in a spreadsheet: one row a story, its text in a column `story` or `text`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from annotation.domain.columns import as_displayed, cell_of, columns_of, key_of
from annotation.domain.left_out import LeftOut
from annotation.domain.problems import Problem
from annotation.domain.records import fingerprint
from annotation.domain.spreadsheet import defused, restored
from annotation.domain.story_rows import MAX_CATEGORY_LENGTH, MAX_NUMBER, MAX_STORY_LENGTH, StoryRow
from core.incoming.sheets import SheetRow
from core.messages import Sentence, capitalised, gettext_noop

REQUIRED = ("story",)
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "story": ("text",), "story_id": ("number", "id"), "category": ("story_category",), "translation": (),
}  # fmt: skip
_QUESTIONS = frozenset({"question", "questions", "问题"})
WHOLE_NUMBER = gettext_noop("a whole number, or nothing for the next free one")


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
        if sentence := (problem and capitalised(problem)) or _problem(cells, at):
            yield Problem(file, line, sentence)
        else:
            yield _row(cells, at, file, line, language)


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


def is_number(text: str) -> bool:
    """Return whether a text is the number of a story."""
    return text.isascii() and text.isdecimal() and len(text) < 20 and int(text) <= MAX_NUMBER


def described_story(
    file: str, line: int, text: str, *, number: int | None, category: str, translation: str, language: str
) -> StoryRow:
    """Return a story without a belief table. An empty category is the name of the file; a story with a number can be
    compared with the one of that number in the project."""
    category = category.strip() or Path(file).stem[:MAX_CATEGORY_LENGTH]
    row = StoryRow(file, line, category, text, number=number, language=language)
    if translation.strip():
        row.translations = {"zh" if language == "en" else "en": translation}
    if number is not None:
        row.fingerprint = fingerprint({"story_id": number, "story_category": category, "story": text})
    return row


def _problem(cells: list[str], at: Mapping[str, int]) -> str:
    text, number, category = (cell_of(cells, at, name) for name in ("story", "story_id", "category"))
    if not text.strip():
        return gettext_noop("story is empty; expected the text of a story.")
    if len(text) > MAX_STORY_LENGTH:
        return Sentence(
            "The story has {count} characters; expected at most {max_story_length}.",
            count=len(text),
            max_story_length=MAX_STORY_LENGTH,
        )
    number = as_displayed(number)
    if number and not is_number(number):
        return Sentence(
            "story_id is {number}; expected {whole_number}.", number=repr(number[:40]), whole_number=WHOLE_NUMBER
        )
    if len(category.strip()) > MAX_CATEGORY_LENGTH:
        return Sentence(
            "category has {category} characters; expected at most {max_category_length}.",
            category=len(category),
            max_category_length=MAX_CATEGORY_LENGTH,
        )
    return ""


def _row(cells: list[str], at: Mapping[str, int], file: str, line: int, language: str) -> StoryRow:
    text, category, translation = (restored(cell_of(cells, at, name)) for name in ("story", "category", "translation"))
    number = as_displayed(cell_of(cells, at, "story_id"))
    return described_story(
        file,
        line,
        text,
        number=int(number) if number else None,
        category=category,
        translation=translation,
        language=language,
    )
