"""Write votes.csv: the votes of three sample annotators on the sample stories, with the disagreements that people have.

Each annotator has habits: pairs of labels that they mistake for one another, more often on actors' beliefs than on
world facts. The draw is seeded: running it again writes the same file. `python annotation/sample/make_votes.py`
"""

import csv
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
SEED = 20261001

# (dimension, the label meant, the label chosen instead): how often on actors' beliefs
CONFUSIONS = {
    ("knowledge_access", "Shared", "Public"): 0.12,
    ("knowledge_access", "Private", "Shared"): 0.07,
    ("knowledge_access", "Public", "Shared"): 0.06,
    ("representation", "Implicit", "Explicit"): 0.06,
    ("truth_status", "Unknown", "False"): 0.08,
    ("truth_status", "Unknown", "True"): 0.14,
    ("truth_status", "False", "Unknown"): 0.06,
    ("mental_source", "Inference", "Perception"): 0.10,
    ("mental_source", "Perception", "Inference"): 0.08,
    ("mental_source", "Memory", "Perception"): 0.10,
    ("content_type", "Desire/Intention", "Action/Event"): 0.10,
    ("content_type", "Emotion", "Trait/Value"): 0.12,
    ("content_type", "Trait/Value", "Emotion"): 0.08,
    ("content_type", "Contents/Physical State", "Action/Event"): 0.07,
    ("context", "Temporal", "Neutral"): 0.20,
    ("context", "Deceptive", "Neutral"): 0.10,
    ("context", "Counterfactual", "Neutral"): 0.10,
    ("order", "2", "1"): 0.05,
    ("order", "3", "2"): 0.30,
}

# How much likelier than others an annotator is to make a confusion.
HABITS = {
    "ada": {("representation", "Implicit", "Explicit"): 2.0, ("truth_status", "Unknown", "False"): 2.0},
    "bruno": {("knowledge_access", "Shared", "Public"): 2.0, ("context", "Temporal", "Neutral"): 1.5},
    "chidi": {("knowledge_access", "Private", "Shared"): 2.5, ("mental_source", "Inference", "Perception"): 2.0},
}
ON_WORLD_FACTS = 0.2

# Cells that three careful people label in three ways: each of these labels can be defended.
HARD = {
    "truth_status": ("True", "Unknown", "False"),
    "knowledge_access": ("Private", "Shared", "Public"),
    "content_type": ("Epistemic", "Desire/Intention", "Action/Event"),
    "mental_source": ("Inference", "Perception", "Testimony"),
}
HARD_RATE = 0.05
LABELLED_BY = {"ada": range(1, 20), "bruno": range(1, 20), "chidi": range(1, 19)}
PARTLY = {("bruno", 19): 5}  # only so many propositions of that story


def chosen(annotator: str, belief: dict[str, Any], dimension: str, draw: random.Random) -> str:
    meant = belief["labels"][dimension]
    hard = random.Random(f"{SEED}:{belief['actor']}:{belief['belief']}:{dimension}")  # the same cells for all three
    if belief["actor"] != "world" and meant in HARD.get(dimension, ()) and hard.random() < HARD_RATE:
        readings = hard.sample(HARD[dimension], 3)
        return readings[list(LABELLED_BY).index(annotator)]
    weight = ON_WORLD_FACTS if belief["actor"] == "world" else 1.0
    for (where, label, instead), rate in CONFUSIONS.items():
        if where == dimension and label == meant:
            habit = HABITS[annotator].get((where, label, instead), 0.7)
            if draw.random() < rate * weight * habit:
                return instead
    return meant


def rows() -> Iterator[list[str]]:
    stories = [json.loads(line) for line in (FOLDER / "stories.jsonl").read_text(encoding="utf-8").splitlines()]
    for number, annotator in enumerate(LABELLED_BY):
        draw = random.Random(f"{SEED}:{annotator}")
        moment = datetime(2026, 10, 5, 8, 30 + 7 * number, tzinfo=UTC)
        for story in stories:
            if story["story_id"] not in LABELLED_BY[annotator]:
                continue
            if moment.hour >= 16:  # the working day is over
                moment = (moment + timedelta(days=3 if moment.weekday() == 4 else 1)).replace(hour=8, minute=40)
            moment += timedelta(seconds=draw.randint(40, 90))  # reading
            limit = PARTLY.get((annotator, story["story_id"]))
            for belief in story["beliefs"][:limit]:
                for dimension in belief["labels"]:
                    moment += timedelta(seconds=draw.randint(2, 14))
                    label = chosen(annotator, belief, dimension, draw)
                    where = [story["story_id"], belief["actor"], belief["belief"], dimension]
                    yield [*where, annotator, label, moment.isoformat()]


def main() -> None:
    with (FOLDER / "votes.csv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["story_id", "actor", "belief", "dimension", "annotator", "label", "created_at"])
        writer.writerows(rows())


if __name__ == "__main__":
    main()
