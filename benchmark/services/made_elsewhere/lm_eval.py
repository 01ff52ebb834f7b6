"""Samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl`, as `--log_samples` writes them, a document a line, and
`results_TIME.json` beside them.

A line has `doc_id`, `doc` (the row of its data set), `arguments` (what was asked), `resps` (what came, once for each
repetition) and `filtered_resps`. A task with several filters writes each document once for each `filter`; the answers
are the same. A file of samples does not name the model; that of results does, and says how it was asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from benchmark.services.made_elsewhere.records import BadFile, Made, Record, texts_in
from core.digests import json_digest
from core.incoming.json_lines import BadLine, object_of_line
from core.incoming.misfit import Misfit
from core.incoming.shapes import Expected, Open
from core.incoming.text import NotJson, json_of, unwritable
from core.messages import Sentence, gettext_noop

FORMAT, RESULTS = "lm-eval", "lm-eval-results"
TOOL = "lm-evaluation-harness"
_FILE = re.compile(r"samples_(?P<task>.+?)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl")
_SECRET = re.compile(r"key|secret|password|auth|header|(^|_)token$", re.IGNORECASE)
_IDS = ("id", "key", "sample_id", "question_id", "qid", "uid")
"""Fields of a document that name it; `doc_id` only counts."""


def _texts(resps: Any) -> list[str]:
    """Return the answers of a document, one a repetition."""
    groups = resps if isinstance(resps, list) else []
    texts = [text for group in groups for text in (group if isinstance(group, list) else [group])]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError
    return texts


class SampleIn(Open):
    """A line of samples; other fields than these are the harness's own."""

    doc_id: Annotated[int | str | None, Expected(gettext_noop("a number or a text"))] = None
    doc: Any
    """The row of the data set, as its task has it."""
    arguments: Any = None
    resps: Annotated[list[str], BeforeValidator(_texts)]
    filter: str | None = None


def _of(kind: type, otherwise: Any) -> BeforeValidator:
    """Take a value of another kind for one that is not there: what results say of their making is told where it can
    be read."""
    return BeforeValidator(lambda value: value if isinstance(value, kind) else otherwise)


Object = Annotated[dict[str, Any], _of(dict, {})]


class ConfigIn(Open):
    """The way in which a model was asked."""

    model_args: Any = None
    gen_kwargs: Any = None
    random_seed: Any = None


class ResultsIn(Open):
    """A file of results; other fields than these are the harness's own."""

    results: dict[str, Any]
    model_name: Annotated[str, _of(str, "")] = ""
    lm_eval_version: Any = None
    config: Annotated[ConfigIn, _of(dict, {})] = ConfigIn()
    configs: Object = Field(default_factory=dict)
    shots: Object = Field(default_factory=dict, alias="n-shot")
    date: Any = None
    model_source: Any = None
    system_instruction: Any = None


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether an object looks like a line of such a file."""
    return "doc" in row and "resps" in row


def read(path: Path, name: str) -> Made:
    """Read the file, which its messages call `name`. Raises BadFile."""
    records: list[Record] = []
    filters: dict[str, str] = {}  # that with which each answer was met first
    for where, row in _rows(path, name):
        if not is_row(row):
            raise BadFile(
                "{name}, {where}: it has no doc and resps; expected a line of {tool}'s samples.",
                name=name,
                where=where,
                tool=TOOL,
            )
        sample = _sample(row, f"{name}, {where}")
        answered = json_digest([sample.doc_id, sample.doc, sample.arguments, sample.resps])
        applied = sample.filter or ""
        if filters.setdefault(answered, applied) != applied:  # the same answer, filtered otherwise
            continue
        records += _records(sample, where)
    if not records:
        raise BadFile("{name} holds no samples; expected a line for each document.", name=name)
    match = _FILE.fullmatch(name)
    facts = {"task": match["task"], "time": match["time"]} if match else {}
    return Made(FORMAT, records, tool=TOOL, facts=facts)


def _rows(path: Path, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = object_of_line(line, nan=True, unfit=unwritable)
            except BadLine as error:
                raise BadFile("{name}, line {number}: {error}", name=name, number=number, error=error) from error
            if row is not None:
                yield Sentence("line {number}", number=number), row


def _sample(row: Mapping[str, Any], place: str) -> SampleIn:
    try:
        return SampleIn.of(row)
    except Misfit as error:
        if error.wrong[0].field == "resps":
            raise BadFile(
                "{place}: its resps are not texts; a task that compares likelihoods has no answers to read, "
                "only one that generates them.",
                place=place,
            ) from error
        raise BadFile(error.message_for(place)) from error


def _records(sample: SampleIn, where: str) -> Iterator[Record]:
    doc, messages = sample.doc, _asked(sample.arguments)
    ids = [str(doc[field]) for field in _IDS if isinstance(doc, Mapping) and isinstance(doc.get(field), str | int)]
    texts = list(dict.fromkeys(texts_in(doc)))
    choices = () if messages else _choices(doc)
    for turn, text in enumerate(sample.resps):
        yield Record(where, ids, text, texts, turn, messages=messages, choices=choices)


def _choices(doc: Any) -> Sequence[str]:
    """Return the options of a document whose prompt was not kept; none where it has no list of them."""
    for name in ("choices", "options"):
        value = doc.get(name) if isinstance(doc, Mapping) else None
        listed = value.get("text") if isinstance(value, Mapping) else value
        if isinstance(listed, list) and all(isinstance(text, str) for text in listed):
            return listed
    return ()


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
        raise BadFile("{name} is not a file of results of {tool}.", name=name, tool=TOOL)
    results = ResultsIn.of(value)
    facts = {name: text for name, text in _facts(results) if text}
    return Made(RESULTS, [], results.model_name, TOOL, str(results.lm_eval_version or ""), facts)


def _facts(results: ResultsIn) -> Iterator[tuple[str, str]]:
    config, configs, date = results.config, results.configs, results.date
    yield "task", ", ".join(configs)
    yield "time", datetime.fromtimestamp(date, UTC).isoformat("T", "seconds") if isinstance(date, int | float) else ""
    yield gettext_noop("asked by"), str(results.model_source or "")
    yield gettext_noop("model arguments"), _settings_text(config.model_args)
    yield (
        "generation",
        _settings_text(config.gen_kwargs) or ", ".join(filter(None, dict.fromkeys(map(_generation, configs.values())))),
    )
    yield gettext_noop("examples shown"), ", ".join(dict.fromkeys(map(str, results.shots.values())))
    yield "seed", str(config.random_seed) if config.random_seed is not None else ""
    yield gettext_noop("system instruction"), str(results.system_instruction or "")


def _generation(task: Any) -> str:
    return _settings_text(task.get("generation_kwargs")) if isinstance(task, dict) else ""


def _settings_text(value: Any) -> str:
    """Return settings in words, without whatever may be a secret."""
    if not isinstance(value, Mapping):
        return str(value or "")
    return ", ".join(f"{name}={fact}" for name, fact in value.items() if not _SECRET.search(str(name)))
