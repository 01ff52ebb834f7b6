"""A small copy of Percept-ToMi with stories of our own: two questions of each raw type."""

import csv
import hashlib
from pathlib import Path
from typing import Any

import pytest

from benchmark.suites.percept_tomi import data

PEOPLE = ("Ines", "Bo", "Nour", "Teo")
COLUMNS = ("index", "qTypeRaw", "qType", "story", "question", "char1", "char2", "perceivers", "cands", "answer")
PLACES = (("oven", "jar"), ("crate", "glove box"))


def rows() -> list[dict[str, Any]]:
    """The rows of the copy, lists and all as objects."""
    return [_row(raw_type, number, at) for at, raw_type in enumerate(data.RAW_TYPES) for number in (0, 1)]


def _row(raw_type: str, number: int, at: int) -> dict[str, Any]:
    """One sees how the other moves the key, or leaves before."""
    mover, other = PEOPLE[number], PEOPLE[number + 2]
    (first, last), seen, second = PLACES[number], "no_tom" in raw_type, raw_type.startswith("second")
    both, alone = [mover, other], [mover]
    lines = [(f"{mover} entered the kitchen", alone), (f"{other} entered the kitchen", both)]
    lines += [(f"The key is in the {first}", both), (f"The {first} is in the kitchen", both)]
    moved = [f"{mover} moved the key to the {last}", f"The {last} is in the kitchen"]
    moving = [(line, both if seen else alone) for line in moved]
    leaving = [(f"{other} exited the kitchen", both)]
    lines += [*moving, *leaving] if seen else [*leaving, *moving]
    asked = f"does {other} think that {mover} searches for" if second else f"will {other} look for"
    return {
        "index": 10 * at + number,
        "qTypeRaw": raw_type,
        "qType": data.RAW_TYPES[raw_type],
        "story": [line for line, _ in lines],
        "question": f"Where {asked} the key?",
        "char1": other,
        "char2": mover if second else "",
        "perceivers": [names for _, names in lines],
        "cands": [first, last, "kitchen"],
        "answer": last if seen else first,
    }


def write(folder: Path, made: list[dict[str, Any]] | None = None, columns: tuple[str, ...] = COLUMNS) -> Path:
    """Write a copy into a folder and return the folder."""
    with (folder / data.FILE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows() if made is None else made)
    return folder


def released(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Take the copy of a folder for the released one, and return the folder."""
    patch.setattr(data, "DIGEST", hashlib.sha256((folder / data.FILE).read_bytes().replace(b"\r\n", b"\n")).hexdigest())
    return folder
