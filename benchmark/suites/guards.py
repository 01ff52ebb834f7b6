"""Guards of suites: an error that a suite did not foresee becomes one sentence, and its author finds the place in the
log."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from benchmark.suites.answers import BadAnswers
from benchmark.suites.contract import Suite
from benchmark.suites.items import KeptParse
from benchmark.suites.people import Person
from benchmark.suites.questions import BadQuestion, Entered, ItemView, Question, Sample
from core.texts import storable

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
_LONGEST = 200
_UNGUARDED = ("copied.load", "asking.baselines", "gold.answer_writers", "gold.schema")
"""Fields whose errors their callers report: the import of a copy and the provider of baselines."""
_ACTIONS = {
    "request": "make the question of",
    "parse": "read the answer to",
    "expected": "say what answers",
    "items.item": "show",
    "measure": "score what",
    "released.summary": "score what",
    "gold.people_measured": "score what",
    "released.score": "score these answers",
    "released.answer_ids.named": "say what these answers are to",
    "released.parsers.parse": "parse this text",
    "released.exchange": "make the files of its released code",
    "gold.unfit": "say whether it can ask about these samples",
    "judge.instrument": "say what its judge is",
    "results.methods": "write its part of the methods section",
    "results.tables": "make its tables",
    "results.tables.make": "make this table",
    "results.pictures": "make its pictures",
    "results.pictures.plot": "draw this picture",
    "results.explorer.choices": "show its confusion matrices",
    "results.explorer.shows": "show its confusion matrices",
    "groups.parts.part_of": "compare methods by part",
    "groups.parts.metric.answers": "compare methods by part from what",
    "groups.parts.metric.is_read": "compare methods by part",
    "groups.parts.metric.estimate": "compare methods by part",
    "groups.parts.metric.difference": "compare methods by part",
}
"""What functions do, in words; others are named by their field. The sample or the model follows."""
_FORESEEN: dict[str, tuple[type[Exception], ...]] = {
    "released.score": (ValueError, OSError),
    "released.parsers.parse": (ValueError,),
    "released.answer_ids.named": (BadAnswers,),
}
"""Errors of the input or its file, which a function may raise."""


class SuiteFailed(ValueError):
    """The failure of a suite, as one sentence that names the suite, and step and sample if there are any."""


def guarded(suite: Suite) -> Suite:
    """Return the suite with functions that raise SuiteFailed for errors that they did not foresee."""
    safe: Suite = _guarded(suite, suite, "")
    results, exchange = safe.results, safe.released.exchange

    def made(make: Callable[P, Mapping[str, T]], name: str) -> Callable[P, Mapping[str, T]]:
        """The same for tables and pictures, which are made when they are needed."""

        @wraps(make)
        def shown(*args: P.args, **kwargs: P.kwargs) -> Mapping[str, T]:
            return {key: _guarded(suite, one, f"{name}.") for key, one in make(*args, **kwargs).items()}

        return shown

    def file_by_file(*args: Any, **kwargs: Any) -> Iterator[tuple[str, bytes]]:
        """The same for files, which are made while the first ones are sent."""
        try:
            yield from exchange(*args, **kwargs) if exchange else ()
        except SuiteFailed:
            raise
        except Exception as error:
            raise _failed(suite, "released.exchange", None, error) from error

    tables, pictures = made(results.tables, "results.tables"), made(results.pictures, "results.pictures")
    return replace(
        safe,
        results=replace(results, tables=tables, pictures=pictures),
        released=replace(safe.released, exchange=exchange and wraps(exchange)(file_by_file)),
    )


def _guarded(suite: Suite, part: Any, path: str) -> Any:
    """Return a part of the suite's description, found under the names `path`, with every function in it guarded; the
    same object if it has none."""
    values = {field.name: getattr(part, field.name) for field in fields(part) if path + field.name not in _UNGUARDED}
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
    if not callable(value):
        return value

    @wraps(value)
    def caught(*args: Any, **kwargs: Any) -> Any:
        try:
            return value(*args, **kwargs)
        except (SuiteFailed, BadQuestion):
            raise
        except Exception as error:
            if isinstance(error, _FORESEEN.get(name, ())):
                raise
            raise _failed(suite, name, args[0] if args else None, error) from error

    return caught


def _failed(suite: Suite, name: str, subject: Any, error: Exception) -> SuiteFailed:
    """Log an error of a suite's code and return it as a sentence.

    The text of the error is shown only for a single sample, or for input that was just handed in: the error of many
    samples may tell of one that waits for its annotators.
    """
    asked = subject.question if isinstance(subject, ItemView) else subject
    place = who = ""
    if isinstance(asked, Sample):
        place = f"{suite.noun[0]} {asked.number or asked.key}"
    elif isinstance(asked, (Question, KeptParse)):
        place = f"{suite.step(asked.step).label}, {suite.noun[0]} {asked.sample.number or asked.sample.key}"
    elif isinstance(asked, Person):
        who = f"{asked.role} {asked.number} said"
    elif isinstance(asked, Entered):
        who = f"{asked.name} said"
    what = " ".join(filter(None, (_ACTIONS.get(name, f"run its function {name}"), place, who)))
    log.exception("%s could not %s.", suite.title, what)
    tells = place or name in _FORESEEN
    description = " ".join(storable(f"{type(error).__name__}: {error}" if tells else type(error).__name__).split())
    return SuiteFailed(f"{suite.title} could not {what} ({description[:_LONGEST]}); the log of the program says where.")
