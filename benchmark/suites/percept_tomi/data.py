"""Percept-ToMi as it is distributed: one CSV file whose cells hold Python literals, which are read as literals and
never evaluated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from benchmark.domain.tables.table import ShortNames
from benchmark.suites.copies import (
    LONGEST_LIST,
    BadImport,
    CopyFile,
    CopySource,
    Imported,
    bytes_of,
    check_released,
    digest_of,
    licence_beside,
    list_in,
    rows_of_csv,
    text_of,
)
from benchmark.suites.questions import Sample
from core.messages import gettext_noop

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


SOURCE = CopySource(
    publisher=gettext_noop("the repository of its authors"),
    address="https://github.com/chanijung/PercepToM",
    folder="dataset",
    licence=gettext_noop(
        "The repository has no licence file; the paper announces CC BY-NC 4.0: share and adapt with attribution, not "
        "commercially."
    ),
    checked=gettext_noop("Questions of each type are counted, and the SHA-256 of the file is checked."),
    files=(
        CopyFile(FILE, gettext_noop("the 600 questions with stories and perceivers")),
        CopyFile("LICENSE", gettext_noop("a licence, if one came with your copy"), optional=True),
    ),
)


_ENTERED = re.compile(r"(\w+) (?:entered|is in) the (.+)")
_EXITED = re.compile(r"(\w+) exited the (.+)")
_MOVED = re.compile(r"(\w+) moved the (.+) to the (.+)")
_IS_IN = re.compile(r"The (.+) (?:is|are) in the (.+)")
_FEELS = re.compile(r"(\w+) (?:likes|loves|hates|dislikes) the (.+)")


@dataclass(frozen=True, slots=True)
class Scene:
    """A sentence as it stands, without its full stop, with those who perceive it in the order in which they came there,
    and where it says that a thing is: (thing, place), None where it says nothing of the kind."""

    sentence: str
    perceivers: tuple[str, ...]
    puts: tuple[str, str] | None = None


class UnknownSentence(ValueError):
    """A sentence of none of the forms."""


def track(sentences: Sequence[str], *, pass_over: bool = False) -> list[Scene]:
    """Return the scenes of a story. Raises UnknownSentence, or sets a sentence of none of the forms down as one that
    nobody perceives and that moves nothing where `pass_over` says so."""
    bare = [_tidy(sentence) for sentence in sentences]
    return list(_Tracker(bare, pass_over=pass_over).scenes())


def believed_place(scenes: Sequence[Scene], thing: str, *people: str) -> str | None:
    """Return where the first of `people` thinks that the second thinks … that a thing is: where the last scene that all
    of them perceived put it; None where they perceived none. Without people, where it is."""
    thing = _tidy(thing)
    placed = [
        scene.puts[1] for scene in scenes if scene.puts and scene.puts[0] == thing and {*people} <= {*scene.perceivers}
    ]
    return placed[-1] if placed else None


def places_of(scenes: Sequence[Scene], thing: str) -> list[str]:
    """Return the places where a story puts a thing, each once, in their order."""
    thing = _tidy(thing)
    return list(dict.fromkeys(scene.puts[1] for scene in scenes if scene.puts and scene.puts[0] == thing))


def with_perceivers(scenes: Sequence[Scene], perceivers: Sequence[Sequence[str]]) -> list[Scene]:
    """Return scenes with other perceivers, one list for each."""
    return [replace(scene, perceivers=tuple(names)) for scene, names in zip(scenes, perceivers, strict=True)]


def _tidy(text: str) -> str:
    """The text without its full stop; questions write `t - shirt` where stories have `t-shirt`."""
    return text.strip().removesuffix(".").replace(" - ", "-")


class _Tracker:
    """Tracker of where people are, sentence by sentence."""

    def __init__(self, sentences: Sequence[str], *, pass_over: bool) -> None:
        self._sentences = sentences
        self._pass_over = pass_over
        self._room_of = _rooms_of_containers(sentences)
        self._where: dict[str, str] = {}

    def scenes(self) -> Iterator[Scene]:
        for sentence in self._sentences:
            yield self._scene(sentence)

    def _scene(self, sentence: str) -> Scene:
        if match := _FEELS.fullmatch(sentence):
            return Scene(sentence, (match[1],))
        if match := _MOVED.fullmatch(sentence):
            return Scene(sentence, self._in_room(self._where.get(match[1], ""), match[1]), (match[2], match[3]))
        if match := _EXITED.fullmatch(sentence):
            perceivers = self._in_room(match[2], match[1])
            self._where.pop(match[1], None)
            return Scene(sentence, perceivers)
        if match := _IS_IN.fullmatch(sentence):
            room = self._room_of.get(match[2], match[2])
            return Scene(sentence, self._in_room(room), (match[1], match[2]))
        if match := _ENTERED.fullmatch(sentence):
            self._where.pop(match[1], None)
            self._where[match[1]] = match[2]
            return Scene(sentence, self._in_room(match[2]))
        if self._pass_over:
            return Scene(sentence, ())
        raise UnknownSentence(f"{sentence[:80]!r} is of none of the forms of ToMi's sentences.")

    def _in_room(self, room: str, actor: str = "") -> tuple[str, ...]:
        """Return those in a room, and the actor, wherever we think he is."""
        here = tuple(name for name, place in self._where.items() if place == room)
        return here if not actor or actor in here else (actor, *here)


def _rooms_of_containers(sentences: Sequence[str]) -> Mapping[str, str]:
    """The room of each container: what the sentence says that has it as its object, wherever in the story it stands."""
    rooms = {match[2] for sentence in sentences if (match := _ENTERED.fullmatch(sentence))}
    inside = (match for sentence in sentences if (match := _IS_IN.fullmatch(sentence)))
    return {match[1]: match[2] for match in inside if match[2] in rooms}


TYPES: Mapping[str, tuple[str, str]] = {
    "first_order_no_tom": ("first order", "true belief"),
    "first_order_tom": ("first order", "false belief"),
    "second_order_no_tom": ("second order", "true belief"),
    "second_order_tom": ("second order", "false belief"),
}
"""Order and scenario of each question type."""
CATEGORIES: ShortNames = {
    gettext_noop("First order, true belief"): "1st true",
    gettext_noop("First order, false belief"): "1st false",
    gettext_noop("Second order, true belief"): "2nd true",
    gettext_noop("Second order, false belief"): "2nd false",
}
LICENCE = "No licence comes with the file. The paper announces CC BY-NC 4.0, which is the licence of ToMi too."


def load(folder: Path) -> Imported:
    """Return the 600 questions of a copy. Raises BadImport."""
    copy = read_percept_tomi(folder)
    samples = list(samples_of(copy.questions))
    problems = [problem for question in copy.questions for problem in _problems(question)]
    return Imported("Percept-ToMi", samples, copy.licence or LICENCE, {FILE: copy.digest}, problems)


def samples_of(questions: Sequence[PerceptQuestion]) -> Iterator[Sample]:
    """Return the samples of questions, those about one story in one cluster. Raises BadImport."""
    clusters: dict[tuple[str, ...], str] = {}
    for question in questions:
        cluster = clusters.setdefault(question.story, f"story-{question.key}")
        yield _sample(question, cluster)


def _problems(question: PerceptQuestion) -> Iterator[dict[str, str | int]]:
    for number, names in enumerate(question.perceivers, start=1):
        if "" in names:
            yield {
                "file": FILE,
                "line": question.line,
                "message": f"Sentence {number} has an empty name as its perceiver; it is read as perceived by nobody.",
            }


def _sample(question: PerceptQuestion, cluster: str) -> Sample:
    order, scenario = TYPES[question.type]
    content = {
        "sentences": list(question.story),
        "question": question.question,
        "thing": question.thing,
        "people": list(question.people),
        "order": order,
        "scenario": scenario,
        "containers": _containers(question),
    }
    gold = {
        "answer": question.answer,
        "perceivers": [list(names) for names in question.perceivers],
        "candidates": list(question.candidates),
        "type": question.type,
        "raw_type": question.raw_type,
    }
    return Sample(question.key, cluster, content, gold, category=f"{order.capitalize()}, {scenario}")


def _containers(question: PerceptQuestion) -> list[str]:
    """The places where the story puts the thing, in their order."""
    try:
        places = places_of(track(question.story), question.thing)
    except UnknownSentence as error:
        raise BadImport(f"{FILE}, line {question.line}, story: {error}") from error
    if question.answer not in places:
        raise BadImport(
            f"{FILE}, line {question.line}, answer: it is {question.answer[:40]!r}; expected a place where "
            f"the story puts the {question.thing}."
        )
    return places
