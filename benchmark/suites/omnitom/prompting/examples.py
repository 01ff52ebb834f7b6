"""In-context examples: solved stories of the same category, never the story that is asked."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from rapidfuzz import fuzz

from annotation.domain.sample_corpus import sample_records
from annotation.domain.schema import WORLD, Schema
from benchmark.suites.omnitom.data import (
    EXTRACT,
    JUDGE,
    LABEL,
    GoldRow,
    Record,
    gold_extraction_table,
    gold_label_table,
    record_of,
    record_of_sample,
)
from benchmark.suites.omnitom.labels import ORDER, Scheme, scheme_of
from benchmark.suites.omnitom.parsing.extraction import parse_extraction, parse_labels
from benchmark.suites.omnitom.parsing.official import (
    OversizedField,
    align,
    extraction_rows,
    judgement,
    label_rows,
    parse_judgement,
)
from benchmark.suites.questions import Resources, Sample
from benchmark.suites.settings import Settings
from core.messages import gettext_noop
from judge.domain.text import key

Pair = tuple[str, str]
LEAST_ROWS = 4
_OPENER = re.compile(
    r"(?:An?|All|Every|He|Her|His|Its?|Most|No|Nobody|Not|Nothing|She|Some|Somebody|Something|Th(?:at|e|eir|ere|ese|ey|is|ose))\b"
)


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted rows (actor, belief), and which of them mean the same as which gold row: (place, place), from 0."""

    rows: tuple[Pair, ...]
    matches: tuple[tuple[int, int], ...]

    def counts(self, gold: int) -> tuple[list[int], list[int]]:
        """The count of each predicted row and of each of the `gold` rows."""
        sides = [Counter(pair[side] for pair in self.matches) for side in (0, 1)]
        return [sides[0][at] for at in range(len(self.rows))], [sides[1][at] for at in range(gold)]


def imperfect(gold: Sequence[Pair]) -> Prediction | None:
    """A prediction for the gold rows (actor, belief) in which the counts 0, 1 and 2 occur.

    None for fewer than LEAST_ROWS rows, rows that repeat each other, and where no actor has two rows.
    """
    merged = _to_merge(gold)
    keys = {(key(actor), key(belief)) for actor, belief in gold}
    if len(gold) < LEAST_ROWS or len(keys) < len(gold) or not merged:
        return None
    rows: list[Pair] = []
    matches: list[tuple[int, int]] = []
    turn = 0
    for at, (actor, belief) in enumerate(gold):
        if at in merged:
            if at == merged[0]:
                matches += [(len(rows), row) for row in merged]
                rows.append((actor, _joined(belief, gold[merged[1]][1])))
            continue
        turn_texts, matched = _TURNS[turn % len(_TURNS)]
        turn += 1
        if matched:
            matches.append((len(rows), at))
        rows += [(actor, text) for text in turn_texts(_bare(belief))]
    return Prediction(tuple(rows), tuple(matches))


def _to_merge(gold: Sequence[Pair]) -> tuple[int, int] | None:
    places: dict[str, list[int]] = defaultdict(list)
    for at, (actor, _) in enumerate(gold):
        places[key(actor)].append(at)
    people = [rows_of_actor for actor, rows_of_actor in places.items() if actor != WORLD]
    mergeable = next((rows_of_place for rows_of_place in (*people, places[WORLD]) if len(rows_of_place) > 1), None)
    return (mergeable[0], mergeable[1]) if mergeable else None


def _bare(belief: str) -> str:
    return belief.rstrip(". ")


def _inside(belief: str) -> str:
    """The belief as a clause: its first word is lower-cased where that is not a name."""
    return (
        _OPENER.sub(lambda match: match[0].lower(), _bare(belief), count=1) if _OPENER.match(belief) else _bare(belief)
    )


def _joined(first: str, other: str) -> str:
    return f"{_bare(first)}, and {_inside(other)}"


def _reworded(belief: str) -> str:
    return f"It is the case that {_inside(belief)}"


def _denied(belief: str) -> str:
    return f"It is not the case that {_inside(belief)}"


_TURNS: tuple[tuple[Callable[[str], list[str]], bool], ...] = (
    (lambda belief: [belief], True),
    (lambda belief: [_denied(belief)], False),
    (lambda belief: [_reworded(belief)], True),
    (lambda belief: [], False),
    (lambda belief: [belief, _reworded(belief)], True),
)
"""The rows instead of a gold row, and whether the first of it matches the row: a repetition gets nothing."""


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


WITH_EXAMPLES = 4
"""The prompt level that has in-context examples."""
SAMPLE, CALIBRATION = "sample", "calibration"
SOURCES = {SAMPLE: gettext_noop("the sample corpus"), CALIBRATION: gettext_noop("calibration stories")}
CALIBRATION_SPLIT = "calibration"
"""The split of a project whose stories may serve as examples."""


def level_of(step: str, level: int, judge_level: int) -> int:
    return judge_level if step == JUDGE else level


def example_count(step: str, *, level: int, judge_level: int, shots: int, examples: int) -> int:
    """Return how many examples a prompt of the step is to have: none below level 4."""
    count = shots if step == JUDGE else examples
    return count if level_of(step, level, judge_level) == WITH_EXAMPLES else 0


def example_count_of(settings: Settings, step: str) -> int:
    """Return how many examples a prompt of a run with these settings is to have; none for a judge that reads no
    prompt."""
    if step == JUDGE and not settings.judge_reads_prompts:
        return 0
    chosen = {name: settings.options[name] for name in ("level", "judge_level", "shots", "examples")}
    return example_count(step, **chosen)


def examples_of(sample: Sample, step: str, settings: Settings, resources: Resources) -> tuple[Example, ...]:
    """Return what the prompt about the story shows: of the run's source, and of the other one where that has none for
    the category."""
    count = example_count_of(settings, step)
    return sourced_examples(sample, step, settings, resources, count)[1] if count else ()


def sourced_examples(
    sample: Sample, step: str, settings: Settings, resources: Resources, count: int
) -> tuple[str, tuple[Example, ...]]:
    """Return (the source that was used, its examples), both empty where neither has any."""
    chosen = settings.options["examples_from"]
    for source in (chosen, *(source for source in SOURCES if source != chosen)):
        pool = sample_corpus()
        if source == CALIBRATION:
            numbers = settings.example_stories
            pool = resources.derived(("examples", numbers), partial(_pool, numbers, resources.schema))
        elif not sample_serves(step, resources.schema):
            continue
        if examples := _examples(sample.category, step, sample.content["story"], count, pool):
            return source, examples
    return "", ()


def sample_serves(step: str, schema: Schema) -> bool:
    """Return whether the sample corpus can show how a step is answered: it is labelled by OmniToM's own schema, and
    judges read no labels."""
    return step == JUDGE or scheme_of(schema).official


@lru_cache(8192)
def _examples(category: str, step: str, text: str, count: int, pool: Pool) -> tuple[Example, ...]:
    return examples_for(category, step, text, pool.records, count)


class Pool:
    """Records that may serve; itself the key of what was found among them, as hashing every row would take longer than
    finding."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = tuple(records)


@lru_cache(1)
def sample_corpus() -> Pool:
    return Pool(record_of(sample.as_json()) for sample in sample_records())


def _pool(numbers: Sequence[int], schema: Schema, samples: Sequence[Sample]) -> Pool:
    keys = set(map(str, numbers))
    return Pool(record_of_sample(sample, schema) for sample in samples if sample.key in keys)
