"""Files of answers that were made elsewhere.

Four formats are read: the answers file of `score_outputs` ({"ID": "text"}, or {"ID": {STEP: "text"}}), samples and
results of lm-evaluation-harness, and logs of inspect_ai, which its own package reads (an optional extra).
"""

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from benchmark.suites.answers import BadAnswers, read_answers
from core.digests import json_digest, text_digest
from core.incoming.damage import damage_as, fault_of, oversize
from core.incoming.json_lines import BadLine, object_of_line
from core.incoming.misfit import Misfit
from core.incoming.shapes import Expected, Open
from core.incoming.text import NotJson, json_of, unwritable
from core.messages import Refusal, Sentence, gettext_noop, labelled

ANSWERS, LM_EVAL, LM_EVAL_RESULTS, INSPECT = "answers", "lm-eval", "lm-eval-results", "inspect"
FORMATS = {
    ANSWERS: gettext_noop("Answers by id (as score_outputs takes them)"),
    LM_EVAL: gettext_noop("Samples of lm-evaluation-harness (samples_….jsonl)"),
    LM_EVAL_RESULTS: gettext_noop("Results of lm-evaluation-harness, beside its samples (results_….json)"),
    INSPECT: gettext_noop("Log of inspect_ai (.eval, .json)"),
}
HARNESS, INSPECT_AI = "lm-evaluation-harness", "inspect_ai"
MOST_BYTES = 512 * 1024 * 1024
MOST_PARTS = 200_000
"""The most files inside a log of inspect_ai, which has one per sample and epoch."""
NO_INSPECT = gettext_noop(
    "Logs of inspect_ai are read by its own package, which this site does not have: pip install 'credence[inspect]'."
)


class BadFile(Refusal):
    """The fault in a file of answers, as one sentence that names the file and the place in it."""


@dataclass(frozen=True, slots=True)
class Record:
    """One answer of a file."""

    where: str
    """Its place in the file."""
    ids: Sequence[str]
    """Names that its sample may have."""
    text: str | None
    """None if the file has no answer; `problem` gives the reason."""
    texts: Sequence[str] = ()
    """Other texts of the record about its question."""
    turn: int = 0
    """The repetition, from 0."""
    step: str = ""
    """Key of a step, if the file names one."""
    problem: str = ""
    messages: Sequence[Mapping[str, str]] = ()
    """The messages that were sent, as far as the file has them."""
    choices: Sequence[str] = ()
    """The options in the order in which they were shown."""
    answered_by: str = ""
    tokens: tuple[int, int] = (0, 0)
    """(in, out)."""
    reasoning: str = ""
    """Reasoning that the file keeps apart from the answer."""

    @property
    def prompt(self) -> str:
        """All that was sent."""
        return "\n\n".join(message["content"] for message in self.messages)


