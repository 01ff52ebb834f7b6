"""In-context examples: solved stories of the same category, never a story that the run asks about."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rapidfuzz import fuzz

from annotation.domain.sample_corpus import sample_records
from annotation.domain.schema import WORLD, Schema
from benchmark.suites.omnitom.data import (
    EXTRACT,
    JUDGE,
    LABEL,
    Record,
    gold_extraction_rows,
    gold_extraction_table,
    gold_label_table,
    record_of,
    record_of_sample,
)
from benchmark.suites.omnitom.labels import ORDER, scheme_of
from benchmark.suites.omnitom.parsing.official import is_gold_heading, is_prediction_heading, judgement
from benchmark.suites.questions import Resources, Sample
from benchmark.suites.settings import Settings
from core.messages import gettext_noop
from core.plain import Json
from judge.domain.text import key

MAX_EXAMPLES = 3
ALIKE = 90
"""Stories at least this similar (percent of characters in common) are versions of one story."""
WITH_EXAMPLES = 4
"""The prompt level that has in-context examples."""
SAMPLE, CALIBRATION = "sample", "calibration"
SOURCES = {SAMPLE: gettext_noop("the sample corpus"), CALIBRATION: gettext_noop("calibration stories")}
CALIBRATION_SPLIT = "calibration"
"""The split of a project whose stories may serve as examples."""
LEAST_ROWS = 4
Pair = tuple[str, str]
_OPENER = re.compile(
    r"(?:An?|All|Every|He|Her|His|Its?|Most|No|Nobody|Not|Nothing|She|Some|Somebody|Something|Th(?:at|e|eir|ere|ese|ey|is|ose))\b"
)


# --- predictions that are wrong in known ways


def imperfect(gold: Sequence[Pair]) -> tuple[tuple[Pair, ...], tuple[tuple[int, int], ...]] | None:
    """Return predicted rows for the gold rows (actor, belief) in which the counts 0, 1 and 2 occur, and the pairs
    (predicted place, gold place) that mean the same, from 0.

    It is made by rule, so that every count is known: of the first actor besides world that has two rows (else of world)
    the first two are merged into one; the other rows are, in turn, copied, denied, reworded, left out and said twice.
    Returns None for fewer than LEAST_ROWS rows, rows that repeat each other, and if no actor has two rows.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for at, (actor, _) in enumerate(gold):
        places[key(actor)].append(at)
    by_actor = [*(rows for actor, rows in places.items() if actor != WORLD), places[WORLD]]
    merged = next((rows[:2] for rows in by_actor if len(rows) > 1), None)
    if len(gold) < LEAST_ROWS or len({(key(actor), key(belief)) for actor, belief in gold}) < len(gold) or not merged:
        return None
    rows: list[Pair] = []
    matches: list[tuple[int, int]] = []
    turn = 0
    for at, (actor, belief) in enumerate(gold):
        if at == merged[0]:
            matches += [(len(rows), row) for row in merged]
            rows.append((actor, f"{_bare(belief)}, and {_inside(gold[merged[1]][1])}"))
        elif at not in merged:
            belief = _bare(belief)
            reworded, denied = f"It is the case that {_inside(belief)}", f"It is not the case that {_inside(belief)}"
            # the first row matches, unless it denies; a repetition matches nothing
            matches += [(len(rows), at)] if turn % 5 in (0, 2, 4) else []
            rows += [(actor, text) for text in ([belief], [denied], [reworded], [], [belief, reworded])[turn % 5]]
            turn += 1
    return tuple(rows), tuple(matches)


def _bare(belief: str) -> str:
    return belief.rstrip(". ")


def _inside(belief: str) -> str:
    """Return the belief as a clause: its first word is lower-cased unless it is a name."""
    return _OPENER.sub(lambda word: word[0].lower(), _bare(belief), count=1) if _OPENER.match(belief) else _bare(belief)


# --- examples


@dataclass(frozen=True, slots=True)
class Example:
    """A story with its gold rows, and for the judge a prediction that is wrong in known ways: see `imperfect`."""

    record: Record
    predicted: tuple[Pair, ...] = ()
    matches: tuple[tuple[int, int], ...] = ()


