from __future__ import annotations

import json

from annotation.domain.drafting import drafting_request
from annotation.domain.tasks import EXTRACT, LABEL, ExtractionTask, LabelTask, Row

TASKS = {
    LABEL: (
        LabelTask(rows=[Row(1, "Ines", "Three is more than two")], dimensions={"truth": ("True", "False")}),
        LabelTask(
            rows=[Row(1, "Ines", "Three is more than two"), Row(2, "world", "The key is in the drawer")],
            dimensions={"truth": ("True", "False"), "order": ("0", "1")},
            counts={"order": {"1": 2}},
            answer_format="text",
            columns=("truth", "order"),
            header=("Actor", "Truth"),
        ),
    ),
    EXTRACT: (
        ExtractionTask(story="Ines counts."),
        ExtractionTask(story="Ines counts.", actors=("Ines",), answer_format="text", header=("Actor",)),
    ),
}


def test_a_request_keeps_a_task_whole():
    """As JSON, since requests are read from the ledger."""
    for kind, task in [(kind, task) for kind, tasks in TASKS.items() for task in tasks]:
        kept = json.loads(json.dumps(task.as_task(), sort_keys=True))
        assert kept["kind"] == kind
        assert type(task).from_task(kept).as_task() == task.as_task()


def test_a_request_keeps_what_is_stated_in_one_order():
    """The digest by which an answer is found again is of the task as it is written."""
    assert list(TASKS[LABEL][0].as_task()) == ["kind", "rows", "dimensions", "counts"]
    whole = ["kind", "answer_format", "rows", "dimensions", "columns", "counts", "header"]
    assert list(TASKS[LABEL][1].as_task()) == whole
    drafted = drafting_request(story="Ines counts.").task
    assert drafted == {"kind": "extract", "answer_format": "structured", "story": "Ines counts."}
