"""The one keeper of computed values in the cache, under a key made of the versions of their inputs.

    @kept("figures", depends_on=lambda source: [source.pk, source.version])
    def figures(source): ...

`figures(source)` returns the kept value, or computes and keeps it. A value whose inputs changed is never returned: its
key is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import update_wrapper
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db import connection, connections

from core.digests import json_digest

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")
Key = TypeVar("Key")
SECONDS = 30 * 24 * 3600
WAIT_SECONDS = 4.0
"""Time for which a request waits for a value that is being computed."""
_MISSING = object()
_pool = ThreadPoolExecutor(1, thread_name_prefix="kept")
_running: dict[str, Future[Any]] = {}
_lock = Lock()


def _key(name: str, versions: object) -> str:
    return f"kept:{name}:{json_digest([settings.CREDENCE_VERSION, versions])}"


class Kept(Generic[Parameters, Value]):
    """A function whose values are kept. `depends_on` returns the versions of its inputs, which JSON can hold."""

    def __init__(
        self, compute: Callable[Parameters, Value], name: str, depends_on: Callable[Parameters, object], seconds: int
    ) -> None:
        update_wrapper(self, compute)
        self._compute, self._name, self._depends_on, self._seconds = compute, name, depends_on, seconds

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
        key = _key(self._name, self._depends_on(*args, **kwargs))
        value = cache.get(key, _MISSING)
        return self._keep(key, *args, **kwargs) if value is _MISSING else value

    def ready(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Value | None:
        """Return the kept value, or have a thread compute it. Returns None if that takes longer than WAIT_SECONDS; the
        page shows a notice and asks again. Raises what the computation raised. Within a transaction the value is
        computed at once.

        Inputs that change all the time have a new key at each request, so a page that never waited would never have a
        value while people work."""
        key = _key(self._name, self._depends_on(*args, **kwargs))
        value: Value = cache.get(key, _MISSING)
        if value is not _MISSING:
            return value
        if connection.in_atomic_block:  # another thread would not see what it wrote
            return self._keep(key, *args, **kwargs)
        with _lock:
            begun: Future[Value] | None = _running.pop(key, None)
            future = begun or _pool.submit(self._in_thread, key, *args, **kwargs)
            for ended in [other for other, running in _running.items() if running.done()]:
                del _running[ended]  # its value is in the cache, and nobody asked for it again
            _running[key] = future
        wait([future], WAIT_SECONDS)
        if not future.done():
            return None
        with _lock:
            _running.pop(key, None)
        return future.result()

    def _keep(self, key: str, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
        value = self._compute(*args, **kwargs)
        cache.set(key, value, self._seconds)
        return value

    def _in_thread(self, key: str, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
        try:
            return self._keep(key, *args, **kwargs)
        finally:
            connections.close_all()


def kept(
    name: str, *, depends_on: Callable[Parameters, object], seconds: int = SECONDS
) -> Callable[[Callable[Parameters, Value]], Kept[Parameters, Value]]:
    """Keep the values of a function for so many seconds after they were computed."""
    return lambda compute: Kept(compute, name, depends_on, seconds)


def kept_each(
    name: str,
    whole: object,
    versions: Mapping[Key, object],
    compute: Callable[[Sequence[Key]], Mapping[Key, Value]],
    most: int | None = None,
) -> tuple[dict[Key, Value], int]:
    """Return the values of the parts of a whole, and the number of parts without one. Only parts whose version changed
    are computed, at most `most` of them."""
    before = cache.get(_key(name, whole), {})
    values = {part: before[part][1] for part, version in versions.items() if (before.get(part) or [None])[0] == version}
    if missing := [part for part in versions if part not in values]:
        values |= compute(missing[:most])
        keep_each(name, whole, versions, values)
    return {part: values[part] for part in versions if part in values}, len(versions) - len(values)


def keep_each(name: str, whole: object, versions: Mapping[Key, object], values: Mapping[Key, Any]) -> None:
    """Keep the values of the parts of a whole, in one entry of the cache."""
    cache.set(_key(name, whole), {part: (versions[part], value) for part, value in values.items()}, SECONDS)
