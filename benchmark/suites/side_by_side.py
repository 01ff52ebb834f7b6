"""Lines by which answers of two models to one sample are compared: lines that both have, with gold and the two
parses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.suites.asked import ItemView

MOST_LINES = 400
"""Lines of one answer that a page shows."""


@dataclass(frozen=True, slots=True)
class ReadLine:
    """One thing that an answer is read for: `about` says what, `part` which part of it where there are several. Lines
    of two answers that have the same `about` and `part` stand beside each other; None where a parse has nothing of
    it, or gold has not.

    `right` and `officially_right` are what the score says of the repaired and of the official parse, None where it
    does not say it of this line: no mark is made of words that are equal. `note` stands small below the repaired
    parse, and is not compared.
    """

    about: str
    part: str = ""
    gold: str | None = None
    official: str | None = None
    repaired: str | None = None
    right: bool | None = None
    officially_right: bool | None = None
    note: str = ""


def lines_of(view: ItemView) -> list[ReadLine]:
    """Return the lines of an item of any suite, none of them marked: what gold has under each key, then what the
    parses have."""
    gold, official, repaired = (
        dict(_flat(fields)) for fields in (view.question.sample.gold, view.official or {}, view.repaired or {})
    )
    lines = [ReadLine(about=f"Gold: {_worded(key)}", gold=text) for key, text in gold.items()]
    lines += [
        ReadLine(about=f"Read: {_worded(key)}", official=official.get(key), repaired=repaired.get(key))
        for key in {**official, **repaired}
    ]
    return lines[:MOST_LINES]


def _flat(fields: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, value in fields.items():
        path = (*above, str(key))
        if isinstance(value, Mapping):
            yield from _flat(value, path)
        elif isinstance(value, list) and value and all(isinstance(entry, Mapping) for entry in value):
            for at, entry in enumerate(value, 1):
                yield from _flat(entry, (*path, str(at)))
        elif value is not None:
            yield path, _value_text(value)


def _value_text(value: Any) -> str:
    """Return a value in words: yes or no, and a list of texts as one reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return ", ".join(value) or "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _worded(path: tuple[str, ...]) -> str:
    return ", ".join(key.replace("_", " ") for key in path)
