"""The answers file of `score_outputs`: {"ID": "text"}, or {"ID": {STEP: "text"}} where a suite has several steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmark.services.made_elsewhere.records import BadFile, Made, Record
from benchmark.suites.answers import BadAnswers, read_answers
from core.language import gettext_noop

FORMAT = "answers"


def read(path: Path, name: str) -> Made:
    """Read the file, which its messages call `name`. Raises BadFile."""
    try:
        answers = read_answers(path)
    except BadAnswers as error:
        raise BadFile(str(error).replace(str(path), name)) from error
    return Made(FORMAT, [record for key, value in answers.items() for record in _records(key, value, name)])


def _records(key: str, value: Any, name: str) -> Iterator[Record]:
    by_step = value if isinstance(value, Mapping) else {"": value}
    for step, text in by_step.items():
        if not isinstance(text, str):
            raise BadFile(gettext_noop(f"{name}, answer {key!r:.80}: it is not a text; expected what the model said."))
        yield Record(gettext_noop(f"answer {key!r:.80}"), [key], text, step=step)
