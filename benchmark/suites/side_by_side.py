"""What answers of two models to one sample are held against each other by: lines that both have, with gold and the two readings."""

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
    """One thing that an answer is read for: `about` says what, `part` which part of it where there are several. Lines of two answers that have the same
    `about` and `part` stand beside each other; None where a reading has nothing of it, or gold has not."""

    about: str
    part: str = ""
    gold: str | None = None
    official: str | None = None
    repaired: str | None = None


def lines_of(view: ItemView) -> list[ReadLine]:
    """Return the lines of an item of any suite: what gold, the official and the repaired reading have under each key."""
    gold, official, repaired = (
        dict(_flat(fields)) for fields in (view.question.sample.gold, view.official or {}, view.repaired or {})
    )
    keys = list({**gold, **official, **repaired})[:MOST_LINES]
    return [
        ReadLine(about=_worded(key), gold=gold.get(key), official=official.get(key), repaired=repaired.get(key))
        for key in keys
    ]


def _flat(fields: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, value in fields.items():
        path = (*above, str(key))
        if isinstance(value, Mapping):
            yield from _flat(value, path)
        elif isinstance(value, list) and value and all(isinstance(entry, Mapping) for entry in value):
            for at, entry in enumerate(value, 1):
                yield from _flat(entry, (*path, str(at)))
        elif value is not None:
            yield path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _worded(path: tuple[str, ...]) -> str:
    return ", ".join(key.replace("_", " ") for key in path).capitalize()
