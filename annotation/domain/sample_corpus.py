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
    return [json.loads(line) for line in (FOLDER / "stories.jsonl").read_text("utf-8").splitlines()]
