"""What requests for labels and for propositions ask, as data (`Request.task`): read by what answers without a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.plain import plain
from workers.providers.contract import Task

LABEL, EXTRACT = "label", "extract"
"""The kinds of tasks, which are the keys of the steps that ask them."""


@dataclass(frozen=True, slots=True)
class Row:
    """A proposition to be labelled; `id` counts from 1 within the story."""

    id: int
    actor: str
    belief: str


@dataclass(frozen=True, slots=True)
class ExtractedRow:
    """A proposition as it is told to whoever asks for the propositions of a story."""

    actor: str
    belief: str
    order: str


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A proposition with its label of each dimension."""

    row: Row
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTask:
    """Rows to label in `dimensions` {key: labels}.

    `counts` are {key: {label: n}} for the majority baseline. `answer_format` says how to answer, empty for labels by
    number; a format that is a table has `columns`, keys in their order, as those of an object come back sorted from the
    ledger, and `header` where its heads are not the usual ones.
    """

    rows: Sequence[Row]
    dimensions: Mapping[str, Sequence[str]]
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    answer_format: str = ""
    columns: Sequence[str] = ()
    header: Sequence[str] = ()

    @classmethod
    def from_task(cls, task: Task) -> LabelTask:
        """Return the task that a request keeps."""
        return cls(
            rows=[Row(row["id"], row["actor"], row["belief"]) for row in task["rows"]],
            dimensions=task["dimensions"],
            counts=task.get("counts", {}),
            answer_format=task.get("answer_format", ""),
            columns=task.get("columns", ()),
            header=task.get("header", ()),
        )

    def as_task(self) -> Task:
        """Return the task as a request keeps it."""
        return {
            "kind": LABEL,
            **_given(answer_format=self.answer_format),
            "rows": plain(self.rows),
            "dimensions": plain(self.dimensions),
            **_given(columns=self.columns),
            "counts": plain(self.counts),
            **_given(header=self.header),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionTask:
    """A story whose propositions are asked for, of these `actors` where it names any. `answer_format` says how to
    answer, empty where it does not matter; a format that is a table has a `header` where its heads are not the usual
    ones."""

    story: str
    actors: Sequence[str] = ()
    answer_format: str = ""
    header: Sequence[str] = ()

    @classmethod
    def from_task(cls, task: Task) -> ExtractionTask:
        """Return the task that a request keeps."""
        return cls(
            story=task["story"],
            actors=task.get("actors", ()),
            answer_format=task.get("answer_format", ""),
            header=task.get("header", ()),
        )

    def as_task(self) -> Task:
        """Return the task as a request keeps it."""
        story = {"story": self.story}
        return {
            "kind": EXTRACT,
            **_given(answer_format=self.answer_format),
            **story,
            **_given(actors=self.actors, header=self.header),
        }


def _given(**parts: str | Sequence[str]) -> Task:
    """Return the parts that are not empty."""
    return {name: plain(part) for name, part in parts.items() if part}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWriter:
    """An answer format under the `name` that tasks ask for it by: what writes `propositions` in it, and `labels`."""

    name: str
    propositions: Callable[[ExtractionTask, Sequence[ExtractedRow]], str]
    labels: Callable[[LabelTask, Sequence[LabelledRow]], str]


def _propositions_with_ids(task: ExtractionTask, rows: Sequence[ExtractedRow]) -> str:
    documents = [{"actor": row.actor, "belief": row.belief, "order": row.order} for row in rows]
    return json.dumps({"rows": documents}, ensure_ascii=False)


def _labels_with_ids(task: LabelTask, rows: Sequence[LabelledRow]) -> str:
    return json.dumps({"rows": [{"id": line.row.id, **line.labels} for line in rows]}, ensure_ascii=False)


STRUCTURED = AnswerWriter(name="structured", propositions=_propositions_with_ids, labels=_labels_with_ids)
UNNAMED = "text"
"""The format of propositions whose task names none."""
_writers = {STRUCTURED.name: STRUCTURED}


def register_writer(writer: AnswerWriter) -> None:
    """Add an answer format. Raises ValueError where another has its name."""
    if _writers.setdefault(writer.name, writer) != writer:
        raise ValueError(f"There is an answer format {writer.name!r} already; expected a name of its own.")


def extraction_answer(task: ExtractionTask, rows: Sequence[ExtractedRow]) -> str:
    """Return rows in the format that a task asks for."""
    writer = _writers.get(task.answer_format) or _writers[UNNAMED]
    return writer.propositions(task, rows)


def label_answer(task: LabelTask, rows: Sequence[LabelledRow]) -> str:
    """Return labelled rows in the format that a task asks for."""
    if writer := _writers.get(task.answer_format):
        return writer.labels(task, rows)
    return json.dumps({"rows": {str(line.row.id): line.labels for line in rows}}, ensure_ascii=False)
