"""Percept-ToMi as it is distributed: one CSV file whose cells hold Python literals, which are read as literals and
never evaluated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from benchmark.suites.copies import (
    LONGEST_LIST,
    BadImport,
    bytes_of,
    check_released,
    digest_of,
    licence_beside,
    list_in,
    rows_of_csv,
    text_of,
)

FILE = "Percept-ToMi.csv"
DIGEST = "9109505e318448b675e646555b6b183ad4ab8715d2e9ee37abe662c306ca896d"
"""The SHA-256 of the released file, as 64 hexadecimal digits, line ends as they were released."""
ROWS_OF_EACH = 75
"""The number of questions of each of the eight `RAW_TYPES`."""
COLUMNS = (
    "index", "qTypeRaw", "qType", "story", "question", "char1", "char2", "perceivers", "story_with_perceivers",
    "persp_ctx", "cands", "answer",
)  # fmt: skip
RAW_TYPES: Mapping[str, str] = {
    f"{order}_order_{what}_{belief}": f"{order}_order_{belief}"
    for order in ("first", "second")
    for what in (0, 1)
    for belief in ("tom", "no_tom")
}
"""The question type, of which there are four, of each raw one."""
_QUESTION = re.compile(r"Where .+ for the (.+)\?")


@dataclass(frozen=True, slots=True)
class PerceptQuestion:
    """A question. `perceivers` are those of each sentence as the file has them, the empty name among them; `candidates`
    are the places and things of the story, of which `answer` is one; `people` are one or two, those through whose eyes
    the question looks; `line` is that of the file, from 1."""

    key: str
    raw_type: str
    type: str
    story: tuple[str, ...]
    perceivers: tuple[tuple[str, ...], ...]
    question: str
    thing: str
    people: tuple[str, ...]
    candidates: tuple[str, ...]
    answer: str
    line: int


@dataclass(frozen=True, slots=True)
class PerceptToMi:
    """A copy of the benchmark: questions in the order of the file, the text of a licence file beside it, empty without
    one, and the file's SHA-256."""

    questions: Sequence[PerceptQuestion]
    licence: str
    digest: str


def read_percept_tomi(path: Path) -> PerceptToMi:
    """Read the file of a folder, or the file itself, and check that it is the released one. Raises BadImport."""
    file = path / FILE if path.is_dir() else path
    raw = bytes_of(file, "the file of Percept-ToMi")
    questions = list(_questions(text_of(raw, file.name), file.name))
    _check_counts(questions, file.name)
    digest = digest_of(raw)
    check_released(file.name, digest, DIGEST)
    return PerceptToMi(questions, licence_beside(file, "Percept-ToMi"), digest)


def _questions(text: str, name: str) -> Iterator[PerceptQuestion]:
    keys: dict[str, int] = {}
    for line, row in rows_of_csv(text, name, COLUMNS):
        question = _Row(row, name, line).question()
        if question.key in keys:
            raise BadImport(f"{name}, line {line}: the index {question.key} is that of line {keys[question.key]} too.")
        keys[question.key] = line
        yield question


def _check_counts(questions: Sequence[PerceptQuestion], name: str) -> None:
    counts = Counter(question.raw_type for question in questions)
    for raw_type in RAW_TYPES:
        if counts[raw_type] != ROWS_OF_EACH:
            raise BadImport(
                f"{name}: the number of questions of type {raw_type} is {counts[raw_type]}; expected {ROWS_OF_EACH}."
            )


class _Row:
    """A row, read cell by cell."""

    def __init__(self, cells: Mapping[str, str], name: str, line: int) -> None:
        self._cells, self._place, self._line = cells, f"{name}, line {line}", line

    def question(self) -> PerceptQuestion:
        raw_type = self._text("qTypeRaw")
        if RAW_TYPES.get(raw_type) != self._text("qType"):
            self._refuse(
                "qTypeRaw", f"it is {raw_type[:40]!r} beside {self._text('qType')[:40]!r}", "types that go together"
            )
        candidates = tuple(self._texts("cands"))
        if self._text("answer") not in candidates:
            self._refuse("answer", f"it is {self._text('answer')[:40]!r}", "one of the candidates")
        if not self._text("index").isascii() or not self._text("index").isdigit():
            self._refuse("index", f"it is {self._text('index')[:40]!r}", "a whole number")
        story, perceivers = self._annotated()
        return PerceptQuestion(
            key=self._text("index"),
            raw_type=raw_type,
            type=RAW_TYPES[raw_type],
            story=story,
            perceivers=perceivers,
            question=self._text("question"),
            thing=self._thing(),
            people=self._people(raw_type),
            candidates=candidates,
            answer=self._text("answer"),
            line=self._line,
        )

    def _refuse(self, column: str, actual: str, expected: str) -> NoReturn:
        raise BadImport(f"{self._place}, {column}: {actual}; expected {expected}.")

    def _text(self, column: str) -> str:
        text = self._cells[column].strip()
        if not text:
            self._refuse(column, "it is empty", "a text")
        return text

    def _thing(self) -> str:
        match = _QUESTION.fullmatch(self._text("question"))
        if match is None:
            self._refuse("question", f"it is {self._text('question')[:60]!r}", "“Where … for the …?”")
        return match[1]

    def _people(self, raw_type: str) -> tuple[str, ...]:
        second = self._cells["char2"].strip()
        if bool(second) != raw_type.startswith("second"):
            self._refuse("char2", f"it is {second[:40]!r}", "a name in questions of second order alone")
        return (self._text("char1"), second) if second else (self._text("char1"),)

    def _annotated(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """The sentences and their perceivers, which the file has twice."""
        story = tuple(self._texts("story"))
        perceivers = self._list("perceivers")
        for names in perceivers:
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                self._refuse("perceivers", "there is something else in it", "a list of lists of names")
        if len(perceivers) != len(story):
            self._refuse("perceivers", f"their number is {len(perceivers)}", f"{len(story)}, one for each sentence")
        twice = [{sentence: {*names} - {""}} for sentence, names in zip(story, perceivers, strict=True)]
        if twice != [_sets(scene) for scene in self._list("story_with_perceivers")]:
            self._refuse("story_with_perceivers", "it differs from story and perceivers", "the same in both")
        return story, tuple(tuple(names) for names in perceivers)

    def _texts(self, column: str) -> list[str]:
        texts = self._list(column)
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            self._refuse(column, "there is something else in it", "a list of texts that are not empty")
        return texts

    def _list(self, column: str) -> list[Any]:
        cell = self._text(column)
        values = list_in(cell)
        if values is None:
            self._refuse(column, f"it is {cell[:40]!r}", f"a Python list of up to {LONGEST_LIST} characters")
        return values


def _sets(scene: object) -> object:
    """The perceivers of a scene as a set, anything else as it is."""
    if not isinstance(scene, dict):
        return scene
    return {
        sentence: {*names} if isinstance(names, list) and all(isinstance(name, str) for name in names) else names
        for sentence, names in scene.items()
    }