def examples_for(
    category: str, step: str, not_this_story: str, records: Iterable[Record], count: int
) -> tuple[Example, ...]:
    """Return the first `count` records (0 to MAX_EXAMPLES) of the category that can serve, or fewer.

    `not_this_story` is the text of the story that is asked: neither it nor another version of it is taken, whatever its
    id, and of two versions of a story only the first. A record can serve if official parsing reads its rows
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


@lru_cache(1024)  # a run asks for the same few records with every story
def example_of(record: Record, step: str) -> Example | None:
    """Return the record as an example of a step, None if it cannot serve."""
    scheme = record.scheme
    labelled = {EXTRACT: {ORDER}, LABEL: set(scheme.keys)}.get(step, set())
    for row in record.shown_rows:
        labels = zip(scheme.keys, row.labels, strict=True)
        is_legal = all(label in scheme.legal[key] for key, label in labels if key in labelled)
        if step == JUDGE:  # official parsing reads the row of an ideal answer back as it is
            is_clear = not is_prediction_heading(row.actor) and not is_gold_heading(row.actor)
        else:
            is_clear = "|" not in f"{row.actor}{row.belief}" and not row.belief.endswith(".")
        if not is_legal or row.as_told != (row.actor, row.belief) or not is_clear:
            return None
    rows = [replace(row, order=scheme.order_of(row.labels)) for row in record.shown_rows]
    if step == EXTRACT:  # world first, then one actor after another as they appear: what level 4 asks for
        actors = list(dict.fromkeys([WORLD, *(key(row.actor) for row in rows)]))
        rows.sort(key=lambda row: actors.index(key(row.actor)))
    example = Example(replace(record, rows=tuple(rows)))
    if step == JUDGE and (prediction := imperfect([row.as_told for row in rows])):
        example = Example(example.record, *prediction)
    return example if rows and (step != JUDGE or example.predicted) else None


def ideal_answer(example: Example, step: str, answer_format: str) -> str:
    """Return the answer of a perfect model about the example."""
    record = example.record
    if step == JUDGE:
        tables = example.predicted, [row.as_told for row in record.rows]
        return judge_answer(tables, example.matches, answer_format).strip()
    if answer_format == "text":
        return gold_extraction_table(record) if step == EXTRACT else gold_label_table(record)
    rows: list[Json] = [*gold_extraction_rows(record.rows, record.scheme)]
    if step == LABEL:
        labels = [dict(zip(record.scheme.keys, row.labels, strict=True)) for row in record.rows]
        rows = [{"id": at, **of_row} for at, of_row in enumerate(labels, 1)]
    return json.dumps({"rows": rows}, ensure_ascii=False)


def judge_answer(
    tables: Sequence[Sequence[Sequence[str]]], pairs: Sequence[tuple[int, int]], answer_format: str
) -> str:
    """Return the answer of a judge to whom these pairs of a predicted and a gold row say the same: ids that match,
    counting from 1, or two CSV tables."""
    sides = [
        [[pair[1 - side] + 1 for pair in pairs if pair[side] == at] for at in range(len(rows))]
        for side, rows in enumerate(tables)
    ]
    if answer_format == "structured":
        listed = [[{"id": at, "matches": ids} for at, ids in enumerate(side, 1)] for side in sides]
        return json.dumps(dict(zip(("predictions", "gold"), listed, strict=True)))
    return judgement(
        *(
            [(row[0], row[1], len(ids)) for row, ids in zip(rows, side, strict=True)]
            for rows, side in zip(tables, sides, strict=True)
        )
    )


# --- the examples of a run


def level_of(step: str, settings: Settings) -> int:
    """Return the prompt level of a step."""
    level: int = settings.options["judge_level" if step == JUDGE else "level"]
    return level


def example_count_of(settings: Settings, step: str) -> int:
    """Return the number of examples that a prompt is to have: none below level 4, and for a judge that reads no
    prompt."""
    unread = step == JUDGE and not settings.judge_reads_prompts
    count: int = settings.options["shots" if step == JUDGE else "examples"]
    return count if not unread and level_of(step, settings) == WITH_EXAMPLES else 0


def examples_of(
    sample: Sample, step: str, settings: Settings, resources: Resources, count: int | None = None
) -> tuple[str, tuple[Example, ...]]:
    """Return the source that was used and its examples for a prompt about the sample: of the run's source, or of the
    other one if that has none for the category. Both are empty if neither has any. `count` replaces the run's."""
    count = example_count_of(settings, step) if count is None else count
    if not count:
        return "", ()
    chosen, keys = settings.options["examples_from"], set(map(str, settings.example_stories))

    def numbered(samples: Sequence[Sample]) -> tuple[Record, ...]:
        return tuple(record_of_sample(one, resources.schema) for one in samples if one.key in keys)

    for source in (chosen, *(source for source in SOURCES if source != chosen)):
        if source == CALIBRATION:
            records = resources.derived(("examples", settings.example_stories), numbered)
        elif sample_serves(step, resources.schema):
            records = sample_corpus()
        else:
            continue
        if examples := examples_for(sample.category, step, sample.content["story"], records, count):
            return source, examples
    return "", ()


def sample_serves(step: str, schema: Schema) -> bool:
    """Return whether the sample corpus can show how a step is answered: it is labelled by OmniToM's own schema, and
    judges read no labels."""
    return step == JUDGE or scheme_of(schema).official


@lru_cache(1)
def sample_corpus() -> tuple[Record, ...]:
    return tuple(record_of(sample.as_json()) for sample in sample_records())
