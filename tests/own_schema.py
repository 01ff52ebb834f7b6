"""A label schema of eight dimensions that is not OmniToM's, for tests."""

import json
from pathlib import Path

LABELS = {
    "truth_status": ("Yes", "No"),
    "order": ("1", "2"),
    "certainty": ("Sure", "Likely", "Open"),
    "valence": ("Good", "Bad", "Neither"),
    "speaker": ("Actor", "Narrator"),
    "tense": ("Past", "Present", "Future"),
    "social_norm": ("Kept", "Broken", "None"),
    "emotion": tuple(f"Feeling {at}" for at in range(10)),
}
"""By dimension; the first key is one of OmniToM's with other labels, the last has as many labels as there are
digits."""

CHECKS = [
    {
        "check": "not_together",
        "dimension": "certainty",
        "labels": ["Sure"],
        "with": {"dimension": "tense", "labels": ["Future"]},
        "message": "{actor} cannot be sure of the future.",
    },
    {"check": "required_for_world", "dimension": "speaker", "labels": ["Narrator"], "message": "Facts are narrated."},
]


def document(**changes) -> dict:
    """The schema as its file holds it. Digits run downwards, so that none is the place of its label."""
    dimensions = [
        {
            "key": key,
            "name": key.replace("_", " ").capitalize(),
            "short": key[:8],
            "question": f"Which {key} is it?",
            "labels": [
                {"value": value, "digit": 9 - at, "meaning": f"It is {value}."} for at, value in enumerate(values)
            ],
        }
        for key, values in LABELS.items()
    ]
    return {"name": "eight", "version": "1", "title": "Eight", "dimensions": dimensions, "checks": CHECKS} | changes


def write(folder: Path, **changes) -> Path:
    """Write the schema to a file; return its path."""
    file = folder / "eight.json"
    file.write_text(json.dumps(document(**changes)), encoding="utf-8")
    return file
