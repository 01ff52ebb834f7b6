"""A copy of OpenToM in our own words: ten narratives, of which half keep something from their observer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

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
LONG = ("00000000", "00000001")
FILES = (
    "location_cg_fo",
    "location_cg_so",
    "location_fg_fo_new",
    "location_fg_so_new",
    "multihop_fo",
    "multihop_so",
    "attitude",
)
Entries = dict[str, Any]


def small() -> dict[str, Entries]:
    """The contents of the nine files by name."""
    keys = [f"{number:08}" for number in range(10)]
    plots = {key: _plot(number) for number, key in enumerate(keys)}
    files: dict[str, Entries] = {
        "meta_data.json": {key: plot["record"] for key, plot in plots.items()},
        "meta_data_long.json": {
            key: plots[key]["record"] | {"long_narrative": "It rained. " + plots[key]["record"]["narrative"]}
            for key in LONG
        },
    }
    for name in FILES:
        files[f"{name}.json"] = {key: [row[0] for row in plot[name]] for key, plot in plots.items()}
    return files


def truths() -> dict[str, str]:
    """What is so, whatever anybody believes, by the key of the question: the answers of an omniscient model."""
    return {
        f"{number:08}/{name}/{index}": row[1]
        for number in range(10)
        for name in FILES
        for index, row in enumerate(_plot(number)[name])
    }


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    """Writes the files, bytes as they are, and a licence."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        raw = content if isinstance(content, bytes) else json.dumps(content, indent=1).encode()
        (folder / name).write_bytes(raw)
    (folder / "LICENSE").write_text("Use it to evaluate.")
    return folder


def digests(files: Mapping[str, Any]) -> dict[str, str]:
    return {name: hashlib.sha256(json.dumps(content, indent=1).encode()).hexdigest() for name, content in files.items()}


def asked(number: int, kind: str, **gold: Any) -> Sample:
    """A first-order question on Ines's view in a narrative."""
    content = {"kind": kind, "people": ["Ines"]}
    return Sample(key=f"{number}/{kind}", cluster=str(number), content=content, gold={"type": "location-fo", **gold})


def answers_of(*pairs: tuple[int | None, int | None]) -> list[Answer]:
    """An answer in each of as many narratives, of gold and predicted labels."""
    return [Answer(asked(at, "coarse"), gold, label) for at, (gold, label) in enumerate(pairs)]


Maker = Callable[..., Path]
Row = tuple[dict[str, str], str]
"""A question as a file has it, and the answer that is true of the world."""


def _plot(number: int) -> dict[str, Any]:
    mover, observer = PEOPLE[number % 5]
    old, new = PLACES[number % 5]
    seen = number >= 5
    sight = f"{observer} looks on" if seen else f"{observer} is out in the garden"
    record = {
        "plot_info": {"mover": mover, "eoi": "hat", "original_place": old, "move_to_place": new, "observer": observer},
        "personality": "considerate",
        "observed": seen,
        "narrative": f"{mover} and {observer} find a hat in {old}. {mover} carries it to {new} while {sight}.",
    }
    return {"record": record, **_questions(mover, observer, old, new, seen)}


def _questions(mover: str, observer: str, old: str, new: str, seen: bool) -> dict[str, list[Row]]:
    """The mover knows where the hat is; what is thought by the observer, or by anybody of the other, follows who saw
    it."""
    views = [(f"From {mover}'s perspective, ", "fo", True), (f"From {observer}'s perspective, ", "fo", seen)]
    for first, second in ((mover, observer), (observer, mover)):
        views.append((f"From {first}'s perspective, does {second} think that: ", "so", seen))
    found: dict[str, list[Row]] = {name: [] for name in FILES}
    for when, place in (("end", new), ("beginning", old)):
        question = f"From narrator's perspective, where is the hat at the {when} of the story?"
        found["location_fg_fo_new"].append(_row("location-fo", question, place, place))
    for start, order, knows in views:
        place = new if knows else old
        found[f"location_cg_{order}"].append(
            _row(f"location-{order}", f"{start}is the hat where it was?", "No" if knows else "Yes", "No")
        )
        found[f"location_fg_{order}_new"].append(
            _row(f"location-{order}", f"{start}where precisely is the hat?", place, new)
        )
        for at, fuller in ((old, "less full"), (new, "more full")):
            found[f"multihop_{order}"].append(
                _row(
                    f"multihop-{order}",
                    f"{start}how is the fullness of {at} now?",
                    fuller if knows else "equally full",
                    fuller,
                )
            )
    for start, order, knows in views:
        how = "more accessible" if mover == "Ines" else "less accessible"
        question = f"{start}how is the accessibility of the hat now?"
        answer = how if knows else "equally accessible"
        found[f"multihop_{order}"].append(_row(f"multihop-{order}", question, answer, how))
    attitude = "positive" if seen else "neutral"
    question = f"What would be {observer}'s attitude towards {mover}'s move?"
    found["attitude"].append(_row("attitude", question, attitude, attitude))
    return found


def _row(type_: str, question: str, answer: str, truth: str) -> Row:
    return {"question": question, "answer": answer, "type": type_}, truth
