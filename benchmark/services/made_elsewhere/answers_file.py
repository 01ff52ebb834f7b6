"""The answers file of `score_outputs`: {"ID": "text"}, or {"ID": {STEP: "text"}} where a suite has several steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from benchmark.services.made_elsewhere.records import BadFile, Made, Record
from benchmark.suites.answers import BadAnswers, read_answers
from core.incoming.misfit import Misfit
from core.incoming.shapes import Shape
from core.messages import Sentence

FORMAT = "answers"


def _by_step(value: Any) -> Any:
    return {"": value} if isinstance(value, str) else value


class AnswerIn(Shape):
    """The answer under an id: a text, or one by step."""

    texts: Annotated[dict[str, str], BeforeValidator(_by_step)]


def read(path: Path, name: str) -> Made:
    """Read the file, which its messages call `name`. Raises BadFile."""
    try:
        answers = read_answers(path)
    except BadAnswers as error:
        raise BadFile(str(error).replace(str(path), name)) from error
    return Made(FORMAT, [record for key, value in answers.items() for record in _records(key, value, name)])


def _records(key: str, value: Any, name: str) -> Iterator[Record]:
    try:
        texts = AnswerIn.of({"texts": value}).texts
    except Misfit as error:
        sentence = Sentence(
            "{name}, answer {key}: it is not a text; expected what the model said.", name=name, key=f"{key!r:.80}"
        )
        raise BadFile(sentence) from error
    for step, text in texts.items():
        yield Record(Sentence("answer {key}", key=f"{key!r:.80}"), [key], text, step=step)
