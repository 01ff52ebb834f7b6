"""Samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl`, as `--log_samples` writes them, a document a line.

A line has `doc_id`, `doc` (the row of its data set), `arguments` (what was asked), `resps` (what came, once for each repetition) and `filtered_resps`. A task with
several filters writes each document once for each `filter`; the answers are the same. The file does not name the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.services.made_elsewhere.records import BadFile, Made, Record
from benchmark.suites.json_lines import BadLine, object_of_line

FORMAT = "lm-eval"
TOOL = "lm-evaluation-harness"
_FILE = re.compile(r"samples_(?P<task>.+?)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl")
_IDS = ("id", "key", "sample_id", "question_id", "qid", "uid")
"""Fields of a document that name it; `doc_id` only counts."""


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether an object looks like a line of such a file."""
    return "doc" in row and "resps" in row


def read(path: Path, name: str) -> Made:
    """Read the file, which its messages call `name`. Raises BadFile."""
    records: list[Record] = []
    seen: set[tuple[Any, str]] = set()
    for where, row in _rows(path, name):
        if not is_row(row):
            raise BadFile(f"{name}, {where}: it has no doc and resps; expected a line of {TOOL}'s samples.")
        key = (row.get("doc_id"), repr(row["resps"]))
        if row.get("filter") and key in seen:  # the same answer, filtered otherwise
            continue
        seen.add(key)
        records += _records(row, f"{name}, {where}", where)
    if not records:
        raise BadFile(f"{name} holds no samples; expected a line for each document.")
    found = _FILE.fullmatch(name)
    facts = {"task": found["task"], "time": found["time"]} if found else {}
    return Made(FORMAT, records, tool=TOOL, facts=facts)


def _rows(path: Path, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = object_of_line(line)
            except BadLine as error:
                raise BadFile(f"{name}, line {number}: {error}") from error
            if row is not None:
                yield f"line {number}", row


def _records(row: Mapping[str, Any], place: str, where: str) -> Iterator[Record]:
    doc, asked = row["doc"], _asked(row.get("arguments"))
    ids = [str(doc[field]) for field in _IDS if isinstance(doc, Mapping) and isinstance(doc.get(field), str | int)]
    texts = [*asked, *([value for value in doc.values() if isinstance(value, str)] if isinstance(doc, Mapping) else [])]
    messages = [{"role": "user", "content": text} for text in asked]
    for turn, text in enumerate(_answers(row["resps"], place)):
        yield Record(where, ids, text, texts, turn, messages=messages)


def _answers(resps: Any, place: str) -> list[str]:
    """Return the answers of a document, one a repetition."""
    flat = [text for group in resps for text in (group if isinstance(group, list) else [group])] if isinstance(resps, list) else []  # fmt: skip
    if not flat or not all(isinstance(text, str) for text in flat):
        raise BadFile(
            f"{place}: its resps are not texts; a task that compares likelihoods has no answers to read, only one that generates them."
        )
    return flat


def _asked(arguments: Any) -> Sequence[str]:
    """Return the prompt: of `{"gen_args_0": {"arg_0": text, …}}`, or of `[[text, …]]` in older files."""
    if isinstance(arguments, Mapping):
        groups: list[Any] = [
            list(group.values()) if isinstance(group, Mapping) else group for group in arguments.values()
        ]
    else:
        groups = arguments if isinstance(arguments, list) else []
    first = groups[0] if groups else []
    text = first[0] if isinstance(first, list) and first else first
    return [text] if isinstance(text, str) else []
