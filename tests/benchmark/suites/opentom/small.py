"""A copy of OpenToM in our own words: ten narratives, of which half keep something from their observer."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmark.suites.opentom import data
from benchmark.suites.opentom.metrics import Answer
from benchmark.suites.questions import Sample

PEOPLE = ("Ines", "Tomas"), ("Noah", "Bea"), ("Esi", "Ben"), ("Amal", "Kofi"), ("Lena", "Rui")
PLACES = (
    ("a box", "a donation box"),
    ("attic", "the cellar"),
    ("kitchen_pantry", "a shelf"),
    ("an oven", "the bin"),
    ("aisle", "a cart"),
)
LOCATIONS = ("location_cg_fo", "location_cg_so", "location_fg_fo_new", "location_fg_so_new")
FILES = (*LOCATIONS, "multihop_fo", "multihop_so", "attitude")


def _plot(number: int) -> tuple[dict[str, Any], dict[str, list[tuple[dict[str, str], str]]]]:
    """A narrative, and its questions by file, each with the answer that is true of the world. The mover knows where the
    hat is; what is thought by the observer, or by anybody of the other, follows who saw it."""
    (mover, observer), (old, new), seen = PEOPLE[number % 5], PLACES[number % 5], number >= 5
    sight = f"{observer} looks on" if seen else f"{observer} is out in the garden"
    record = {
        "plot_info": {"mover": mover, "eoi": "hat", "original_place": old, "move_to_place": new, "observer": observer},
        "personality": "considerate",
        "observed": seen,
        "narrative": f"{mover} and {observer} find a hat in {old}. {mover} carries it to {new} while {sight}.",
    }
    questions: dict[str, list[tuple[dict[str, str], str]]] = {name: [] for name in FILES}

    def ask(file: str, question: str, answer: str, truth: str) -> None:
        kind, order = file.split("_")[0], "-so" if "_so" in file else "-fo" if "_fo" in file else ""
        questions[file].append(({"question": question, "answer": answer, "type": f"{kind}{order}"}, truth))

    for when, place in (("end", new), ("beginning", old)):
        question = f"From narrator's perspective, where is the hat at the {when} of the story?"
        ask("location_fg_fo_new", question, place, place)
    views = [(f"From {mover}'s perspective, ", "fo", True), (f"From {observer}'s perspective, ", "fo", seen)]
    for first, second in ((mover, observer), (observer, mover)):
        views.append((f"From {first}'s perspective, does {second} think that: ", "so", seen))
    for start, order, knows in views:
        ask(f"location_cg_{order}", f"{start}is the hat where it was?", "No" if knows else "Yes", "No")
        ask(f"location_fg_{order}_new", f"{start}where precisely is the hat?", new if knows else old, new)
        for at, fuller in ((old, "less full"), (new, "more full")):
            question = f"{start}how is the fullness of {at} now?"
            ask(f"multihop_{order}", question, fuller if knows else "equally full", fuller)
    how = "more accessible" if mover == "Ines" else "less accessible"
    for start, order, knows in views:
        question = f"{start}how is the accessibility of the hat now?"
        ask(f"multihop_{order}", question, how if knows else "equally accessible", how)
    attitude = "positive" if seen else "neutral"
    ask("attitude", f"What would be {observer}'s attitude towards {mover}'s move?", attitude, attitude)
    return record, questions


_PLOTS = {f"{number:08}": _plot(number) for number in range(10)}
_ROWS = {
    f"{key}/{name}/{index}": row
    for key, (_, questions) in _PLOTS.items()
    for name in FILES
    for index, row in enumerate(questions[name])
}
GOLD = {key: question["answer"] for key, (question, _) in _ROWS.items()}
"""The right answers by the key of the question."""
TRUTHS = {key: truth for key, (_, truth) in _ROWS.items()}
"""What is so, whatever anybody believes: the answers of an omniscient model."""


def small() -> dict[str, dict[str, Any]]:
    """The contents of the nine files by name."""
    records = {key: record for key, (record, _) in _PLOTS.items()}
    long = {key: records[key] | {"long_narrative": "It rained. " + records[key]["narrative"]} for key in [*records][:2]}
    asked = {
        f"{name}.json": {key: [row[0] for row in questions[name]] for key, (_, questions) in _PLOTS.items()}
        for name in FILES
    }
    return {"meta_data.json": records, "meta_data_long.json": long, **asked}


def _raw(content: Any) -> bytes:
    return content if isinstance(content, bytes) else json.dumps(content, indent=1).encode()


def released(patch: pytest.MonkeyPatch, folder: Path, changed: Mapping[str, Any] | None = None) -> Path:
    """Write the copy, whose digests are then those of OpenToM, some of its files changed."""
    files = small()
    patch.setattr(data, "DIGESTS", {name: hashlib.sha256(_raw(content)).hexdigest() for name, content in files.items()})
    folder.mkdir(exist_ok=True)
    for name, content in {**files, **(changed or {})}.items():
        (folder / name).write_bytes(_raw(content))
    (folder / "LICENSE").write_text("Use it to evaluate.")
    return folder


def asked(number: int, kind: str, **gold: Any) -> Sample:
    """A first-order question on Ines's view in a narrative."""
    content = {"kind": kind, "people": ["Ines"]}
    return Sample(key=f"{number}/{kind}", cluster=str(number), content=content, gold={"type": "location-fo", **gold})


def answers_of(*pairs: tuple[int | None, int | None]) -> list[Answer]:
    """An answer in each of as many narratives, of gold and predicted labels."""
    return [Answer(asked(at, "coarse"), gold, label) for at, (gold, label) in enumerate(pairs)]
