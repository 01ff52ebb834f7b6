"""How labels and propositions are written down as an answer, in the answer format that a task asks for.

Here are rows with ids, and labels by number for a task of labels that names no format. A suite registers the formats of
its own answers with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotation.domain.tasks import ExtractedRow, ExtractionTask, LabelledRow, LabelTask


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


def _labels_by_number(rows: Sequence[LabelledRow]) -> str:
    return json.dumps({"rows": {str(line.row.id): line.labels for line in rows}}, ensure_ascii=False)


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
    writer = _writers.get(task.answer_format)
    return writer.labels(task, rows) if writer else _labels_by_number(rows)
