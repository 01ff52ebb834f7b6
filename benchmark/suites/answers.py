"""Files of answers that were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.incoming.text import NotJson, json_of


class BadAnswers(ValueError):
    """What is wrong with a file of answers, as one sentence with its name."""


def read_answers(path: Path) -> dict[str, Any]:
    """The JSON object of a file of answers. Raises BadAnswers."""
    try:
        answers = json_of(path.read_bytes())
    except NotJson as error:
        raise BadAnswers(error.told(str(path))) from error
    if not isinstance(answers, dict) or not answers:
        raise BadAnswers(f"{path} holds no answers; expected one JSON object that is not empty.")
    return answers
