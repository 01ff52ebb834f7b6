from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotation.domain.shipped_schemas import OMNITOM

FOLDER = Path(__file__).resolve().parent.parent / "sample"
SCHEMA = OMNITOM
"""Source of its labels."""


def sample_records() -> list[dict[str, Any]]:
    """The stories of the sample project with their gold, as records."""
    return _records("stories.jsonl")


def bare_records() -> list[dict[str, Any]]:
    """The further stories of the sample project, which have no belief table yet: records without `beliefs`."""
    return _records("bare_stories.jsonl")


def _records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]
