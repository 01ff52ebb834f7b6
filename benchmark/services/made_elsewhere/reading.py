"""Reading a file of answers, whichever format it has."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmark.services.made_elsewhere import answers_file, inspect_logs, lm_eval
from benchmark.services.made_elsewhere.records import BadFile, Made
from core.digests import text_digest
from core.incoming.damage import damage_as, fault_of
from core.incoming.text import NotJson, json_of
from core.messages import gettext_noop

READERS: Mapping[str, Callable[[Path, str], Made]] = {
    answers_file.FORMAT: answers_file.read,
    lm_eval.FORMAT: lm_eval.read,
    lm_eval.RESULTS: lm_eval.read_results,
    inspect_logs.FORMAT: inspect_logs.read,
}
FORMATS = {
    answers_file.FORMAT: gettext_noop("Answers by id (as score_outputs takes them)"),
    lm_eval.FORMAT: gettext_noop("Samples of lm-evaluation-harness (samples_….jsonl)"),
    lm_eval.RESULTS: gettext_noop("Results of lm-evaluation-harness, beside its samples (results_….json)"),
    inspect_logs.FORMAT: gettext_noop("Log of inspect_ai (.eval, .json)"),
}
MOST_BYTES = 512 * 1024 * 1024


def read_all(files: Sequence[tuple[Path, str]], format: str = "") -> Made:
    """Return what files hold together, each with the name that messages call it by; they are of one model. Raises
    BadFile."""
    read = [read_made(path, name, format) for path, name in files]
    if len(read) == 1:
        return _with_answers(read[0])
    models = {made.model: made.name for made in read if made.model}
    if len(models) > 1:
        models_by_file = " and ".join(f"{name} of {model}" for model, name in models.items())
        raise BadFile(
            "The files are of several models, {models_by_file}; import those of each by themselves.",
            models_by_file=models_by_file,
        )
    main = max(read, key=lambda made: len(made.records))
    records = [replace(record, where=f"{made.name}, {record.where}") for made in read for record in made.records]
    return _with_answers(
        replace(
            main,
            records=records,
            model=next(iter(models), ""),
            version=next((made.version for made in read if made.version), ""),
            facts=_joined(read),
            name=", ".join(made.name for made in read),
            digest=digest_of_all([(made.digest, made.name) for made in read]),
        )
    )


def digest_of_all(files: Sequence[tuple[str, str]]) -> str:
    """Return the SHA-256 of files together, each by its own and its name: of one its own, of several that of the list
    of theirs."""
    if len(files) == 1:
        return files[0][0]
    return text_digest("".join(f"{digest}  {name}\n" for digest, name in sorted(files)))


def _joined(read: Sequence[Made]) -> dict[str, str]:
    """Return the facts of all files, what they say alike once; what files with answers say stands before what is said
    beside them."""
    facts: dict[str, str] = {}
    for some in ([made for made in read if made.records], [made for made in read if not made.records]):
        names = dict.fromkeys(name for made in some for name in made.facts)
        statements = {name: dict.fromkeys(made.facts[name] for made in some if name in made.facts) for name in names}
        facts = {name: ", ".join(values) for name, values in statements.items()} | facts
    return facts


def _with_answers(made: Made) -> Made:
    if not made.records:
        raise BadFile("{made} has figures and no answers; give the file of samples beside it.", made=made.name)
    return made


def read_made(path: Path, name: str, format: str = "") -> Made:
    """Return what a file holds; without a `format`, of the one that it looks like. `name` is what its messages call it.
    Raises BadFile."""
    if path.is_dir():
        raise BadFile("{name} is a folder; expected a file.", name=name)
    if path.stat().st_size > MOST_BYTES:
        raise BadFile("{name} is larger than {most_bytes} MB.", name=name, most_bytes=MOST_BYTES // 1024 // 1024)
    chosen = format or _format_of(path, name)
    what = FORMATS[chosen]
    with damage_as(
        lambda error: BadFile(
            "{name} is damaged: {error}; expected: {what}.", name=name, error=fault_of(error), what=what
        ),
        BadFile,
    ):
        made = READERS[chosen](path, name)
    return replace(made, name=name, digest=digest_of(path))


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
        raise BadFile(error.message_for(name)) from error
    if isinstance(value, dict) and {"eval", "samples"} <= set(value) and isinstance(value["eval"], dict):
        return inspect_logs.FORMAT
    if isinstance(value, dict) and lm_eval.is_results(value):
        return lm_eval.RESULTS
    return answers_file.FORMAT
