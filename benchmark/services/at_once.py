"""Figures that nobody waits for before a page says anything: those of many answers that were not computed yet."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db import transaction

from core.digests import text_digest

T = TypeVar("T")
AT_ONCE = 1_000
"""Most answers that are computed or compared while somebody waits, in well under a second."""
FOLLOWS = "computed"
"""The parameter of an address whose reader was told to wait, and now waits until everything is computed."""

LOOKS_AGAIN = 10.0
"""Seconds for which a page waits for what somebody else computes, before its reader is told again to wait: requests
that wait hold what other pages are answered by."""
_EVERY = 0.1
_SLOTS = 64
"""Files of locks of each kind: things that share one wait for each other, and no file has to be removed."""


class BeingComputed(Exception):
    """The figures that a page shows are of many answers, and have to be computed first."""


_at_once: ContextVar[bool] = ContextVar("at_once", default=False)
_looks_again: ContextVar[bool] = ContextVar("looks_again", default=False)


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


@contextmanager
def looking_again() -> Iterator[None]:
    """Have whoever waits longer than LOOKS_AGAIN for what somebody else computes raise BeingComputed."""
    token = _looks_again.set(True)
    try:
        yield
    finally:
        _looks_again.reset(token)


@contextmanager
def computing(kind: str, key: str) -> Iterator[bool]:
    """Be the only one on this machine who computes the thing of that kind and key; yield whether somebody else did
    meanwhile, so that it may be there. Raises BeingComputed for a page that looks again.

    The lock is the system's, of an open file: a process that is killed leaves none behind. Nobody waits within a
    transaction, which who computes may itself wait for.
    """
    if transaction.get_connection().in_atomic_block:
        yield False
        return
    with lock_of(kind, key).open("w") as file:  # closing it lets go of the lock
        yield _waited_for(file)


def kept_once(kind: str, key: str, make: Callable[[], T], *, answers: int, seconds: int) -> T:
    """Return what is kept under a key, which names all that it rests on; else make it of so many `answers`, never None,
    and keep it. Who comes meanwhile waits for whoever makes it. Raises BeingComputed for a page that answers at once,
    where they are many."""
    cache_key = f"{kind}:{key}"
    kept: T | None = cache.get(cache_key)
    if kept is not None:
        return kept
    check_at_once(answers)
    with computing(kind, key) as waited:
        kept = cache.get(cache_key) if waited else None
        if kept is None:
            kept = make()
            cache.set(cache_key, kept, seconds)
    return kept


def lock_of(kind: str, key: str) -> Path:
    """Return the file that is locked by whoever computes the thing of that kind and key."""
    slot = int(text_digest(key), 16) % _SLOTS
    folder: Path = settings.COMPUTING_DIR
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{kind}-{slot}"


def _waited_for(file: IO[str]) -> bool:
    """Take the lock of a file; return whether somebody else had it."""
    since, waited = time.monotonic(), False
    while not _taken(file):
        if _looks_again.get() and time.monotonic() - since >= LOOKS_AGAIN:
            raise BeingComputed
        waited = True
        time.sleep(_EVERY)
    return waited


def _taken(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
