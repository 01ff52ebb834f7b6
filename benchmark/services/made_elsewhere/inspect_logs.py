"""Logs of inspect_ai, `.eval` or `.json`, read by its own package: an optional extra."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark.services.made_elsewhere.records import BadFile, Made, Record, texts_in
from core.incoming.damage import damage_as, fault_of, oversize
from core.messages import Sentence, gettext_noop, labelled

FORMAT = "inspect"
TOOL = "inspect_ai"
NOT_THERE = gettext_noop(
    "Logs of inspect_ai are read by its own package, which this site does not have: pip install 'credence[inspect]'."
)
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
MOST_PARTS = 200_000
"""The most files inside a log, which has one per sample and epoch."""
_IDS = ("id", "key", "sample_id", "question_id")


def read(path: Path, name: str) -> Made:
    """Read the log, which its messages call `name`; `path` has the ending that it was written with. Raises BadFile."""
    with damage_as(lambda error: _unreadable(name, error), BadFile):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                if too_large := oversize(archive, most_files=MOST_PARTS):
                    raise BadFile("{name} {too_large}", name=name, too_large=too_large)
        log = _package(name).read_eval_log(str(path), resolve_attachments=True)
    shuffles = any(step.solver.endswith("multiple_choice") and step.params.get("shuffle") for step in log.plan.steps)
    records = [_record(sample, shuffles=shuffles) for sample in log.samples or ()]
    if not records:
        raise BadFile("{name} holds no samples; expected a log with them (not its header alone).", name=name)
    version = (log.eval.packages or {}).get(TOOL, "")
    return Made(FORMAT, records, log.eval.model, TOOL, version, dict(_facts(log)))


def _package(name: str) -> Any:
    try:
        import inspect_ai.log
    except ImportError as error:
        raise BadFile(labelled(name, NOT_THERE)) from error
    return inspect_ai.log


def _unreadable(name: str, error: Exception) -> BadFile:
    return BadFile("{name} cannot be read as a log of inspect_ai: {error}", name=name, error=fault_of(error))


def _facts(log: Any) -> Iterator[tuple[str, str]]:
    yield "task", log.eval.task
    yield "run", log.eval.run_id
    yield "time", str(log.eval.created)
    if log.status != "success":
        yield "status", log.status
    generation = log.plan.config.model_dump(exclude_none=True)
    if generated_with := ", ".join(f"{name}={generation[name]}" for name in _GENERATION if name in generation):
        yield "generation", generated_with
    if solvers := ", ".join(step.solver for step in log.plan.steps):
        yield "solvers", solvers


def _record(sample: Any, *, shuffles: bool) -> Record:
    """Return the answer of a sample. A solver that `shuffles` choices leaves them unshuffled in the log, while the
    prompt is the one that goes with the answer."""
    output, problem = sample.output, _problem(sample)
    usage = output.usage if output else None
    choices = sample.choices or ()
    return Record(
        where=Sentence("sample {id}, epoch {epoch}", id=sample.id, epoch=sample.epoch),
        ids=_ids(sample),
        text=None if problem else output.completion,
        texts=[*_texts(sample.input), *choices, *texts_in(sample.metadata or {})],
        turn=sample.epoch - 1,
        problem=problem,
        messages=[{"role": message.role, "content": message.text} for message in _sent(sample)],
        choices=() if shuffles else choices,
        answered_by=output.model if output else "",
        tokens=(usage.input_tokens, usage.output_tokens) if usage else (0, 0),
        reasoning="" if problem else _reasoning(output.message),
    )


def _reasoning(message: Any) -> str:
    """Return what a message holds of its model's reasoning; of what its provider encrypted, the summary."""
    parts = [] if isinstance(message.content, str) else [part for part in message.content if part.type == "reasoning"]
    summaries = [getattr(part, "summary", None) or "" for part in parts]  # none in earlier versions
    read = [summary if part.redacted else part.reasoning for part, summary in zip(parts, summaries, strict=True)]
    return "\n\n".join(filter(None, read))


def _problem(sample: Any) -> str:
    """Return the reason why a sample has no answer, empty where it has one."""
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


def _ids(sample: Any) -> list[str]:
    """Return the names of a sample; a number only counts, and names nothing."""
    named = [(sample.metadata or {}).get(field) for field in _IDS]
    return [str(name) for name in (sample.id, *named) if isinstance(name, str) and name]


def _texts(asked: Any) -> list[str]:
    if isinstance(asked, str):
        return [asked]
    texts = [message.text for message in asked]
    return [*texts, "\n\n".join(texts)] if texts else []


def _sent(sample: Any) -> list[Any]:
    """Return the messages before the last answer."""
    messages = list(sample.messages or ())
    answered = [at for at, message in enumerate(messages) if message.role == "assistant"]
    return messages[: answered[-1]] if answered else messages
