"""A small copy of Percept-ToMi with stories of our own: two questions of each raw type."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path
from typing import Any

import pytest

from benchmark.suites.percept_tomi import data

PEOPLE = ("Ines", "Bo", "Nour", "Teo")
PLACES = (("oven", "jar"), ("crate", "glove box"))


def rows() -> list[dict[str, Any]]:
    """The rows of the copy, lists and all as objects."""
    return [_row(raw_type, number, at) for at, raw_type in enumerate(data.RAW_TYPES) for number in (0, 1)]


def _row(raw_type: str, number: int, at: int) -> dict[str, Any]:
    mover, other = PEOPLE[number], PEOPLE[number + 2]
    first, last = PLACES[number]
    story, perceivers = _story(mover, other, first, last, sees_it="no_tom" in raw_type)
    second = raw_type.startswith("second")
    question = (
        f"Where does {other} think that {mover} searches for the key?"
        if second
        else f"Where will {other} look for the key?"
    )
    people = (other, mover) if second else (other, "")
    return {
        "index": 10 * at + number,
        "qTypeRaw": raw_type,
        "qType": data.RAW_TYPES[raw_type],
        "story": story,
        "question": question,
        "char1": people[0],
        "char2": people[1],
        "perceivers": perceivers,
        "story_with_perceivers": [{line: names} for line, names in zip(story, perceivers, strict=True)],
        "persp_ctx": "",
        "cands": [first, last, "kitchen"],
        "answer": last if "no_tom" in raw_type else first,
    }


def _story(mover: str, other: str, first: str, last: str, *, sees_it: bool) -> tuple[list[str], list[list[str]]]:
    """One sees how the other moves the key, or leaves before."""
    both, alone = [mover, other], [mover]
    opening = [
        (f"{mover} entered the kitchen", alone), (f"{other} entered the kitchen", both),
        (f"The key is in the {first}", both), (f"The {first} is in the kitchen", both),
    ]  # fmt: skip
    leaving = [(f"{other} exited the kitchen", both)]
    witnesses = both if sees_it else alone
    moving = [(f"{mover} moved the key to the {last}", witnesses), (f"The {last} is in the kitchen", witnesses)]
    lines = [*opening, *moving, *leaving] if sees_it else [*opening, *leaving, *moving]
    return [line for line, _ in lines], [names for _, names in lines]


def write(folder: Path, made: list[dict[str, Any]] | None = None, columns: tuple[str, ...] = data.COLUMNS) -> Path:
    """Write a copy into a folder and return the folder."""
    with (folder / data.FILE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows() if made is None else made)
    return folder


def released(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Take the copy of a folder for the released one, and return the folder."""
    patch.setattr(data, "ROWS_OF_EACH", 2)
    patch.setattr(data, "DIGEST", hashlib.sha256((folder / data.FILE).read_bytes().replace(b"\r\n", b"\n")).hexdigest())
    return folder