@dataclass(frozen=True, slots=True)
class Made:
    """The answers of files and facts about their making, in words by name. `model` is empty if no file names it;
    `digest` is the SHA-256 of the file, of several files that of the list of theirs."""

    format: str
    records: Sequence[Record]
    model: str = ""
    tool: str = ""
    version: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    digest: str = ""


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in a value from JSON, at any depth."""
    open_values = [value]
    while open_values:
        value = open_values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping | list | tuple):
            open_values += reversed([*value.values()] if isinstance(value, Mapping) else [*value])


def read_all(files: Sequence[tuple[Path, str]], format: str = "") -> Made:
    """Return the answers of (path, name) of files of one model together. Raises BadFile."""
    read = [read_made(path, name, format) for path, name in files]
    models = {made.model: made.name for made in read if made.model}
    if len(models) > 1:
        raise BadFile(
            "The files are of several models, {models_by_file}; import those of each by themselves.",
            models_by_file=" and ".join(f"{name} of {model}" for model, name in models.items()),
        )
    facts: dict[str, str] = {}  # equal ones once, those of files with answers first
    for some in ([made for made in read if made.records], [made for made in read if not made.records]):
        names = dict.fromkeys(name for made in some for name in made.facts)
        statements = {name: dict.fromkeys(made.facts[name] for made in some if name in made.facts) for name in names}
        facts = {name: ", ".join(values) for name, values in statements.items()} | facts
    main = max(read, key=lambda made: len(made.records))
    if not main.records:
        raise BadFile("{made} has figures and no answers; give the file of samples beside it.", made=_names(read))
    if len(read) == 1:
        return main
    return replace(
        main,
        records=[replace(record, where=f"{made.name}, {record.where}") for made in read for record in made.records],
        model=next(iter(models), ""),
        version=next((made.version for made in read if made.version), ""),
        facts=facts,
        name=_names(read),
        digest=digest_of_all([(made.digest, made.name) for made in read]),
    )


def _names(read: Sequence[Made]) -> str:
    return ", ".join(made.name for made in read)


def digest_of_all(files: Sequence[tuple[str, str]]) -> str:
    """Return the SHA-256 of files, each given by its own and its name: of several that of the list of theirs."""
    if len(files) == 1:
        return files[0][0]
    return text_digest("".join(f"{digest}  {name}\n" for digest, name in sorted(files)))


def read_made(path: Path, name: str, format: str = "") -> Made:
    """Return the answers of a file, which messages call `name`; its format is guessed without one. Raises BadFile."""
    if path.is_dir():
        raise BadFile("{name} is a folder; expected a file.", name=name)
    if path.stat().st_size > MOST_BYTES:
        raise BadFile("{name} is larger than {most_bytes} MB.", name=name, most_bytes=MOST_BYTES // 1024 // 1024)
    chosen = format or (INSPECT if name.endswith(".eval") else LM_EVAL if name.endswith(".jsonl") else "")
    if not chosen:
        value = _json_of(path, name)
        chosen = LM_EVAL_RESULTS if _is_results(value) else ANSWERS
        if isinstance(value, dict) and {"eval", "samples"} <= set(value) and isinstance(value["eval"], dict):
            chosen = INSPECT

    def damaged(error: Exception) -> BadFile:
        what = FORMATS[chosen]
        return BadFile("{name} is damaged: {error}; expected: {what}.", name=name, error=fault_of(error), what=what)

    with damage_as(damaged, BadFile):
        made = READERS[chosen](path, name)
    with path.open("rb") as handle:
        return replace(made, name=name, digest=hashlib.file_digest(handle, "sha256").hexdigest())


def _json_of(path: Path, name: str) -> Any:
    try:
        return json_of(path.read_bytes())
    except NotJson as error:
        raise BadFile(error.message_for(name)) from error


def _read_answers(path: Path, name: str) -> Made:
    records = []
    try:
        answers = read_answers(path)
    except BadAnswers as error:
        raise BadFile(str(error).replace(str(path), name)) from error
    for key, value in answers.items():
        quoted = f"{key!r:.80}"
        texts = value if isinstance(value, dict) else {"": value}
        if not all(isinstance(text, str) for text in texts.values()):
            raise BadFile(
                "{name}, answer {key}: it is not a text; expected what the model said.", name=name, key=quoted
            )
        records += [
            Record(Sentence("answer {key}", key=quoted), [key], text, step=step) for step, text in texts.items()
        ]
    return Made(ANSWERS, records)


_FILE = re.compile(r"samples_(?P<task>.+?)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl")
_SECRET = re.compile(r"key|secret|password|auth|header|(^|_)token$", re.IGNORECASE)
_ID_FIELDS = ("id", "key", "sample_id", "question_id", "qid", "uid")
"""Fields of a document that name it; `doc_id` only counts."""


def _generated(resps: Any) -> list[str]:
    """Return the answers of a document, one per repetition."""
    groups = resps if isinstance(resps, list) else []
    texts = [text for group in groups for text in (group if isinstance(group, list) else [group])]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError
    return texts


class SampleIn(Open):
    """A line of samples of lm-evaluation-harness (`--log_samples`)."""

    doc_id: Annotated[int | str | None, Expected(gettext_noop("a number or a text"))] = None
    doc: Any
    """The row of the data set, as its task has it."""
    arguments: Any = None
    """The prompts: `{"gen_args_0": {"arg_0": text, …}}`, or `[[text, …]]` in older files."""
    resps: Annotated[list[str], BeforeValidator(_generated)]
    filter: str | None = None
    """A task with several filters writes each document, with the same answers, once for each filter."""


def _read_lm_eval(path: Path, name: str) -> Made:
    records: list[Record] = []
    filters: dict[str, str] = {}  # the filter with which each answer was met first
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = object_of_line(line, nan=True, unfit=unwritable)
            except BadLine as error:
                raise BadFile("{name}, line {number}: {error}", name=name, number=number, error=error) from error
            if row is None:
                continue
            where = Sentence("line {number}", number=number)
            sample = _sample(row, name, where)
            answered = json_digest([sample.doc_id, sample.doc, sample.arguments, sample.resps])
            applied = sample.filter or ""
            if filters.setdefault(answered, applied) == applied:
                records += _records_of(sample, where)
    if not records:
        raise BadFile("{name} holds no samples; expected a line for each document.", name=name)
    match = _FILE.fullmatch(name)
    return Made(LM_EVAL, records, tool=HARNESS, facts=match.groupdict() if match else {})


def _sample(row: Mapping[str, Any], name: str, where: str) -> SampleIn:
    if not {"doc", "resps"} <= row.keys():
        raise BadFile(
            "{name}, {where}: it has no doc and resps; expected a line of {tool}'s samples.",
            name=name, where=where, tool=HARNESS,
        )  # fmt: skip
    place = f"{name}, {where}"
    try:
        return SampleIn.of(row)
    except Misfit as error:
        if error.wrong[0].field != "resps":
            raise BadFile(error.message_for(place)) from error
        raise BadFile(
            "{place}: its resps are not texts; a task that compares likelihoods has no answers to read, "
            "only one that generates them.",
            place=place,
        ) from error


def _records_of(sample: SampleIn, where: str) -> list[Record]:
    """Return the answers to a document, with its options if the prompt was not kept."""
    messages = _prompt(sample.arguments)
    doc: Mapping[str, Any] = sample.doc if isinstance(sample.doc, Mapping) else {}
    choices: Sequence[str] = ()
    for name in ("options", "choices"):  # the latter, if it has both
        value = doc.get(name)
        listed = value.get("text") if isinstance(value, Mapping) else value
        if not messages and isinstance(listed, list) and all(isinstance(text, str) for text in listed):
            choices = listed
    ids = [str(doc[name]) for name in _ID_FIELDS if isinstance(doc.get(name), str | int)]
    texts = list(dict.fromkeys(texts_in(sample.doc)))
    return [
        Record(where, ids, text, texts, turn, messages=messages, choices=choices)
        for turn, text in enumerate(sample.resps)
    ]


def _prompt(arguments: Any) -> list[dict[str, str]]:
    """Return the messages of a prompt; with a chat template its text is `["[{role, content}, …]"]`."""
    groups = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    first = groups[0] if isinstance(groups, list) and groups else None
    text = first.get("arg_0") if isinstance(first, Mapping) else first
    while isinstance(text, list) and text:
        text = text[0]
    if not isinstance(text, str):
        return []
    try:
        chat = json_of(text.encode("utf-8", "surrogatepass")) if text.startswith("[{") else ()
    except NotJson:
        chat = ()
    messages = [
        {"role": str(message.get("role", "user")), "content": message["content"]}
        for message in chat
        if isinstance(message, Mapping) and isinstance(message.get("content"), str)
    ]
    return messages or [{"role": "user", "content": text}]


def _is_results(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("results"), dict)
        and {"lm_eval_version", "n-samples"} & value.keys() != set()
    )


def _read_lm_eval_results(path: Path, name: str) -> Made:
    value = _json_of(path, name)
    if not _is_results(value):
        raise BadFile("{name} is not a file of results of {tool}.", name=name, tool=HARNESS)
    config, configs, shots = (_fields(value.get(name)) for name in ("config", "configs", "n-shot"))
    date, seed = value.get("date"), config.get("random_seed")
    at = datetime.fromtimestamp(date, UTC).isoformat("T", "seconds") if isinstance(date, int | float) else ""
    tasks = (_fields(task).get("generation_kwargs") for task in configs.values())
    asked = _settings_text(config.get("gen_kwargs"))
    facts = {
        "task": ", ".join(configs),
        "time": at,
        gettext_noop("asked by"): str(value.get("model_source") or ""),
        gettext_noop("model arguments"): _settings_text(config.get("model_args")),
        "generation": asked or ", ".join(filter(None, dict.fromkeys(map(_settings_text, tasks)))),
        gettext_noop("examples shown"): ", ".join(dict.fromkeys(map(str, shots.values()))),
        "seed": "" if seed is None else str(seed),
        gettext_noop("system instruction"): str(value.get("system_instruction") or ""),
    }
    version, told = str(value.get("lm_eval_version") or ""), {name: text for name, text in facts.items() if text}
    model = value.get("model_name")
    return Made(LM_EVAL_RESULTS, [], model if isinstance(model, str) else "", HARNESS, version, told)


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of an object; none of another value, as results are described as far as they can be read."""
    return value if isinstance(value, dict) else {}


