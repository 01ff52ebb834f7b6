"""Answers in free text as baselines and scripted models write them: tables with pipes."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.domain.answer_writers import AnswerWriter
from annotation.domain.tasks import ExtractedRow, ExtractionTask, LabelledRow, LabelTask
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME
from benchmark.suites.omnitom.serialisers import extraction_header, label_header


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
