"""Percept-ToMi as it is distributed: one CSV file whose cells hold Python literals, which are read as literals and
never evaluated."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.domain.tables.table import ShortNames
from benchmark.suites.copies import CopyFile, CopySource, Imported, licence_beside, released_bytes, rows_of_csv
from benchmark.suites.questions import Sample
from core.messages import gettext_noop

FILE = "Percept-ToMi.csv"
DIGEST = "9109505e318448b675e646555b6b183ad4ab8715d2e9ee37abe662c306ca896d"
"""The SHA-256 of the released file, as 64 hexadecimal digits, line ends as they were released."""
RAW_TYPES: Mapping[str, str] = {
    f"{order}_order_{what}_{belief}": f"{order}_order_{belief}"
    for order in ("first", "second")
    for what in (0, 1)
    for belief in ("tom", "no_tom")
}
"""The question type, of which there are four, of each raw one."""


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
    clusters: dict[str, str] = {}
    samples: list[Sample] = []
    problems: list[Mapping[str, str | int]] = []
    for line, row in rows_of_csv(released_bytes(file, "the file of Percept-ToMi", DIGEST)):
        cells = {column: cell.strip() for column, cell in row.items()}
        sample = _sample(cells, clusters.setdefault(cells["story"], f"story-{cells['index']}"))
        samples.append(sample)
        for number, names in enumerate(sample.gold["perceivers"], start=1):
            if "" in names:
                told = f"Sentence {number} has an empty name as its perceiver; it is read as perceived by nobody."
                problems.append({"file": FILE, "line": line, "message": told})
    licence = licence_beside(file, "Percept-ToMi") or LICENCE
    return Imported("Percept-ToMi", samples, licence, {FILE: DIGEST}, problems)


def _sample(cells: Mapping[str, str], cluster: str) -> Sample:
    """Return the question of a row, with the places where the story puts the thing, in their order."""
    story, raw_type, second = ast.literal_eval(cells["story"]), cells["qTypeRaw"], cells["char2"]
    thing = cells["question"].removesuffix("?").rpartition(" for the ")[2]
    order, scenario = TYPES[RAW_TYPES[raw_type]]
    content = {
        "sentences": story,
        "question": cells["question"],
        "thing": thing,
        "people": [cells["char1"], *([second] if second else [])],
        "order": order,
        "scenario": scenario,
        "containers": places_of(track(story), thing),
    }
    gold = {
        "answer": cells["answer"],
        "perceivers": ast.literal_eval(cells["perceivers"]),
        "candidates": ast.literal_eval(cells["cands"]),
        "type": RAW_TYPES[raw_type],
        "raw_type": raw_type,
    }
    return Sample(cells["index"], cluster, content, gold, category=f"{order.capitalize()}, {scenario}")


SOURCE = CopySource(
    publisher=gettext_noop("the repository of its authors"),
    address="https://github.com/chanijung/PercepToM",
    folder="dataset",
    licence=gettext_noop(
        "The repository has no licence file; the paper announces CC BY-NC 4.0: share and adapt with attribution, not "
        "commercially."
    ),
    checked=gettext_noop("The SHA-256 of the file is checked."),
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


def track(sentences: Sequence[str]) -> list[Scene]:
    """Return the scenes of a story; a sentence of none of the forms, as controls add some, is perceived by nobody and
    moves nothing."""
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
        else:
            scene = Scene(sentence, ())
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


def _tidy(text: str) -> str:
    """The text without its full stop; questions write `t - shirt` where stories have `t-shirt`."""
    return text.strip().removesuffix(".").replace(" - ", "-")
