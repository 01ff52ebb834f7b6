"""Samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl`, as `--log_samples` writes them, a document a line, and
`results_TIME.json` beside them.

A line has `doc_id`, `doc` (the row of its data set), `arguments` (what was asked), `resps` (what came, once for each
repetition) and `filtered_resps`. A task with several filters writes each document once for each `filter`; the answers
are the same. A file of samples does not name the model; that of results does, and says how it was asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmark.services.made_elsewhere.records import BadFile, Made, Record
from core.incoming.json_lines import BadLine, object_of_line
from core.incoming.text import NotJson, json_of, unwritable
from core.language import gettext_noop

FORMAT, RESULTS = "lm-eval", "lm-eval-results"
TOOL = "lm-evaluation-harness"
_FILE = re.compile(r"samples_(?P<task>.+?)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl")
_SECRET = re.compile(r"key|secret|password|auth|header|(^|_)token$", re.IGNORECASE)
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
            raise BadFile(
                gettext_noop(f"{name}, {where}: it has no doc and resps; expected a line of {TOOL}'s samples.")
            )
        key = (row.get("doc_id"), repr(row["resps"]))
        if row.get("filter") and key in seen:  # the same answer, filtered otherwise
            continue
        seen.add(key)
        records += _records(row, f"{name}, {where}", where)
    if not records:
        raise BadFile(gettext_noop(f"{name} holds no samples; expected a line for each document."))
    match = _FILE.fullmatch(name)
    facts = {"task": match["task"], "time": match["time"]} if match else {}
    return Made(FORMAT, records, tool=TOOL, facts=facts)


def _rows(path: Path, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = object_of_line(line, nan=True, unfit=unwritable)
            except BadLine as error:
                raise BadFile(gettext_noop(f"{name}, line {number}: {error}")) from error
            if row is not None:
                yield gettext_noop(f"line {number}"), row


def _records(row: Mapping[str, Any], place: str, where: str) -> Iterator[Record]:
    doc, messages = row["doc"], _asked(row.get("arguments"))
    ids = [str(doc[field]) for field in _IDS if isinstance(doc, Mapping) and isinstance(doc.get(field), str | int)]
    asked = [message["content"] for message in messages]
    users = [message["content"] for message in messages if message["role"] == "user"]
    rows = [value for value in doc.values() if isinstance(value, str)] if isinstance(doc, Mapping) else []
    texts = list(dict.fromkeys(["\n\n".join(asked), *users[-1:], *rows] if asked else rows))
    for turn, text in enumerate(_answers(row["resps"], place)):
        yield Record(where, ids, text, texts, turn, messages=messages)


def _answers(resps: Any, place: str) -> list[str]:
    """Return the answers of a document, one a repetition."""
    flat = (
        [text for group in resps for text in (group if isinstance(group, list) else [group])]
        if isinstance(resps, list)
        else []
    )
    if not flat or not all(isinstance(text, str) for text in flat):
        raise BadFile(
            gettext_noop(
                f"{place}: its resps are not texts; a task that compares likelihoods has no answers to read, "
                f"only one that generates them."
            )
        )
    return flat


def _asked(arguments: Any) -> list[dict[str, str]]:
    """Return the messages of a prompt: of `{"gen_args_0": {"arg_0": text, …}}`, or of `[[text, …]]` in older files;
    with a chat template the text is `["[{role, content}, …]"]`."""
    groups = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    first = groups[0] if isinstance(groups, list) and groups else None
    text = first.get("arg_0") if isinstance(first, Mapping) else first
    while isinstance(text, list) and text:
        text = text[0]
    if not isinstance(text, str):
        return []
    return _chat(text) or [{"role": "user", "content": text}]


def _chat(text: str) -> list[dict[str, str]]:
    """Return the messages of a chat that is written as JSON; none of other texts."""
    try:
        value = json_of(text.encode("utf-8", "surrogatepass")) if text.startswith("[{") else None
    except NotJson:
        return []
    messages = [message for message in value or () if isinstance(message, Mapping)]
    return [
        {"role": str(message.get("role", "user")), "content": message["content"]}
        for message in messages
        if isinstance(message.get("content"), str)
    ]


def is_results(value: Mapping[str, Any]) -> bool:
    """Return whether an object looks like a file of results."""
    return isinstance(value.get("results"), dict) and {"lm_eval_version", "n-samples"} & value.keys() != set()


def read_results(path: Path, name: str) -> Made:
    """Return what a file of results says of the making of samples; it has no answers. Raises BadFile."""
    try:
        value = json_of(path.read_bytes())
    except NotJson as error:
        raise BadFile(error.message_for(name)) from error
    if not isinstance(value, dict) or not is_results(value):
        raise BadFile(gettext_noop(f"{name} is not a file of results of {TOOL}."))
    model, version = value.get("model_name"), value.get("lm_eval_version")
    facts = {name: text for name, text in _facts(value) if text}
    return Made(RESULTS, [], model if isinstance(model, str) else "", TOOL, str(version or ""), facts)


def _facts(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    config = value["config"] if isinstance(value.get("config"), dict) else {}
    configs = value["configs"] if isinstance(value.get("configs"), dict) else {}
    shots = value["n-shot"] if isinstance(value.get("n-shot"), dict) else {}
    yield "task", ", ".join(configs)
    date = value.get("date")
    yield "time", datetime.fromtimestamp(date, UTC).isoformat("T", "seconds") if isinstance(date, int | float) else ""
    yield gettext_noop("asked by"), str(value.get("model_source") or "")
    yield gettext_noop("model arguments"), _told(config.get("model_args"))
    yield (
        "generation",
        _told(config.get("gen_kwargs")) or ", ".join(filter(None, dict.fromkeys(map(_generation, configs.values())))),
    )
    yield gettext_noop("examples shown"), ", ".join(dict.fromkeys(map(str, shots.values())))
    yield "seed", str(config["random_seed"]) if config.get("random_seed") is not None else ""
    yield gettext_noop("system instruction"), str(value.get("system_instruction") or "")


def _generation(task: Any) -> str:
    return _told(task.get("generation_kwargs")) if isinstance(task, dict) else ""


def _told(value: Any) -> str:
    """Return settings in words, without whatever may be a secret."""
    if not isinstance(value, Mapping):
        return str(value or "")
    return ", ".join(f"{name}={fact}" for name, fact in value.items() if not _SECRET.search(str(name)))
