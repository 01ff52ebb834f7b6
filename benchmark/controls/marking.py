"""The changes of a sample by a control, text by text, for a reader who holds both against each other."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from benchmark.controls.contract import Controllable
from benchmark.suites.questions import Sample

Parts = list[tuple[str, bool]]
"""Pieces of a text in their order, each with whether the control changed it."""
_TOKEN = re.compile(r"\s+|[^\W_]+|[\W_]")


@dataclass(frozen=True, slots=True)
class Changed:
    """A text of a sample's content under its name, as published and under the control."""

    name: str
    published: Parts
    controlled: Parts


def changes_of(sample: Sample, controllable: Controllable) -> list[Changed]:
    """Return the texts that the control of a sample changed, the story first; none where it changed none."""
    if sample.published is None:
        return []
    names = dict.fromkeys([controllable.story, *sample.content])
    pairs = ((name, _text(sample.published.content, name), _text(sample.content, name)) for name in names)
    return [Changed(name, *marked(before, after)) for name, before, after in pairs if before != after]


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name, "")
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def marked(before: str, after: str) -> tuple[Parts, Parts]:
    """Return both texts in pieces, with what the other has not marked."""
    first, second = _TOKEN.findall(before), _TOKEN.findall(after)
    same = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    sides = (
        ((tag != "equal", "".join(first[start:end])) for tag, start, end, _, _ in same),
        ((tag != "equal", "".join(second[start:end])) for tag, _, _, start, end in same),
    )
    return _joined(sides[0]), _joined(sides[1])


def _joined(pieces: Iterator[tuple[bool, str]]) -> Parts:
    return [(text, changed) for changed, text in pieces if text]
