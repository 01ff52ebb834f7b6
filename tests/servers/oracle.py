"""A noisy oracle: answers extraction, labelling and judging prompts with known accuracy, and keeps what it served.

It knows the gold. Which story a prompt is about, and what is asked, it reads off the fenced blocks of the user's
message: the story alone is an extraction, the story and a table a labelling, two tables a judgement. Everything is
drawn from `Skill.seed`, model, step and story, so that the same question has the same answer.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from benchmark.suites.omnitom.data import GoldRow, Record, read_records
from benchmark.suites.omnitom.labels import DIMENSIONS

Pair = tuple[str, str]
HEADER = ("Actor", "Belief", "Order")
LABELS = (*HEADER, "Truth-Status", "Knowledge-Access", "Representation", "Content Type", "Mental-Source", "Context")
REWORDED = "it holds that "
"""What an extracted gold belief begins with: it means the same and is not worded the same."""
HUGE = 10_000_000
NOTHING = "I would rather talk about something else."

_FENCED = re.compile(r"^(=====[^\n]*)\n(.*?)\n?^\1$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Skill:
    """Chances, 0 to 1. Each gold row is extracted with `recall`, and with `invented` a row that is not in the gold
    follows it; each label of a dimension is right with its `accuracy`. `spread` moves a whole story's recall and
    accuracies up or down, with even chances. `unreadable` is the chance of an answer without a row, `misjudged` that of
    a wrong count for a row."""

    recall: float = 0.7
    invented: float = 0.2
    accuracy: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(DIMENSIONS, 0.8))
    spread: float = 0.0
    unreadable: float = 0.0
    misjudged: float = 0.0
    seed: int = 1

    def __post_init__(self) -> None:
        for chance in (self.recall, *self.accuracy.values()):
            if not self.spread <= chance <= 1 - self.spread:
                raise ValueError(f"A chance of {chance} cannot be moved by {self.spread}.")


@dataclass(frozen=True, slots=True)
class Served:
    """One answer and what is in it.

    `counts` of an extraction: `predicted`, `found`; of a judgement: `predicted`, `matched`, `gold`, `gold_matched`; of
    a labelling: `rows` and for each dimension how many labels are right. `usable`: there is a row at all.
    """

    model: str
    step: str
    story_id: int
    text: str
    usable: bool
    counts: Mapping[str, int]


class Oracle:
    """`Oracle(records, {"weak": Skill(recall=0.4)})`; models that have no skill of their own have the default one."""

    def __init__(self, records: Iterable[Record], skills: Mapping[str, Skill]) -> None:
        self.records = list(records)
        self.skills = skills
        self._by_story = {one.story.strip(): one for one in self.records}
        self._by_gold = {tuple((row.actor, row.belief) for row in one.shown_rows): one for one in self.records}

    def answer(self, body: Mapping[str, Any]) -> Served:
        """Raises LookupError where a body asks for nothing that the oracle knows."""
        model, structured = body["model"], "response_format" in body
        blocks = [text for _, text in _FENCED.findall(body["messages"][-1]["content"])]
        record = self._by_story.get(blocks[0].strip()) if blocks else None
        if record and len(blocks) == 1:
            return self.extraction(record, model, structured=structured)
        if record and len(blocks) == 2:
            return self.labelling(record, model, structured=structured)
        if len(blocks) < 2:
            raise LookupError("the prompt holds no story that the oracle knows")
        predicted, gold = (_read_rows(text, structured) for text in blocks[-2:])
        return self.judgement(record or self._by_gold[tuple(gold)], predicted, model, structured=structured)

    def _drawn(self, model: str, step: str, record: Record) -> tuple[Skill, Random, float]:
        skill = self.skills.get(model, Skill())
        rng = Random(f"{skill.seed} {model} {step} {record.story_id}")
        return skill, rng, rng.choice((-1, 1)) * skill.spread

    def extraction(self, record: Record, model: str, *, structured: bool = False) -> Served:
        skill, rng, shift = self._drawn(model, "extract", record)
        rows: list[tuple[str, str, str]] = []
        found, usable = 0, rng.random() >= skill.unreadable
        for at, row in enumerate(record.shown_rows if usable else ()):
            if rng.random() < skill.recall + shift:
                rows.append((row.actor, REWORDED + row.belief, row.order))
                found += 1
            if rng.random() < skill.invented:
                rows.append((row.actor, f"something that nobody wrote, number {at}", "1"))
        text = _told(rows, ("actor", "belief", "order"), HEADER, structured) if usable else NOTHING
        return Served(model, "extract", record.story_id, text, bool(rows), {"predicted": len(rows), "found": found})

    def labelling(self, record: Record, model: str, *, structured: bool = False) -> Served:
        skill, rng, shift = self._drawn(model, "label", record)
        right: Counter[str] = Counter(dict.fromkeys(DIMENSIONS, 0))

        def label(dimension: str, gold: str) -> str:
            if rng.random() < skill.accuracy[dimension] + shift:
                right[dimension] += 1
                return gold
            return rng.choice([value for value in DEFAULT_SCHEMA[dimension].values if value != gold])

        usable = rng.random() >= skill.unreadable
        rows = [list(map(label, DIMENSIONS, row.labels)) for row in record.shown_rows if usable]
        text = _labelled(record.shown_rows, rows, structured) if usable else NOTHING
        return Served(model, "label", record.story_id, text, usable, {"rows": len(record.shown_rows), **right})

    def judgement(
        self, record: Record, predicted: Sequence[Pair], model: str = "judge", *, structured: bool = False
    ) -> Served:
        """Exact but for `misjudged`: a right row is one that some model made from a gold row of the same actor."""
        skill, rng, _ = self._drawn(model, "judge", record)
        gold = [(row.actor, row.belief) for row in record.shown_rows]
        made = [(actor, REWORDED + belief) for actor, belief in gold]
        truly = [[at for at, pair in enumerate(made) if pair == row] for row in predicted]
        told = [ids if rng.random() >= skill.misjudged else ([] if ids else [0]) for ids in truly]
        matched = [[at for at, ids in enumerate(truly) if one in ids] for one in range(len(gold))]
        wrong = [0] if predicted else []
        back = [ids if rng.random() >= skill.misjudged else ([] if ids else wrong) for ids in matched]
        written = _matches if structured else _counted
        counts = {"predicted": len(predicted), "matched": sum(map(bool, told))}
        counts |= {"gold": len(gold), "gold_matched": sum(map(bool, back))}
        return Served(model, "judge", record.story_id, written(predicted, told, gold, back), bool(predicted), counts)


def _told(rows: Sequence[Sequence[str]], names: Sequence[str], header: Sequence[str], structured: bool) -> str:
    if structured:
        return json.dumps({"rows": [dict(zip(names, row, strict=True)) for row in rows]}, ensure_ascii=False)
    return "\n".join(" | ".join(row) for row in (header, *rows))


def _labelled(gold: Sequence[GoldRow], rows: Sequence[Sequence[str]], structured: bool) -> str:
    if structured:
        told = [{"id": at, **dict(zip(DIMENSIONS, labels, strict=True))} for at, labels in enumerate(rows, 1)]
        return json.dumps({"rows": told})
    return _told([(row.actor, row.belief, *labels) for row, labels in zip(gold, rows, strict=True)], (), LABELS, False)


def _counted(predicted: Sequence[Pair], told: Sequence[list], gold: Sequence[Pair], back: Sequence[list]) -> str:
    parts = []
    for heading, rows, ids in (("Prediction Table:", predicted, told), ("Ground Truth Table:", gold, back)):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("Actor", "Belief", "MatchCount"))
        writer.writerows((*row, len(one)) for row, one in zip(rows, ids, strict=True))
        parts.append(f"{heading}\n{out.getvalue()}")
    return "\n".join(parts)


def _matches(predicted: Sequence[Pair], told: Sequence[list], gold: Sequence[Pair], back: Sequence[list]) -> str:
    def side(ids: Sequence[list]) -> list[dict]:
        return [{"id": at, "matches": [one + 1 for one in matches]} for at, matches in enumerate(ids, 1)]

    return json.dumps({"predictions": side(told), "gold": side(back)})


def _read_rows(text: str, structured: bool) -> list[Pair]:
    """The rows of a table as the judge is shown it."""
    if structured:
        return [(one["actor"], one["belief"]) for one in map(json.loads, filter(None, text.split("\n")))]
    return [(row[0], row[1]) for row in list(csv.reader(io.StringIO(text)))[1:] if row]


def answering(*, records: str, skills: Mapping[str, Mapping], served: str) -> Callable[[Mapping[str, Any]], str]:
    """The oracle as a server has it: the text for a body; each answer is appended to the file `served`, without its
    text."""
    csv.field_size_limit(HUGE)  # this process is the server's own
    with Path(records).open("rb") as handle:
        oracle = Oracle(read_records(handle, records), {name: Skill(**one) for name, one in skills.items()})

    def answer(body: Mapping[str, Any]) -> str:
        given = oracle.answer(body)
        with Path(served).open("a", encoding="utf-8") as log:
            log.write(json.dumps({**asdict(given), "text": None}) + "\n")
        return given.text

    return answer
