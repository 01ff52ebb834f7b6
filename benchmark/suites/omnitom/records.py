"""Records with their gold rows, and which of them a run takes (specification "OmniToM scoring", section 0)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from annotation.domain.corpus_files import MAX_LINE_BYTES, lines_of
from annotation.domain.records import too_deep
from benchmark.suites.contract import Sample
from benchmark.suites.omnitom.labels import Labels, canonical_labels
from judge.domain.text import normalise_space

MAX_SELECTED = 1_000_000


class BadRecord(ValueError):
    """What is wrong with a record, as one sentence; of a file, with its name and the line."""


@dataclass(frozen=True, slots=True)
class GoldRow:
    """One gold proposition. `as_told` is (actor, belief) for prompts: trimmed outside, white space inside untouched."""

    actor: str
    belief: str
    labels: Labels
    order: str
    as_told: tuple[str, str]

    @property
    def shown(self) -> bool:
        """Whether prompts contain it: rows without an actor or a belief count, but nobody is shown them."""
        return bool(self.actor and self.belief)


@dataclass(frozen=True, slots=True)
class Record:
    """A story with its gold rows; `category` is verbatim, as stories are grouped by it."""

    story_id: int
    category: str
    story: str
    rows: tuple[GoldRow, ...]

    @property
    def shown(self) -> list[GoldRow]:
        return [row for row in self.rows if row.shown]


def record_of(values: Mapping[str, Any]) -> Record:
    """A record from its JSON object; further fields are ignored. Raises BadRecord."""
    story_id, beliefs = values.get("story_id"), values.get("beliefs", [])
    if isinstance(story_id, bool) or not isinstance(story_id, int) or story_id < 0:
        raise BadRecord("the field story_id is no whole number from 0 on.")
    if not isinstance(beliefs, list) or not all(isinstance(one, Mapping) for one in beliefs):
        raise BadRecord("the field beliefs is no list of objects.")
    for name in ("story", "story_category"):
        if not isinstance(values.get(name), str):
            raise BadRecord(f"the field {name} is no text.")
    return Record(story_id, values["story_category"], values["story"], tuple(map(_gold_row, beliefs)))


def record_of_sample(sample: Sample) -> Record:
    """Raises BadRecord."""
    return Record(
        int(sample.key), sample.category, sample.content["story"], tuple(map(_gold_row, sample.gold["beliefs"]))
    )


def _gold_row(belief: Mapping[str, Any]) -> GoldRow:
    actor, said = (belief.get(name) for name in ("actor", "belief"))
    labels = belief.get("labels") or {}
    if not isinstance(labels, Mapping):
        raise BadRecord("the labels of a belief are no object.")
    told = tuple("" if value is None else str(value).strip() for value in (actor, said))
    order = normalise_space(labels.get("order"))
    return GoldRow(normalise_space(actor), normalise_space(said), canonical_labels(labels), order, told)


def read_records(handle: BinaryIO, file: str) -> list[Record]:
    """Every record of a file in its order, repeated ids included; blank lines are skipped.

    Raises BadRecord, with the name `file` and the line, at the first line that is no record.
    """
    found = []
    for number, raw in lines_of(handle):
        try:
            record = _record(raw)
        except BadRecord as error:
            raise BadRecord(f"{file}, line {number}: {error}") from error
        if record is not None:
            found.append(record)
    if not found:
        raise BadRecord(f"{file} holds no record.")
    return found


def _record(raw: bytes | None) -> Record | None:
    if raw is None:
        raise BadRecord(f"the line is longer than {MAX_LINE_BYTES // 1024 // 1024} MB.")
    values = json_of(raw)
    if values is None:
        return None
    if not isinstance(values, dict):
        raise BadRecord("expected a JSON object.")
    return record_of(values)


def json_of(raw: bytes) -> Any:
    """The JSON value of one line; None for a blank line. Raises BadRecord."""
    try:
        text = raw.decode("utf-8-sig")
        value = json.loads(text) if text.strip() else None
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise BadRecord(f"the line is not UTF-8 (byte {error.start}).") from error
    except UnicodeEncodeError as error:
        raise BadRecord("the line holds half of a surrogate pair, which is no character.") from error
    except (ValueError, RecursionError) as error:
        raise BadRecord("the line is not JSON.") from error
    if too_deep(value):
        raise BadRecord("the JSON is nested too deeply.")
    return value


def parse_story_ids(text: str | None) -> frozenset[int] | None:
    """The ids of a list such as `1,4-7`; None, which means every story, where it names none (`7-5` included).

    Raises ValueError.
    """
    found: set[int] = set()
    for token in filter(None, (part.strip() for part in (text or "").split(","))):
        low, dash, high = token.partition("-")
        try:
            first, last = int(low), int(high) if dash else int(low)
            if last < 0:
                raise ValueError("a second dash")
        except ValueError as error:
            raise ValueError(
                f"{token!r} is no story id and no range of them; expected a list such as 1,4-7."
            ) from error
        if last - first >= MAX_SELECTED:
            raise ValueError(f"The range {token} is longer than {MAX_SELECTED:,} stories.")
        found.update(range(first, last + 1))
    return frozenset(found) or None


def select(
    records: Iterable[Record], story_ids: frozenset[int] | None = None, max_stories: int = 0
) -> Sequence[Record]:
    """The records with those ids (None: all) in file order, at most `max_stories` of them (0: no limit)."""
    chosen = [record for record in records if story_ids is None or record.story_id in story_ids]
    return chosen[:max_stories] if max_stories > 0 else chosen
