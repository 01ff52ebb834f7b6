"""Make a corpus of the size of OmniToM: 895 stories, 22,343 propositions and three votes on each of seven dimensions.

    python bench/make_corpus.py OUT [--tombench FOLDER] [--seed 1]

OUT gets stories.jsonl (for `import_corpus omnitom`) and votes.csv (for `import_votes`, 469,203 rows). With --tombench
the stories are those of the seven categories that OmniToM keeps, without three a category; else sentences made up here.
The propositions are made up either way. Votes agree strictly on about 92 per cent of the cells, as published.
"""

import argparse
import csv
import json
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.domain.assignment import draw_split
from annotation.domain.formats import QUESTIONS
from annotation.domain.problems import LeftOut
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.stories import StoryRow, read_file

STORIES, PROPOSITIONS = 895, 22_343
CATEGORIES = {
    "Ambiguous Story Task": 98,
    "False Belief Task": 97,
    "Faux-pas Recognition Test": 142,
    "Hinting Task Test": 100,
    "Persuasion Story Task": 97,
    "Scalar Implicature Test": 154,
    "Strange Story Task": 207,
}
ANNOTATORS = ("annotator-1", "annotator-2", "annotator-3")
STRICT = {
    "order": 0.9795, "truth_status": 0.8667, "knowledge_access": 0.8590, "representation": 0.9744,
    "content_type": 0.8872, "mental_source": 0.9436, "context": 0.9462,
}  # fmt: skip
_NAMES = ("Amara", "Bilal", "Chen", "Dara", "Edda", "Farid", "Gwen", "Hugo", "Imani", "Jonas")
_THINGS = ("the blue cup", "the letter", "a spare key", "the last ticket", "the old map", "a basket of plums")
_PLACES = ("the drawer", "the hall", "a coat pocket", "the top shelf", "the garden shed", "the bus")
_VERBS = ("is in", "was left in", "will be moved to", "had been taken from", "should stay in")


def stories_of(folder: Path | None, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Category and text of each story."""
    for category, count in CATEGORIES.items():
        if folder is None:
            for _ in range(count):
                yield category, _made_up(rng)
            continue
        path = folder / f"{category}.jsonl"
        with path.open("rb") as handle:
            rows = read_file(handle, path.name, format=QUESTIONS, language="en", keys=(), left_out=LeftOut())
            texts = [row.text for row in rows if isinstance(row, StoryRow)]
        apart = set(draw_split({category: range(len(texts))}, per_category=3, seed=1))
        for at, text in enumerate(texts):
            if at not in apart:
                yield category, text


def _made_up(rng: random.Random) -> str:
    sentences = [
        f"{rng.choice(_NAMES)} thinks that {rng.choice(_THINGS)} {rng.choice(_VERBS)} {rng.choice(_PLACES)}."
        for _ in range(rng.randint(5, 9))
    ]
    return " ".join(sentences)


def belief_of(rng: random.Random, number: int) -> dict:
    labels = {dimension.key: rng.choice(dimension.values) for dimension in DEFAULT_SCHEMA.dimensions}
    text = f"{rng.choice(_THINGS)} {rng.choice(_VERBS)} {rng.choice(_PLACES)}, seen {number} times"
    return {"actor": rng.choice(("world", *_NAMES)), "belief": text, "labels": labels}


def votes_on(rng: random.Random, labels: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Dimension, annotator and label of the three votes of every cell: most agree, the others are two to one or
    split."""
    for dimension in DEFAULT_SCHEMA.dimensions:
        cast = [labels[dimension.key]] * len(ANNOTATORS)
        if rng.random() >= STRICT[dimension.key]:
            others = [value for value in dimension.values if value != labels[dimension.key]]
            wrong = rng.sample(others, 2 if len(others) > 1 and rng.random() < 0.1 else 1)
            for annotator, label in zip(rng.sample(range(len(cast)), len(wrong)), wrong, strict=True):
                cast[annotator] = label
        for annotator, label in zip(ANNOTATORS, cast, strict=True):
            yield dimension.key, annotator, label


def make(out: Path, *, folder: Path | None, seed: int) -> tuple[int, int, int]:
    """Writes both files; returns how many stories, propositions and votes."""
    rng = random.Random(seed)
    out.mkdir(parents=True, exist_ok=True)
    moment = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    number = propositions = votes = 0
    with (
        (out / "stories.jsonl").open("w", encoding="utf-8") as records,
        (out / "votes.csv").open("w", encoding="utf-8", newline="") as sheet,
    ):
        writer = csv.writer(sheet)
        writer.writerow(["story_id", "actor", "belief", "dimension", "annotator", "label", "created_at"])
        for number, (category, text) in enumerate(stories_of(folder, rng), 1):
            size = PROPOSITIONS * number // STORIES - PROPOSITIONS * (number - 1) // STORIES
            beliefs = [belief_of(rng, propositions + at) for at in range(size)]
            record = {"story_id": number, "story_category": category, "story": text, "beliefs": beliefs}
            records.write(json.dumps(record, ensure_ascii=False) + "\n")
            propositions += size
            for belief in beliefs:
                moment += timedelta(seconds=20)
                for dimension, annotator, label in votes_on(rng, belief["labels"]):
                    writer.writerow(
                        [number, belief["actor"], belief["belief"], dimension, annotator, label, moment.isoformat()]
                    )
                    votes += 1
    return number, propositions, votes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--tombench", type=Path, help="folder of ToMBench files")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts = make(options.out, folder=options.tombench, seed=options.seed)
    print("{} stories, {} propositions, {} votes".format(*counts))


if __name__ == "__main__":
    main()
