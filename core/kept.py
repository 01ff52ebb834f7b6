"""The one keeper of computed values in the cache, under a key made of the versions of their inputs.

    @kept("figures", depends_on=lambda source: [source.pk, source.version])
    def figures(source): ...

`figures(source)` returns the kept value, or computes and keeps it. A value whose inputs or whose code changed is never
returned: its key is another one.

Commands, files, parts of pages and the API take their time. A page waits for WAIT_SECONDS, then says that the
value is being computed, and asks again (`on_page`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db import connection, connections

from core.digests import json_digest

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")
Key = TypeVar("Key")
SECONDS = 30 * 24 * 3600
WAIT_SECONDS = 4.0
"""Time for which a page waits for a value that is being computed."""
_MISSING = object()
_pool = ThreadPoolExecutor(2, thread_name_prefix="kept")
_running: dict[str, Future[Any]] = {}
_lock = Lock()
_on_page: ContextVar[bool] = ContextVar("on_page", default=False)


class BeingComputed(Exception):
    """A page needs a value whose computation goes on in a thread."""


@contextmanager
def on_page() -> Iterator[None]:
    """Have what takes longer than WAIT_SECONDS raise BeingComputed, and go on in a thread."""
    token = _on_page.set(True)
    try:
        yield
    finally:
        _on_page.reset(token)


def in_time(key: str, compute: Callable[[], Value]) -> Value:
    """Return what `compute` returns. On a page a thread computes it, once for all who ask for the same key.

    Raises BeingComputed if that takes longer than WAIT_SECONDS, and what the computation raised. Within a transaction
    it is computed at once, as another thread would not see what was written.
    """
    if not _on_page.get() or connection.in_atomic_block:
        return compute()
    with _lock:
        begun: Future[Value] | None = _running.pop(key, None)
        future = begun or _pool.submit(_in_thread, compute)
        for ended in [other for other, running in _running.items() if running.done()]:
            del _running[ended]  # its value is in the cache, and nobody asked for it again
        _running[key] = future
    wait([future], WAIT_SECONDS)
    if not future.done():
        raise BeingComputed
    with _lock:
        _running.pop(key, None)
    return future.result()


def _in_thread(compute: Callable[[], Value]) -> Value:
    try:
        return compute()
    finally:
        connections.close_all()


def kept_as(name: str, versions: object, compute: Callable[[], Value], seconds: int = SECONDS) -> Value:
    """Return the value that is kept under a name and versions, which JSON can hold; else compute and keep it."""
    key = key_of(name, versions)
    value = cache.get(key, _MISSING)

    def keep() -> Value:
        computed = compute()
        cache.set(key, computed, seconds)
        return computed

    return in_time(key, keep) if value is _MISSING else value


def key_of(name: str, versions: object) -> str:
    """Return the key of a value in the cache. It changes with every version of the program."""
    return f"{name}:{json_digest([settings.CREDENCE_VERSION, versions])}"


def kept(
    name: str, *, depends_on: Callable[Parameters, object]
) -> Callable[[Callable[Parameters, Value]], Callable[Parameters, Value]]:
    """Keep the values of a function; `depends_on` returns the versions of its inputs."""

    def keeping(compute: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
        @wraps(compute)
        def value(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
            return kept_as(name, depends_on(*args, **kwargs), lambda: compute(*args, **kwargs))

        return value

    return keeping


def kept_each(
    name: str,
    whole: object,
    versions: Mapping[Key, object],
    compute: Callable[[Sequence[Key]], Mapping[Key, Value]],
    most: int | None = None,
) -> tuple[dict[Key, Value], int]:
    """Return the values of the parts of a whole, and the number of parts without one. Only parts whose version changed
    are computed, at most `most` of them."""
    before = cache.get(key_of(name, whole), {})
    values = {part: before[part][1] for part, version in versions.items() if (before.get(part) or [None])[0] == version}
    if missing := [part for part in versions if part not in values]:
        values |= compute(missing[:most])
        keep_each(name, whole, versions, values)
    return {part: values[part] for part in versions if part in values}, len(versions) - len(values)


def keep_each(name: str, whole: object, versions: Mapping[Key, object], values: Mapping[Key, Any]) -> None:
    """Keep the values of the parts of a whole, in one entry of the cache."""
    cache.set(key_of(name, whole), {part: (versions[part], value) for part, value in values.items()}, SECONDS)
