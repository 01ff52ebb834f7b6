"""Official figures from raw model texts, by way of the tables that the released runner stores.

Specification "OmniToM scoring", sections 5 and 6. A metric group has figures only where every story of the selection
has its texts, and none where the released code would have ended with a traceback.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

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
    Stage1Result,
    Stage2Result,
    kinds_of,
    stage1_metrics,
    stage1_of,
    stage2_metrics,
    stage2_of,
    with_reasons,
)
from core.messages import Sentence
from core.plain import Json
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

    @property
    def kept_aborted(self) -> Json:
        """The entry of a kept parse that says why the released code would end, if it would."""
        return {"aborted": dict(self.aborted)} if self.aborted else {}


def stored_tables(records: Iterable[Record], texts: Texts) -> dict[int, StoredTables]:
    """Return the tables that the runner would store for each story that has a text.

    Records that share an id share their files, which are made from the first of them: a step whose file is there is
    skipped.
    """
    tables: dict[int, StoredTables] = {}
    for record in records:
        told = texts.get(record.story_id)
        if record.story_id in tables or not told:
            continue
        aborted: dict[str, str] = {}
        extraction = labels = judged = None
        if EXTRACT in told and (cells := _stored_cells(extraction_rows(told[EXTRACT]), EXTRACT, aborted)) is not None:
            extraction = [ExtractionRow(*row) for row in cells]
        if LABEL in told:
            rows = [row.cells() for row in label_rows(told[LABEL])]
            if (cells := _stored_cells(rows, LABEL, aborted)) is not None:
                labels = [LabelRow(row[0], row[1], tuple(row[2:])) for row in cells]
        if JUDGE in told and extraction is not None:
            try:
                predicted, gold = parse_judgement(told[JUDGE])
                judged = _counted(pairs_of(extraction), predicted), _counted(pairs_of(record.rows), gold)
            except OversizedField as error:
                aborted[JUDGE] = str(error)
        tables[record.story_id] = StoredTables(extraction, labels, judged, aborted)
    return tables


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


def _counted(rows: Sequence[tuple[str, str]], judged: Sequence[JudgedRow]) -> list[JudgedRow]:
    """Return the rows that the judge was given, with its counts."""
    return [JudgedRow(*row, count) for row, count in zip(rows, align(rows, judged), strict=True)]


def stage1_result(record: Record, tables: StoredTables) -> Stage1Result:
    predicted, gold = tables.judged or ((), ())
    extracted = tables.extraction if tables.judged and tables.extraction else ()
    kinds = kinds_of(row._replace(order=canonical("order", row.order)) for row in extracted)
    return stage1_of(record, {"pred": [row.count for row in predicted], "gold": [row.count for row in gold], **kinds})


def stage2_result(record: Record, tables: StoredTables) -> Stage2Result:
    """Return gold rows paired with predicted rows: the n-th of equal rows with the n-th."""
    rows = tables.labels or ()
    predicted = dict(zip(_numbered(pairs_of(rows)), rows, strict=True))
    paired = (predicted.get(key) for key in _numbered(pairs_of(record.rows)))
    return stage2_of(record, (row.labels if row else None for row in paired))


def _numbered(rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, int]]:
    """Yield each row's keys with the number of earlier rows of its table that have the same."""
    seen: Counter[tuple[str, str]] = Counter()
    for actor, belief in rows:
        pair = (key(actor), key(belief))
        yield (*pair, seen[pair])
        seen[pair] += 1


def score_official(records: Sequence[Record], texts: Texts) -> Json:
    """Return the figures of "stage1" and "stage2" over the selection `records`, from the answers of each story by step;
    None with a reason for a group for which a story lacks an answer or the released code would have aborted."""
    tables = stored_tables(records, texts)
    stored = [(record, tables.get(record.story_id, StoredTables())) for record in records]
    scores: dict[str, Json | None] = dict.fromkeys(NEEDED)
    reasons = dict.fromkeys(NEEDED, "" if records else "No story is selected.")
    for group in NEEDED if records else ():
        whys = (why_none(record.story_id, group, of.answered, of.aborted) for record, of in stored)
        reasons[group] = next(filter(None, whys), "")
        if not reasons[group] and group == STAGE1:
            scores[group] = stage1_metrics([stage1_result(*story) for story in stored])
        elif not reasons[group]:
            scores[group] = stage2_metrics([stage2_result(*story) for story in stored])
    return with_reasons(scores, {group: why for group, why in reasons.items() if why})


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