def _settings_text(value: Any) -> str:
    """Return settings in words, without possible secrets."""
    if not isinstance(value, Mapping):
        return str(value or "")
    return ", ".join(f"{name}={fact}" for name, fact in value.items() if not _SECRET.search(str(name)))


_GENERATION = (
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "reasoning_effort",
    "reasoning_tokens",
    "system_message",
)


def _read_inspect(path: Path, name: str) -> Made:
    """Read a log; `path` has the ending that it was written with."""

    def unreadable(error: Exception) -> BadFile:
        return BadFile("{name} cannot be read as a log of inspect_ai: {error}", name=name, error=fault_of(error))

    with damage_as(unreadable, BadFile):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                if too_large := oversize(archive, most_files=MOST_PARTS):
                    raise BadFile("{name} {too_large}", name=name, too_large=too_large)
        log = _inspect_package(name).read_eval_log(str(path), resolve_attachments=True)
    shuffles = any(step.solver.endswith("multiple_choice") and step.params.get("shuffle") for step in log.plan.steps)
    records = [_inspect_record(sample, shuffles=shuffles) for sample in log.samples or ()]
    if not records:
        raise BadFile("{name} holds no samples; expected a log with them (not its header alone).", name=name)
    version = (log.eval.packages or {}).get(INSPECT_AI, "")
    generation = log.plan.config.model_dump(exclude_none=True)
    facts = {
        "task": log.eval.task,
        "run": log.eval.run_id,
        "time": str(log.eval.created),
        "status": "" if log.status == "success" else log.status,
        "generation": ", ".join(f"{name}={generation[name]}" for name in _GENERATION if name in generation),
        "solvers": ", ".join(step.solver for step in log.plan.steps),
    }
    told = {name: fact for name, fact in facts.items() if fact or name in ("task", "run", "time")}
    return Made(INSPECT, records, log.eval.model, INSPECT_AI, version, told)


