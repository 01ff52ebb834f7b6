"""Official figures from raw model texts, by way of the tables that the released runner stores.

Specification "OmniToM scoring", sections 5 and 6. A metric group has figures only where every story of the selection
has its texts, and none where the released code would have ended with a traceback.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from benchmark.domain.averaging import StoryAverages
from benchmark.suites.omnitom.data import EXTRACT, JUDGE, LABEL, STAGE1, STAGE2, Record, pairs_of
from benchmark.suites.omnitom.labels import Scheme, canonical
from benchmark.suites.omnitom.parsing.official import (
    ExtractionRow,
    JudgedRow,
    LabelRow,
    OversizedField,
    align,
    check_fields,
    extraction_rows,
    label_rows,
    parse_judgement,
)
from benchmark.suites.omnitom.results import (
    GroupScores,
    Stage1Result,
    Stage2Result,
    order_bucket,
    role_of,
    stage1_metrics,
    stage2_metrics,
)
from core.messages import Sentence
from judge.domain.text import key, normalise_space

T = TypeVar("T")

STEPS = (EXTRACT, LABEL, JUDGE)
STRUCTURED = "Structured output has no official parse: the released code cannot read it."


def no_official_parse(scheme: Scheme) -> str:
    """Return the reason why official scoring cannot read answers about gold of this scheme, "" for OmniToM's own."""
    if scheme.official:
        return ""
    return Sentence(
        "Gold labelled by {schema} has no official parse: the released code knows OmniToM's own dimensions alone.",
        schema=scheme.schema.reference,
    )


NEEDED = {STAGE1: (EXTRACT, JUDGE), STAGE2: (LABEL,)}
"""The answers that each metric group's figures rest on, in the order in which they are made."""
Texts = Mapping[int, Mapping[str, str]]
"""The raw answer of each story by step: {story_id: {"extract"?, "label"?, "judge"?}}."""


@dataclass(frozen=True, slots=True)
class StoredTables:
    """The tables of one story as the runner keeps them; None for a step without a text.

    `judged` are both tables of the judge: predicted rows, gold rows. `aborted` has the reason why the released code
    would end at a step, by step.
    """

    extraction: Sequence[ExtractionRow] | None = None
    labels: Sequence[LabelRow] | None = None
    judged: tuple[Sequence[JudgedRow], Sequence[JudgedRow]] | None = None
    aborted: Mapping[str, str] = field(default_factory=dict)

    @property
    def answered(self) -> set[str]:
        """The steps whose answers are stored."""
        stored = {EXTRACT: self.extraction, LABEL: self.labels, JUDGE: self.judged}
        return {step for step, table in stored.items() if table is not None}


def stored_tables(records: Iterable[Record], texts: Texts) -> dict[int, StoredTables]:
    """Return the tables that the runner would store for each story that has a text.

    Records that share an id share their files, which are made from the first of them: a step whose file is there is
    skipped.
    """
    tables: dict[int, StoredTables] = {}
    for record in records:
        if record.story_id not in tables and texts.get(record.story_id):
            tables[record.story_id] = _stored(record, texts[record.story_id])
    return tables


def _stored(record: Record, texts: Mapping[str, str]) -> StoredTables:
    """Return the tables of one story as they come back from CSV files: cells are space-normalised."""
    aborted: dict[str, str] = {}
    extraction = labels = judged = None
    if EXTRACT in texts and (cells := _stored_cells(extraction_rows(texts[EXTRACT]), EXTRACT, aborted)) is not None:
        extraction = [ExtractionRow(*row) for row in cells]
    if LABEL in texts:
        rows = [row.cells() for row in label_rows(texts[LABEL])]
        if (cells := _stored_cells(rows, LABEL, aborted)) is not None:
            labels = [LabelRow(row[0], row[1], tuple(row[2:])) for row in cells]
    if JUDGE in texts and extraction is not None:
        try:
            judged = judged_tables(record, extraction, texts[JUDGE])
        except OversizedField as error:
            aborted[JUDGE] = str(error)
    return StoredTables(extraction, labels, judged, aborted)


