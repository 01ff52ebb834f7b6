"""The time that a web request may spend on reading sheets; a command has no limit. Other files are read in time in
proportion to their size, which is limited."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import TypeVar

from core.incoming.encodings import BadText
from core.messages import gettext_noop

Item = TypeVar("Item")
_ITEMS, _PAUSE_SECONDS = 250, 0.0005
SECONDS = 60.0
"""Seconds of a processor: reading half a million rows takes two or three."""
_left: ContextVar[float | None] = ContextVar("seconds left for reading", default=None)


class TookTooLong(BadText):
    """A file that takes longer to read than a web request may, as one sentence."""


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Allow the thread so many seconds of a processor for reading files."""
    token = _left.set(seconds)
    try:
        yield
    finally:
        _left.reset(token)


def timed(items: Iterable[Item], file: str) -> Iterator[Item]:
    """Yield the items of a web request's file, count the time that each takes to make, and pause every few of them.
    Without pauses, other requests took up to a second while a file was read: a thread that only computes keeps the
    interpreter until another has waited for 5 ms, and a request waits so after each statement. Raises TookTooLong."""
    if _left.get() is None:
        yield from items
        return
    iterator = iter(items)
    for number in count(1):
        if number % _ITEMS == 0:
            time.sleep(_PAUSE_SECONDS)
        began = time.thread_time()
        try:
            item = next(iterator)
        except StopIteration:
            return
        finally:
            left = (_left.get() or 0.0) - (time.thread_time() - began)
            _left.set(left)
        if left < 0:
            sentence = gettext_noop(
                "{file} takes longer to read than a page may; import it with the command, or in parts."
            )
            raise TookTooLong(sentence.format(file=file))
        yield item
