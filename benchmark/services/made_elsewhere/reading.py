"""Reading a file of answers, whichever format it has."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmark.services.made_elsewhere import answers_file, inspect_logs, lm_eval
from benchmark.services.made_elsewhere.records import BadFile, Made
from core.incoming.text import NotJson, json_of

READERS: Mapping[str, Callable[[Path, str], Made]] = {
    answers_file.FORMAT: answers_file.read,
    lm_eval.FORMAT: lm_eval.read,
    inspect_logs.FORMAT: inspect_logs.read,
}
FORMATS = {
    answers_file.FORMAT: "Answers by id (as score_outputs takes them)",
    lm_eval.FORMAT: "Samples of lm-evaluation-harness (samples_….jsonl)",
    inspect_logs.FORMAT: "Log of inspect_ai (.eval, .json)",
}
MOST_BYTES = 512 * 1024 * 1024


def read_made(path: Path, name: str, format: str = "") -> Made:
    """Return what the file holds; without a `format`, of the one that it looks like. `name` is what its messages call it. Raises BadFile."""
    if path.is_dir():
        raise BadFile(f"{name} is a folder; expected a file.")
    if path.stat().st_size > MOST_BYTES:
        raise BadFile(f"{name} is larger than {MOST_BYTES // 1024 // 1024} MB.")
    return READERS[format or _format_of(path, name)](path, name)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _format_of(path: Path, name: str) -> str:
    if name.endswith(".eval"):
        return inspect_logs.FORMAT
    if name.endswith(".jsonl"):
        return lm_eval.FORMAT
    try:
        value = json_of(path.read_bytes())
    except NotJson as error:
        raise BadFile(error.told(name)) from error
    if isinstance(value, dict) and {"eval", "samples"} <= set(value) and isinstance(value["eval"], dict):
        return inspect_logs.FORMAT
    return answers_file.FORMAT
