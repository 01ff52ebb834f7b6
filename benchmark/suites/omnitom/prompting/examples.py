"""In-context examples: solved stories of the same category, never the story that is asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rapidfuzz import fuzz

from annotation.domain.schema import WORLD
from benchmark.suites.omnitom.judge_alignment import align
from benchmark.suites.omnitom.judge_tables import OversizedField, judgement, parse_judgement
from benchmark.suites.omnitom.labels import ORDER, Scheme
from benchmark.suites.omnitom.parsing.extraction import parse_extraction
from benchmark.suites.omnitom.parsing.labels import parse_labels
from benchmark.suites.omnitom.pipe_tables import extraction_rows, label_rows
from benchmark.suites.omnitom.prompting.imperfect import Prediction, imperfect
from benchmark.suites.omnitom.records import GoldRow, Record
from benchmark.suites.omnitom.serialisers import gold_extraction_table, gold_label_table
from benchmark.suites.omnitom.step_keys import EXTRACT, JUDGE, LABEL
from judge.domain.text import key

MAX_EXAMPLES = 3
ALIKE = 90
"""Stories at least this similar (percent of characters in common) are versions of one story."""


@dataclass(frozen=True, slots=True)
class Example:
    """A story with its gold rows, and for the judge a prediction that is wrong in known ways."""

    record: Record
    prediction: Prediction | None = None

    @property
    def judged(self) -> Prediction:
        """The prediction. Raises ValueError for an example that has none: it is not a judge's."""
        if self.prediction is None:
            raise ValueError("The example is not one for a judge: it has no prediction.")
        return self.prediction


def examples_for(
    category: str, step: str, not_this_story: str, records: Iterable[Record], count: int
) -> tuple[Example, ...]:
    """The first `count` records (0 to MAX_EXAMPLES) of the category that can serve; fewer where there are fewer.

    `not_this_story` is the text of the story that is asked: neither it nor another version of it is taken, whatever its
    id, and of two versions of a story only the first. A record can serve where official parsing reads its ideal answer
    back whole, its labels are legal, and, for the judge, a prediction can be derived. Raises ValueError.
    """
    check_count(count)
    examples: list[Example] = []
    seen = [not_this_story]
    for record in records:
        if len(examples) == count:
            break
        if record.category != category or any(is_alike(record.story, story) for story in seen):
            continue
        if example := example_of(record, step):
            examples.append(example)
            seen.append(record.story)
    return tuple(examples)


def check_count(count: int) -> None:
    if not 0 <= count <= MAX_EXAMPLES:
        raise ValueError(f"{count} examples were asked for; a prompt takes 0 to {MAX_EXAMPLES}.")


def is_alike(first: str, other: str) -> bool:
    """Return whether two texts are one story, or versions of it that differ in a few words."""
    return fuzz.ratio(key(first), key(other), score_cutoff=ALIKE) >= ALIKE


@lru_cache(1024)  # a run asks for the same few records once a story
def example_of(record: Record, step: str) -> Example | None:
    """The record as an example of a step; None where it cannot serve."""
    rows = record.shown_rows
    scheme = record.scheme
    if not rows or not all(_is_whole(row, step, scheme) for row in rows):
        return None
    rows = [replace(row, order=scheme.order_of(row.labels)) for row in rows]
    if step == EXTRACT:
        rows = _by_actor(rows)
    example = Example(replace(record, rows=tuple(rows)), _prediction(rows) if step == JUDGE else None)
    if step == JUDGE and example.prediction is None:
        return None
    return example if _reads_back(example, step) else None


def _is_whole(row: GoldRow, step: str, scheme: Scheme) -> bool:
    """Return whether the row says the same however it is written, and its labels are legal where they are shown."""
    needed = {EXTRACT: {ORDER}, LABEL: set(scheme.keys)}.get(step, set())
    legal = all(label in scheme.legal[key] for key, label in zip(scheme.keys, row.labels, strict=True) if key in needed)
    return legal and row.as_told == (row.actor, row.belief)


def _by_actor(rows: Sequence[GoldRow]) -> list[GoldRow]:
    """World first, then one actor after another as they appear: what level 4 asks for."""
    actors = list(dict.fromkeys([WORLD, *(key(row.actor) for row in rows)]))
    return sorted(rows, key=lambda row: actors.index(key(row.actor)))


def _prediction(rows: Sequence[GoldRow]) -> Prediction | None:
    return imperfect([row.as_told for row in rows])


def _reads_back(example: Example, step: str) -> bool:
    rows, text = example.record.rows, ideal_answer(example, step, "text")
    if step != JUDGE and not example.record.scheme.official:
        return _reads_back_repaired(example.record, text, step)
    if step == EXTRACT:
        return [tuple(row) for row in extraction_rows(text)] == [(row.actor, row.belief, row.order) for row in rows]
    if step == LABEL:
        return [tuple(row) for row in label_rows(text)] == [(row.actor, row.belief, row.labels) for row in rows]
    try:
        judged = parse_judgement(text)
    except OversizedField:
        return False
    prediction = example.judged
    counts = align(prediction.rows, judged.predictions), align([row.as_told for row in rows], judged.gold)
    return counts == prediction.counts(len(rows))


def _reads_back_repaired(record: Record, text: str, step: str) -> bool:
    if step == LABEL:
        return parse_labels(text, record.rows, scheme=record.scheme) == [row.labels for row in record.rows]
    read = [row[:3] for row in parse_extraction(text, scheme=record.scheme)]
    return read == [(row.actor, row.belief, row.order) for row in record.rows]


def ideal_answer(example: Example, step: str, answer_format: str) -> str:
    """Return what a perfect model would answer about the example."""
    written = _STRUCTURED if answer_format == "structured" else _TEXT
    return written[step](example)


def _judged_text(example: Example) -> str:
    rows, prediction = example.record.rows, example.judged
    counts = prediction.counts(len(rows))
    predicted = [(*row, count) for row, count in zip(prediction.rows, counts[0], strict=True)]
    gold = [(*row.as_told, count) for row, count in zip(rows, counts[1], strict=True)]
    return judgement(predicted, gold).strip()


def _extracted(example: Example) -> str:
    ordered = example.record.scheme.ordered
    rows = [
        {"actor": row.actor, "belief": row.belief} | ({"order": row.order} if ordered else {})
        for row in example.record.rows
    ]
    return _json({"rows": rows})


def _labelled(example: Example) -> str:
    rows, keys = enumerate(example.record.rows, 1), example.record.scheme.keys
    return _json({"rows": [{"id": at, **dict(zip(keys, row.labels, strict=True))} for at, row in rows]})


def _judged(example: Example) -> str:
    prediction = example.judged
    sizes = len(prediction.rows), len(example.record.rows)
    sides = {}
    for side, name in enumerate(("predictions", "gold")):
        matches = [[pair[1 - side] + 1 for pair in prediction.matches if pair[side] == at] for at in range(sizes[side])]
        sides[name] = [{"id": at, "matches": ids} for at, ids in enumerate(matches, 1)]
    return _json(sides)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


_TEXT = {
    EXTRACT: lambda example: gold_extraction_table(example.record),
    LABEL: lambda example: gold_label_table(example.record),
    JUDGE: _judged_text,
}
_STRUCTURED = {EXTRACT: _extracted, LABEL: _labelled, JUDGE: _judged}
