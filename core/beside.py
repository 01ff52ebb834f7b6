"""Items made by a process of their own while this one works with those before."""

from __future__ import annotations

import fcntl
import pickle
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from django.db import connections

Item = TypeVar("Item")
_AHEAD = 1024 * 1024
"""Bytes that wait between the two: as much as every user of Linux may ask for."""
_PATIENCE = 5
"""Seconds in which a process that is done has to end."""


class EndedEarly(RuntimeError):
    """The process that makes the items was killed, or could not go on."""


def made_beside(make: Callable[[], Iterator[Item]]) -> Iterator[Item]:
    """Yield what `make()` yields in a forked process. It is an item or two ahead, more of small ones, and what it
    changes stays there: items come as copies, by pickle. What it raises is raised here.

    For a process of one thread, outside of transactions: its connections to the database are closed, as both would use
    them, and opened again by whoever asks next. Raises EndedEarly.
    """
    connections.close_all()
    context = get_context("fork")
    taking, giving = context.Pipe(duplex=False)
    if hasattr(fcntl, "F_SETPIPE_SZ"):  # on Linux; elsewhere, and where it is refused, the other process waits more
        with suppress(OSError):
            fcntl.fcntl(giving.fileno(), fcntl.F_SETPIPE_SZ, _AHEAD)
    maker = context.Process(target=_give, args=(make, taking, giving), daemon=True)
    maker.start()
    giving.close()
    try:
        while (item := _take(taking)) is not None:
            yield item[0]
        maker.join(_PATIENCE)
    finally:
        taking.close()
        maker.kill()
        maker.join()


def _take(taking: Connection) -> tuple[Any] | None:
    """Return the next item in a tuple, None after the last."""
    item: tuple[Any] | None
    error: Exception | None
    try:
        item, error = pickle.loads(taking.recv_bytes())
    except (EOFError, OSError) as end:  # between two items, or within one
        raise EndedEarly("The process that makes the items was ended.") from end
    if error is not None:
        raise error
    return item


def _give(make: Callable[[], Iterator[Any]], taking: Connection, giving: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's end is this one's
    taking.close()
    try:
        for item in make():
            _send(giving, (item,))
        _send(giving, None)
    except BrokenPipeError:
        pass  # nobody takes them any more
    except Exception as error:
        _send(giving, None, error)
    finally:
        connections.close_all()


def _send(giving: Connection, item: tuple[Any] | None, error: Exception | None = None) -> None:
    giving.send_bytes(pickle.dumps((item, error), pickle.HIGHEST_PROTOCOL))
