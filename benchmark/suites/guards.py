"""Guards of suites: what a suite did not foresee ends in one sentence, wherever it is asked for something, and its
author finds the place in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from benchmark.suites.answers import BadAnswers, Files
from benchmark.suites.contract import Suite
from benchmark.suites.items import KeptParse
from benchmark.suites.people import Person
from benchmark.suites.questions import BadQuestion, Entered, ItemView, Question, Sample
from benchmark.suites.results import ShownPicture, ShownTable
from core.texts import storable

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
_LONGEST = 200
_NOT_HERE = ("load", "baselines", "answer_writers", "schema")
"""Fields that answer for themselves: the import of a copy (`services/imports.py`), the provider of baselines and what
writes their answers."""
_TRIES = {
    "program": "say which steps a run goes through",
    "request": "make the question of {place}",
    "parse": "read the answer to {place}",
    "expected": "say what answers {place}",
    "item": "show {place}",
    "lines": "set out the parses of {place}",
    "rows.count": "count the rows of {place}",
    "rows.unreadable": "count the rows of {place}",
    "rows.share": "head the counts of its items",
    "sizes.question": "measure the question of {place}",
    "sizes.pairs": "measure an answer of its judge",
    "measure": "score what {who} said",
    "summary": "score what {who} said",
    "people_measured": "score what {who} said",
    "labels": "say which labels an answer to {place} gives",
    "score": "score these answers",
    "groups.chance": "say how likely an answer to {place} is right by chance",
    "groups.majority": "say what the answer that is right most often comes to for {place}",
    "groups.says": "say what an answer to {place} says",
    "groups.counts": "say whether {place} counts",
    "groups.finer.texts": "name what is counted in {place}",
    "groups.finer.scores": "say what answers to {place} come to in what is counted",
    "groups.parts.part_of": "compare methods by part",
    "groups.parts.metric.answers": "say what {who} said of each part",
    "groups.parts.metric.is_read": "compare methods by part",
    "groups.parts.metric.estimate": "compare methods by part",
    "groups.parts.metric.difference": "compare methods by part",
    "answer_ids.named": "say what these answers are to",
    "parsers.parse": "parse this text",
    "exchange": "make the files of its released code",
    "labelled_by": "ask about gold of this label schema",
    "unfit": "say whether it can ask about these samples",
    "controls.language": "say in which language {place} is",
    "controls.kinds": "say which names of {place} may be replaced",
    "controls.named": "name the people of {place}",
    "controls.actors": "say who acts in {place}",
    "controls.reordered": "shuffle the options of {place}",
    "controls.relined": "tell {place} under a control",
    "judge.instrument": "say what its judge is",
    "judge.passes": "say how often its judge is asked",
    "judge.held_to_schema": "say in which format its judge answers",
    "judge.kept": "say what its judge said of rows",
    "judge.groupings.of_row": "say in which groups the rows are that its judge compares",
    "judge.groupings.of_question": "say in which groups the rows are that its judge compares of {place}",
    "judge.tables": "say which rows its judge compares of {place}",
    "judge.text": "say what people read who align {place}",
    "judge.written": "write what its judge answers",
    "judge.test.rows": "make pairs for its judge of {place}",
    "judge.test.request": "test its judge on {place}",
    "judge.test.counts": "test its judge on {place}",
    "judge.test.unlike": "make pairs for its judge of {place}",
    "judge.test.examples": "say which samples its judge is shown",
    "judge_sees": "say what its judge is given",
    "methods": "write its part of the methods section",
    "tables": "make its tables",
    "tables.make": "make this table",
    "pictures": "make its pictures",
    "pictures.plot": "draw this picture",
    "explorer.choices": "show its confusion matrices",
    "explorer.shows": "show its confusion matrices",
    "prompting.built_in": "open its prompt sets",
    "prompting.load": "read this prompt set",
    "prompting.hashes": "hash the wording of its prompts",
    "prompting.filled": "fill a prompt",
    "prompting.example_count": "say how many examples its prompts show",
    "prompting.example_source": "choose the examples of {place}",
    "prompting.serving": "choose its examples",
    "prompting.condition": "say what its models are ranked by",
}
"""The action of each function of a suite, by the names of the fields that lead to it."""
_FORESEEN: dict[str, tuple[type[Exception], ...]] = {
    "score": (ValueError, OSError),
    "parsers.parse": (ValueError,),
    "answer_ids.named": (BadAnswers,),
}
"""Errors that a function may raise besides: what is wrong with the input that it was given, or with its file."""


class SuiteFailed(ValueError):
    """The failure of a suite, as one sentence that names the suite, and step and sample where there are any."""


def guarded(suite: Suite) -> Suite:
    """The suite, of which every function raises SuiteFailed for what it did not foresee, and so does what it makes to
    be asked later."""
    safe: Suite = _guarded(suite, suite, "")
    return replace(
        safe,
        tables=_each(safe.tables, lambda table: _guarded(suite, table, "tables.")),
        pictures=_each(safe.pictures, lambda picture: _guarded(suite, picture, "pictures.")),
        exchange=safe.exchange and _file_by_file(suite, safe.exchange),
    )


def _guarded(suite: Suite, part: Any, path: str) -> Any:
    """A part of the suite's description, found under the names `path`, with every function in it guarded; the same
    object where it has none."""
    values = {field.name: getattr(part, field.name) for field in fields(part) if path + field.name not in _NOT_HERE}
    safe = {name: _safe(suite, value, path + name) for name, value in values.items()}
    changed = {name: value for name, value in safe.items() if value is not values[name]}
    return replace(part, **changed) if changed else part


def _safe(suite: Suite, value: Any, name: str) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _guarded(suite, value, f"{name}.")
    if isinstance(value, Mapping):
        safe = {key: _safe(suite, item, name) for key, item in value.items()}
        return safe if any(safe[key] is not value[key] for key in safe) else value
    if isinstance(value, tuple):
        items = tuple(_safe(suite, item, name) for item in value)
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return _caught(suite, value, name) if callable(value) else value


def _caught(suite: Suite, call: Callable[P, T], name: str) -> Callable[P, T]:
    @wraps(call)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return call(*args, **kwargs)
        except (SuiteFailed, BadQuestion):
            raise
        except Exception as error:
            if isinstance(error, _FORESEEN.get(name, ())):
                raise
            raise _failed(suite, name, args[0] if args else None, error) from error

    return made


def _failed(suite: Suite, name: str, subject: Any, error: Exception) -> SuiteFailed:
    """Log an error of a suite's code and return it as a sentence.

    What the error says is shown only for a single sample, or for what was just handed in: the error of many samples may
    tell of one that waits for its readers.
    """
    what = _TRIES[name].format_map(_Named(suite, subject))
    log.exception("%s could not %s.", suite.title, what)
    tells = "{place}" in _TRIES[name] or name in _FORESEEN
    description = " ".join(storable(f"{type(error).__name__}: {error}" if tells else type(error).__name__).split())
    return SuiteFailed(f"{suite.title} could not {what} ({description[:_LONGEST]}); the log of the program says where.")


class _Named(dict[str, str]):
    """The stand-in, in a sentence, for the arguments of a function, worked out where the sentence has it."""

    def __init__(self, suite: Suite, subject: Any) -> None:
        super().__init__()
        self.suite, self.subject = suite, subject

    def __missing__(self, key: str) -> str:
        return _place(self.suite, self.subject) if key == "place" else _who(self.subject)


def _place(suite: Suite, subject: Question | ItemView | KeptParse | Sample) -> str:
    asked = subject.question if isinstance(subject, ItemView) else subject
    sample = asked if isinstance(asked, Sample) else asked.sample
    named = f"{suite.noun[0]} {sample.number or sample.key}"
    return named if isinstance(asked, Sample) else f"{suite.step(asked.step).label}, {named}"


def _who(subject: Entered | Person) -> str:
    return f"{subject.role} {subject.number}" if isinstance(subject, Person) else subject.name


Result = TypeVar("Result", ShownTable, ShownPicture)


def _each(
    make: Callable[P, Mapping[str, Result]], guard: Callable[[Result], Result]
) -> Callable[P, Mapping[str, Result]]:
    """Things made by a suite, of which each is guarded too: it is drawn or made when it is asked for."""

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> Mapping[str, Result]:
        return {name: guard(made) for name, made in make(*args, **kwargs).items()}

    return made


def _file_by_file(suite: Suite, exchange: Callable[P, Files]) -> Callable[P, Files]:
    """The files, which are made while the first ones are sent."""

    @wraps(exchange)
    def made(*args: P.args, **kwargs: P.kwargs) -> Iterator[tuple[str, bytes]]:
        try:
            yield from exchange(*args, **kwargs)
        except SuiteFailed:
            raise
        except Exception as error:
            raise _failed(suite, "exchange", None, error) from error

    return made
