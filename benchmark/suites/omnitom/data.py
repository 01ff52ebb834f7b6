"""Records with their gold rows, and which of them a run takes (specification "OmniToM scoring", section 0)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, BinaryIO, Protocol

from pydantic import BeforeValidator, Field

from annotation.domain import tasks
from annotation.domain.schema import Schema
from annotation.domain.tasks import AnswerWriter, ExtractedRow, ExtractionTask, LabelledRow, LabelTask
from benchmark.suites.omnitom.labels import (
    DIMENSIONS,
    OMNITOM_SCHEME,
    ORDER,
    SCHEMA,
    Labels,
    Scheme,
    canonical,
    scheme_of,
)
from benchmark.suites.omnitom.parsing.official import PROPOSITION_COLUMNS
from benchmark.suites.questions import Resources, Sample
from core.incoming.json_lines import BadLine, lines_of, object_of_line
from core.incoming.misfit import Misfit
from core.incoming.shapes import Expected, Open
from core.incoming.text import unwritable
from judge.domain.text import normalise_space

EXTRACT, LABEL = tasks.EXTRACT, tasks.LABEL
JUDGE, FOLLOW_UP = "judge", "follow"
STAGE1, STAGE2 = "stage1", "stage2"


MAX_SELECTED = 1_000_000
StoryId = Annotated[int, Field(ge=0), Expected("a whole number from 0 on")]


class BadRecord(ValueError):
    """The fault in a record, as one sentence; of a file, with its name and the line."""


@dataclass(frozen=True, slots=True)
class GoldRow:
    """One gold proposition. `as_told` is (actor, belief) for prompts: trimmed outside, white space inside untouched."""

    actor: str
    belief: str
    labels: Labels
    order: str
    as_told: tuple[str, str]

    @property
    def is_shown(self) -> bool:
        """True where prompts contain it: rows without an actor or a belief count, but nobody is shown them."""
        return bool(self.actor and self.belief)


class Proposition(Protocol):
    @property
    def actor(self) -> str: ...
    @property
    def belief(self) -> str: ...


def pairs_of(rows: Iterable[Proposition]) -> list[tuple[str, str]]:
    """Return (actor, belief) of each row."""
    return [(row.actor, row.belief) for row in rows]


@dataclass(frozen=True, slots=True)
class Record:
    """A story with its gold rows, labelled by a scheme; `category` is verbatim, as stories are grouped by it."""

    story_id: int
    category: str
    story: str
    rows: tuple[GoldRow, ...]
    scheme: Scheme = OMNITOM_SCHEME

    @property
    def shown_rows(self) -> list[GoldRow]:
        return [row for row in self.rows if row.is_shown]


class _Belief(Open):
    """A gold row as it was published: an absent text is empty, and labels are read by `_gold_row`."""

    actor: Any = None
    belief: Any = None
    labels: Annotated[dict[str, Any], BeforeValidator(lambda value: value or {})] = {}


class _Record(Open):
    story_id: StoryId
    story_category: str
    story: str
    beliefs: list[_Belief] = []


def record_of(values: Mapping[str, Any]) -> Record:
    """A record from its JSON object; further fields are ignored. Raises Misfit."""
    fields = _Record.of(values)
    return Record(fields.story_id, fields.story_category, fields.story, tuple(map(_gold_row, fields.beliefs)))


def record_of_sample(sample: Sample, schema: Schema = SCHEMA) -> Record:
    """Return the record of a sample whose gold is labelled by a schema. Raises Misfit."""
    scheme = scheme_of(schema)
    rows = (_gold_row(_Belief.of(belief), scheme) for belief in sample.gold["beliefs"])
    return Record(int(sample.key), sample.category, sample.content["story"], tuple(rows), scheme)


def records_of(resources: Resources) -> Mapping[str, Record]:
    """Return the record of every sample of the dataset by its key."""

    def by_key(samples: Sequence[Sample]) -> dict[str, Record]:
        return {sample.key: record_of_sample(sample, resources.schema) for sample in samples}

    return resources.derived("records", by_key)


def _gold_row(row: _Belief, scheme: Scheme = OMNITOM_SCHEME) -> GoldRow:
    """Return a gold row with the labels as official scoring canonicalises them; of another schema as they are."""
    told = _text(row.actor), _text(row.belief)
    order = normalise_space(row.labels.get("order"))
    if scheme.official:
        canonical_labels = tuple(canonical(dimension, row.labels.get(dimension)) for dimension in DIMENSIONS)
    else:
        canonical_labels = tuple(normalise_space(row.labels.get(key)) for key in scheme.keys)
    return GoldRow(normalise_space(row.actor), normalise_space(row.belief), canonical_labels, order, told)


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def read_records(handle: BinaryIO, file: str) -> list[Record]:
    """Every record of a file in its order, repeated ids included; blank lines are skipped.

    Raises BadRecord, with the name `file` and the line, at the first line that is not a record.
    """
    records = []
    for number, raw in lines_of(handle):
        try:
            if (values := object_of_line(raw, nan=True, unfit=unwritable)) is not None:
                records.append(record_of(values))
        except (BadLine, Misfit) as error:
            raise BadRecord(f"{file}, line {number}: {error}") from error
    if not records:
        raise BadRecord(f"{file} holds no record.")
    return records


def parse_story_ids(text: str | None) -> frozenset[int] | None:
    """The ids of a list such as `1,4-7`; None, which means every story, where it names none (`7-5` included).

    Raises ValueError.
    """
    numbers: set[int] = set()
    for token in filter(None, (part.strip() for part in (text or "").split(","))):
        low, dash, high = token.partition("-")
        try:
            first, last = int(low), int(high) if dash else int(low)
            if last < 0:
                raise ValueError("a second dash")
        except ValueError as error:
            raise ValueError(
                f"{token!r} is not a story id or a range of them; expected a list such as 1,4-7."
            ) from error
        if last - first >= MAX_SELECTED:
            raise ValueError(f"The range {token} is longer than {MAX_SELECTED:,} stories.")
        numbers.update(range(first, last + 1))
    return frozenset(numbers) or None


def select(
    records: Iterable[Record], story_ids: frozenset[int] | None = None, max_stories: int = 0
) -> Sequence[Record]:
    """The records with those ids (None: all) in file order, at most `max_stories` of them (0: no limit)."""
    chosen = [record for record in records if story_ids is None or record.story_id in story_ids]
    return chosen[:max_stories] if max_stories > 0 else chosen


def extraction_header(scheme: Scheme) -> tuple[str, ...]:
    """Return the heads of a table of propositions."""
    return (*PROPOSITION_COLUMNS, scheme.names[ORDER]) if scheme.ordered else PROPOSITION_COLUMNS


def label_header(scheme: Scheme) -> tuple[str, ...]:
    """Return the heads of a table of labelled propositions."""
    return (*PROPOSITION_COLUMNS, *scheme.names.values())


def _piped(rows: Iterable[Iterable[str]]) -> str:
    """Lines of cells joined by ` | `; a pipe inside a cell is not escaped, as in the released code."""
    return "\n".join(" | ".join(row) for row in rows)


def belief_table(record: Record) -> str:
    """The gold propositions that a model is to label: actor and belief, without rows that lack either."""
    return _piped([PROPOSITION_COLUMNS, *(row.as_told for row in record.shown_rows)])


def gold_extraction_table(record: Record) -> str:
    """Return what a perfect extraction looks like: the official mock model's answer, of every gold row."""
    header = extraction_header(record.scheme)
    return _piped([header, *((row.actor, row.belief, row.order)[: len(header)] for row in record.rows)])


