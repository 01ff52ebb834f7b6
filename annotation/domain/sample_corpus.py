import json
from functools import lru_cache
from pathlib import Path

from annotation.domain.records import Record
from annotation.domain.shipped_schemas import OMNITOM

FOLDER = Path(__file__).resolve().parent.parent / "sample"
SCHEMA = OMNITOM
"""Source of its labels."""


@lru_cache(1)
def sample_records() -> tuple[Record, ...]:
    """Return the stories of the sample project with their gold."""
    return _records("stories.jsonl")


def bare_records() -> tuple[Record, ...]:
    """Return the further stories of the sample project, which have no belief table yet."""
    return _records("bare_stories.jsonl")


def _records(name: str) -> tuple[Record, ...]:
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return tuple(Record.from_json(json.loads(line)) for line in lines)