def _inspect_package(name: str) -> Any:
    try:
        import inspect_ai.log
    except ImportError as error:
        raise BadFile(labelled(name, NO_INSPECT)) from error
    return inspect_ai.log


def _inspect_record(sample: Any, *, shuffles: bool) -> Record:
    """Return the answer of a sample. If a solver `shuffles` choices, only the prompt has their order."""
    output, problem, usage = sample.output, _problem(sample), sample.output.usage if sample.output else None
    choices, metadata = sample.choices or (), sample.metadata or {}
    asked = [sample.input] if isinstance(sample.input, str) else [message.text for message in sample.input]
    joined = ["\n\n".join(asked)] if asked and not isinstance(sample.input, str) else []
    messages = list(sample.messages or ())
    answers = [at for at, message in enumerate(messages) if message.role == "assistant"]
    named = [sample.id, *(metadata.get(name) for name in _ID_FIELDS[:4])]
    content = () if problem or isinstance(output.message.content, str) else output.message.content
    # of reasoning that its provider encrypted, the summary, which earlier versions do not have
    thoughts = [
        (getattr(part, "summary", None) or "") if part.redacted else part.reasoning
        for part in content
        if part.type == "reasoning"
    ]
    return Record(
        where=Sentence("sample {id}, epoch {epoch}", id=sample.id, epoch=sample.epoch),
        ids=[name for name in named if isinstance(name, str) and name],  # a number only counts
        text=None if problem else output.completion,
        texts=[*asked, *joined, *choices, *texts_in(metadata)],
        turn=sample.epoch - 1,
        problem=problem,
        messages=[
            {"role": message.role, "content": message.text} for message in messages[: answers[-1] if answers else None]
        ],
        choices=() if shuffles else choices,
        answered_by=output.model if output else "",
        tokens=(usage.input_tokens, usage.output_tokens) if usage else (0, 0),
        reasoning="\n\n".join(filter(None, thoughts)),
    )


def _problem(sample: Any) -> str:
    """Return the reason why a sample has no answer, or ""."""
    if sample.error:
        lines = str(sample.error.message).strip().splitlines() or [gettext_noop("The log has an error without words.")]
        return lines[0][:200]
    if getattr(sample, "invalidation", None):
        return gettext_noop("The log says that this sample is invalid.")
    if sample.output and sample.output.choices:
        return ""
    if sample.limit:
        return Sentence("The log has no answer: the sample was stopped by its limit of {type}.", type=sample.limit.type)
    return gettext_noop("The log has no answer.")


READERS: Mapping[str, Callable[[Path, str], Made]] = {
    ANSWERS: _read_answers,
    LM_EVAL: _read_lm_eval,
    LM_EVAL_RESULTS: _read_lm_eval_results,
    INSPECT: _read_inspect,
}
"""Readers by format; each takes the path of a file and the name that its messages call it, and raises BadFile."""
