"""Percept-ToMi as it is distributed: one CSV file whose cells hold Python literals, which are read as literals and
never evaluated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
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


def load(path: Path) -> Imported:
    """Return the questions of the file of a folder, or of the file itself, and check that it is the released one.
    Questions about one story share a cluster. Raises BadImport."""
    file = path / FILE if path.is_dir() else path
    raw = bytes_of(file, "the file of Percept-ToMi")
    lines: dict[str, int] = {}
    clusters: dict[tuple[str, ...], str] = {}
    samples: list[Sample] = []
    problems: list[Mapping[str, str | int]] = []
    for line, row in rows_of_csv(text_of(raw, file.name), file.name, COLUMNS):
        sample = _sample(_Cells(row, f"{file.name}, line {line}"), clusters)
        if sample.key in lines:
            raise BadImport(
                f"{file.name}, line {line}: the index {sample.key} is that of line {lines[sample.key]} too."
            )
        lines[sample.key] = line
        samples.append(sample)
        for number, names in enumerate(sample.gold["perceivers"], start=1):
            if "" in names:
                told = f"Sentence {number} has an empty name as its perceiver; it is read as perceived by nobody."
                problems.append({"file": FILE, "line": line, "message": told})
    counts = Counter(sample.gold["raw_type"] for sample in samples)
    for raw_type in RAW_TYPES:
        if counts[raw_type] != ROWS_OF_EACH:
            count = f"the number of questions of type {raw_type} is {counts[raw_type]}"
            raise BadImport(f"{file.name}: {count}; expected {ROWS_OF_EACH}.")
    digest = digest_of(raw)
    check_released(file.name, digest, DIGEST)
    samples = [_with_containers(sample, lines[sample.key]) for sample in samples]
    licence = licence_beside(file, "Percept-ToMi") or LICENCE
    return Imported("Percept-ToMi", samples, licence, {FILE: digest}, problems)


class _Cells:
    """The cells of a row; `place` names file and line."""

    def __init__(self, cells: Mapping[str, str], place: str) -> None:
        self._cells, self._place = cells, place

    def refuse(self, column: str, actual: str, expected: str) -> NoReturn:
        raise BadImport(f"{self._place}, {column}: {actual}; expected {expected}.")

    def raw(self, column: str) -> str:
        return self._cells[column].strip()

    def text(self, column: str) -> str:
        return self.raw(column) or self.refuse(column, "it is empty", "a text")

    def values(self, column: str) -> list[Any]:
        cell = self.text(column)
        values = list_in(cell)
        if values is None:
            self.refuse(column, f"it is {cell[:40]!r}", f"a Python list of up to {LONGEST_LIST} characters")
        return values

    def texts(self, column: str) -> list[str]:
        texts = self.values(column)
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            self.refuse(column, "there is something else in it", "a list of texts that are not empty")
        return texts


def _sample(cells: _Cells, clusters: dict[tuple[str, ...], str]) -> Sample:
    """Return the question of a row; `clusters` are those of the stories before it."""
    raw_type, key = cells.text("qTypeRaw"), cells.text("index")
    if RAW_TYPES.get(raw_type) != cells.text("qType"):
        together = f"it is {raw_type[:40]!r} beside {cells.text('qType')[:40]!r}"
        cells.refuse("qTypeRaw", together, "types that go together")
    candidates, answer = cells.texts("cands"), cells.text("answer")
    if answer not in candidates:
        cells.refuse("answer", f"it is {answer[:40]!r}", "one of the candidates")
    if not key.isascii() or not key.isdigit():
        cells.refuse("index", f"it is {key[:40]!r}", "a whole number")
    story, perceivers = _annotated(cells)
    question, second = cells.text("question"), cells.raw("char2")
    match = _QUESTION.fullmatch(question)
    if match is None:
        cells.refuse("question", f"it is {question[:60]!r}", "“Where … for the …?”")
    if bool(second) != raw_type.startswith("second"):
        cells.refuse("char2", f"it is {second[:40]!r}", "a name in questions of second order alone")
    order, scenario = TYPES[RAW_TYPES[raw_type]]
    content = {
        "sentences": story,
        "question": question,
        "thing": match[1],
        "people": [cells.text("char1"), *([second] if second else [])],
        "order": order,
        "scenario": scenario,
        "containers": [],
    }
    gold = {
        "answer": answer,
        "perceivers": perceivers,
        "candidates": candidates,
        "type": RAW_TYPES[raw_type],
        "raw_type": raw_type,
    }
    cluster = clusters.setdefault(tuple(story), f"story-{key}")
    return Sample(key, cluster, content, gold, category=f"{order.capitalize()}, {scenario}")


def _annotated(cells: _Cells) -> tuple[list[str], list[list[str]]]:
    """Return the sentences and their perceivers, which the file has twice."""
    story, perceivers = cells.texts("story"), cells.values("perceivers")
    if not all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in perceivers):
        cells.refuse("perceivers", "there is something else in it", "a list of lists of names")
    if len(perceivers) != len(story):
        cells.refuse("perceivers", f"their number is {len(perceivers)}", f"{len(story)}, one for each sentence")
    twice = [{sentence: {*names} - {""}} for sentence, names in zip(story, perceivers, strict=True)]
    if twice != [_sets(scene) for scene in cells.values("story_with_perceivers")]:
        cells.refuse("story_with_perceivers", "it differs from story and perceivers", "the same in both")
    return story, perceivers


def _sets(scene: object) -> object:
    """Return the perceivers of a scene as a set, anything else as it is."""
    if not isinstance(scene, dict):
        return scene
    return {
        sentence: {*names} if isinstance(names, list) and all(isinstance(name, str) for name in names) else names
        for sentence, names in scene.items()
    }


def _with_containers(sample: Sample, line: int) -> Sample:
    """Return the question with the places where the story puts the thing, in their order."""
    thing, answer = sample.content["thing"], sample.gold["answer"]
    try:
        containers = places_of(track(sample.content["sentences"]), thing)
    except UnknownSentence as error:
        raise BadImport(f"{FILE}, line {line}, story: {error}") from error
    if answer not in containers:
        raise BadImport(
            f"{FILE}, line {line}, answer: it is {answer[:40]!r}; expected a place where the story puts the {thing}."
        )
    return replace(sample, content={**sample.content, "containers": containers})


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
    # the room of a container is what the sentence says that has it as its object, wherever in the story it stands
    rooms = {match[2] for sentence in bare if (match := _ENTERED.fullmatch(sentence))}
    inside = [match for sentence in bare if (match := _IS_IN.fullmatch(sentence))]
    room_of = {match[1]: match[2] for match in inside if match[2] in rooms}
    where: dict[str, str] = {}

    def in_room(room: str, actor: str = "") -> tuple[str, ...]:
        """Return those in a room, and the actor, wherever we think he is."""
        here = tuple(name for name, place in where.items() if place == room)
        return here if not actor or actor in here else (actor, *here)

    scenes = []
    for sentence in bare:
        if match := _FEELS.fullmatch(sentence):
            scene = Scene(sentence, (match[1],))
        elif match := _MOVED.fullmatch(sentence):
            scene = Scene(sentence, in_room(where.get(match[1], ""), match[1]), (match[2], match[3]))
        elif match := _EXITED.fullmatch(sentence):
            scene = Scene(sentence, in_room(match[2], match[1]))
            where.pop(match[1], None)
        elif match := _IS_IN.fullmatch(sentence):
            scene = Scene(sentence, in_room(room_of.get(match[2], match[2])), (match[1], match[2]))
        elif match := _ENTERED.fullmatch(sentence):
            where.pop(match[1], None)
            where[match[1]] = match[2]
            scene = Scene(sentence, in_room(match[2]))
        elif pass_over:
            scene = Scene(sentence, ())
        else:
            raise UnknownSentence(f"{sentence[:80]!r} is of none of the forms of ToMi's sentences.")
        scenes.append(scene)
    return scenes


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
