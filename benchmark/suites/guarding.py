"""What a suite did not foresee ends in one sentence, wherever it is asked for something: its author finds the place in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import ParamSpec, TypeVar

from benchmark.suites.asked import BadQuestion, Entered, ItemView, Question
from benchmark.suites.contract import Suite
from benchmark.suites.item_filters import KeptReading
from benchmark.suites.people import Person
from core.texts import storable

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
_LONGEST = 200


class SuiteFailed(ValueError):
    """What a suite could not do, as one sentence that names the suite, and step and sample where there are any."""


def guarded(suite: Suite) -> Suite:
    """The suite, of which every function raises SuiteFailed for what it did not foresee."""
    rows, unread = suite.rows, suite.rows.unread if suite.rows else None
    return replace(
        suite,
        request=_guarded(suite, suite.request, lambda of: f"make the question of {_place(suite, of)}"),
        parse=_guarded(suite, suite.parse, lambda of, answer: f"read the answer to {_place(suite, of)}"),
        expected=_guarded(suite, suite.expected, lambda of: f"say what answers {_place(suite, of)}"),
        measure=_guarded(suite, suite.measure, _scoring, tells=False),
        summary=_guarded(suite, suite.summary, _scoring, tells=False),
        item=suite.item and _guarded(suite, suite.item, lambda of: f"show {_place(suite, of)}"),
        people_measured=suite.people_measured and _guarded(suite, suite.people_measured, _scoring, tells=False),
        rows=rows
        and replace(
            rows,
            count=_guarded(suite, rows.count, lambda of, chosen: f"count the rows of {_place(suite, of)}"),
            unread=unread and _guarded(suite, unread, lambda of: f"count the rows of {_place(suite, of)}"),
        ),
    )


def _guarded(suite: Suite, call: Callable[P, T], doing: Callable[P, str], *, tells: bool = True) -> Callable[P, T]:
    """`doing` says what the call does, `tells` whether readers may see what the error says: that of many samples may tell of one that waits for
    them."""

    @wraps(call)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return call(*args, **kwargs)
        except (SuiteFailed, BadQuestion):
            raise
        except Exception as error:
            what = doing(*args, **kwargs)
            log.exception("%s could not %s.", suite.title, what)
            description = " ".join(
                storable(f"{type(error).__name__}: {error}" if tells else type(error).__name__).split()
            )
            raise SuiteFailed(
                f"{suite.title} could not {what} ({description[:_LONGEST]}); the log of the program says where."
            ) from error

    return made


def _place(suite: Suite, of: Question | ItemView | KeptReading) -> str:
    question = of.question if isinstance(of, ItemView) else of
    return f"{suite.step(question.step).label}, {suite.noun[0]} {question.sample.number or question.sample.key}"


def _scoring(of: Entered | Person) -> str:
    who = f"{of.role} {of.number}" if isinstance(of, Person) else of.name
    return f"score what {who} said"
