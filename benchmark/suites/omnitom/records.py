"""Records with their gold rows, and which of them a run takes (specification "OmniToM scoring", section 0)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, BinaryIO

from pydantic import BeforeValidator, Field

from annotation.domain.schema import Schema
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, SCHEMA, Labels, Scheme, canonical_labels, scheme_of
from benchmark.suites.questions import Sample
from core.incoming.json_lines import BadLine, lines_of, object_of_line
from core.incoming.misfit import Misfit
from core.incoming.shapes import Expected, Open
from core.incoming.text import unwritable
from judge.domain.text import normalise_space

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
    """A gold row as it was published: an absent text is empty, and labels are read by `canonical_labels`."""

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


def _gold_row(row: _Belief, scheme: Scheme = OMNITOM_SCHEME) -> GoldRow:
    labels = _text(row.actor), _text(row.belief)
    order = normalise_space(row.labels.get("order"))
    canonical = canonical_labels(row.labels, scheme)
    return GoldRow(normalise_space(row.actor), normalise_space(row.belief), canonical, order, labels)


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def read_records(handle: BinaryIO, file: str) -> list[Record]:
    """Every record of a file in its order, repeated ids included; blank lines are skipped.

    Raises BadRecord, with the name `file` and the line, at the first line that is not a record.
    """
    records = []
    for number, raw in lines_of(handle):
        try:
            record = _record(raw)
        except (BadLine, Misfit) as error:
            raise BadRecord(f"{file}, line {number}: {error}") from error
        if record is not None:
            records.append(record)
    if not records:
        raise BadRecord(f"{file} holds no record.")
    return records


def _record(raw: bytes | None) -> Record | None:
    values = object_of_line(raw, nan=True, unfit=unwritable)
    return None if values is None else record_of(values)


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