def gold_extraction_rows(rows: Iterable[GoldRow], scheme: Scheme) -> list[dict[str, str]]:
    """Return the rows of a perfect extraction in structured output."""
    return [{"actor": row.actor, "belief": row.belief} | ({ORDER: row.order} if scheme.ordered else {}) for row in rows]


def gold_label_table(record: Record) -> str:
    """Return what a perfect labelling looks like: the official mock model's answer, of every gold row."""
    return _piped([label_header(record.scheme), *((row.actor, row.belief, *row.labels) for row in record.rows)])


def _propositions(task: ExtractionTask, rows: Sequence[ExtractedRow]) -> str:
    """Return a table of propositions, without orders where its header has no head for them."""
    header = task.header or extraction_header(OMNITOM_SCHEME)
    return _pipe_table(header, [(row.actor, row.belief, row.order)[: len(header)] for row in rows])


def _labels(task: LabelTask, rows: Sequence[LabelledRow]) -> str:
    cells = [(line.row.actor, line.row.belief, *(line.labels[key] for key in task.columns)) for line in rows]
    return _pipe_table(task.header or label_header(OMNITOM_SCHEME), cells)


def _pipe_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *([cell.replace("|", "/") for cell in row] for row in rows)]
    return "\n".join(" | ".join(line) for line in lines)


TEXT = AnswerWriter(name="text", propositions=_propositions, labels=_labels)


def cell_labels(
    sample: Sample, schema: Schema, parses: Sequence[Mapping[str, Any]]
) -> list[Mapping[int, Sequence[str]]]:
    """Return of each repaired parse of an answer {place of the gold proposition: label of each dimension, "" without
    one}; propositions that nobody is asked about are not in it."""
    record = record_of_sample(sample, schema)
    places = [at for at, row in enumerate(record.rows) if row.is_shown]
    nothing = record.scheme.nothing
    return [
        {at: labels or nothing for at, labels in zip(places, parsed["predicted"], strict=True)} for parsed in parses
    ]
