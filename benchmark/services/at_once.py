"""What nobody waits for before a page says anything: figures of many answers that were not computed yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

AT_ONCE = 1_000
"""So many answers are computed or compared while somebody waits, in well under a second."""
FOLLOWS = "computed"
"""In an address, that its reader was told to wait, and now waits until everything is computed."""


class BeingComputed(Exception):
    """The figures that a page shows are of many answers, and have to be computed first."""


_at_once: ContextVar[bool] = ContextVar("at_once", default=False)


@contextmanager
def answering_at_once() -> Iterator[None]:
    """Have what takes long raise BeingComputed instead of computing it: commands, workers, files and the API take their
    time."""
    token = _at_once.set(True)
    try:
        yield
    finally:
        _at_once.reset(token)


def answers_at_once() -> bool:
    return _at_once.get()


def check_at_once(answers: int) -> None:
    """Raise BeingComputed where figures of so many answers have to be computed and the reader is answered at once."""
    if answers_at_once() and answers > AT_ONCE:
        raise BeingComputed
