"""Files of answers that were made elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotation.domain.duplicates import first_duplicate


class BadAnswers(ValueError):
    """What is wrong with a file of answers, as one sentence with its name."""


def read_answers(path: Path) -> dict[str, Any]:
    """The JSON object of a file of answers. Raises BadAnswers."""
    try:
        answers = json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise BadAnswers(f"{path} is not UTF-8 (byte {error.start}).") from error
    except json.JSONDecodeError as error:
        raise BadAnswers(f"{path}, line {error.lineno}: this is not JSON ({error.msg}).") from error
    except BadAnswers as error:
        raise BadAnswers(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise BadAnswers(f"{path} cannot be read as JSON.") from error
    if not isinstance(answers, dict) or not answers:
        raise BadAnswers(f"{path} holds no answers; expected one JSON object that is not empty.")
    return answers


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = first_duplicate(name for name, _ in pairs)
        raise BadAnswers(f"the key {twice[:60]!r} occurs twice in one object.")
    return found
