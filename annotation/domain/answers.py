"""Finding the JSON object in what a model answered."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

_BEGINNING = re.compile(r'\{(?=\s*["}])')
_TRIES = 1_000
"""Beginnings of an object that are tried. Python counts the lines before each that fails: all of a megabyte of them
would take minutes."""


def object_in(text: str) -> Any:
    """Return the first JSON object in an answer, which may stand in prose or a code fence; None where there is none."""
    decoder = json.JSONDecoder()
    for beginning in islice(_BEGINNING.finditer(text), _TRIES):
        try:
            return decoder.raw_decode(text, beginning.start())[0]
        except (ValueError, RecursionError):
            continue
    return None