def _stored_cells(rows: Iterable[Iterable[str]], step: str, aborted: dict[str, str]) -> list[list[str]] | None:
    """Return rows as they come back from a CSV file, None for a file that could not be read back."""
    cells = [[normalise_space(cell) for cell in row] for row in rows]
    try:
        for row in cells:
            check_fields(row)
    except OversizedField as error:
        aborted[step] = str(error)
        return None
    return cells


def judged_tables(
    record: Record, extraction: Sequence[ExtractionRow], text: str
) -> tuple[list[JudgedRow], list[JudgedRow]]:
    """Return the judge's counts on the rows that it was given: predicted, gold. Raises OversizedField."""
    judgement = parse_judgement(text)
    predicted, gold = (
        [JudgedRow(*row, count) for row, count in zip(rows, align(rows, judged), strict=True)]
        for rows, judged in (
            (pairs_of(extraction), judgement.predictions),
            (pairs_of(record.rows), judgement.gold),
        )
    )
    return predicted, gold


def stage1_result(record: Record, tables: StoredTables) -> Stage1Result:
    predicted, gold = tables.judged or ((), ())
    extracted = tables.extraction if tables.judged and tables.extraction else ()
    return Stage1Result(
        record.story_id,
        record.category,
        pred_counts=tuple(row.count for row in predicted),
        gold_counts=tuple(row.count for row in gold),
        gold_orders=tuple(row.labels[0] for row in record.rows),
        pred_orders=tuple(order_bucket(canonical("order", row.order)) for row in extracted),
        gold_roles=tuple(role_of(row.actor) for row in record.rows),
        pred_roles=tuple(role_of(row.actor) for row in extracted),
    )


def stage2_result(record: Record, tables: StoredTables) -> Stage2Result:
    """Return gold rows paired with predicted rows: the n-th of equal rows with the n-th."""
    rows = tables.labels or ()
    predicted = dict(zip(_numbered((row.actor, row.belief) for row in rows), rows, strict=True))
    paired = (predicted.get(key) for key in _numbered((row.actor, row.belief) for row in record.rows))
    return Stage2Result(
        record.story_id,
        record.category,
        tuple(row.labels for row in record.rows),
        tuple(row.labels if row else None for row in paired),
        roles=tuple(role_of(row.actor) for row in record.rows),
    )


def _numbered(rows: Iterable[tuple[str, str]]) -> list[tuple[str, str, int]]:
    """Return each row's keys with the number of earlier rows of its table that have the same."""
    seen: Counter[tuple[str, str]] = Counter()
    numbered = []
    for actor, belief in rows:
        pair = (key(actor), key(belief))
        numbered.append((*pair, seen[pair]))
        seen[pair] += 1
    return numbered


def score_official(records: Sequence[Record], texts: Texts) -> GroupScores[StoryAverages]:
    """Return the figures of "stage1" and "stage2" over the selection `records`, from the answers of each story by step;
    None with a reason for a group for which a story lacks an answer or the released code would have aborted."""
    tables = stored_tables(records, texts)
    scores: dict[str, StoryAverages | None] = dict.fromkeys(NEEDED)
    reasons = {group: why for group in NEEDED if (why := _lacking(records, tables, group))}
    if STAGE1 not in reasons:
        scores[STAGE1] = stage1_metrics([stage1_result(record, tables[record.story_id]) for record in records])
    if STAGE2 not in reasons:
        scores[STAGE2] = stage2_metrics([stage2_result(record, tables[record.story_id]) for record in records])
    return GroupScores(scores, reasons)


def _lacking(records: Sequence[Record], tables: Mapping[int, StoredTables], group: str) -> str:
    stored = ((record.story_id, tables.get(record.story_id, StoredTables())) for record in records)
    reasons = (why_none(story, group, of_story.answered, of_story.aborted) for story, of_story in stored)
    return next(filter(None, reasons), "") if records else "No story is selected."


def why_none(story: int, group: str, answered: Collection[str], aborted: Mapping[str, str]) -> str:
    """Return the reason why no selection with this story has official figures of the metric group, "" if it does not
    stand in the way. `answered` are the steps that it has answers of, `aborted` the reasons why the released code would
    end."""
    for needed in NEEDED[group]:
        if needed in aborted:
            return f"Story {story}, {needed}: {aborted[needed]}"
        if needed not in answered:
            return f"Story {story} has no answer for {needed}; official scoring needs one of every story."
    return ""
