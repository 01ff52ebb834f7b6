"""Cache in Redis that a site can do without: while Redis is away nothing is found and nothing is kept."""

import logging
import math
import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.core.cache.backends import redis

log = logging.getLogger(__name__)
T = TypeVar("T")
SECONDS = 1
"""Longest wait for one answer of Redis: a stopped server, or a network that drops packets, would hold every page."""
PAUSE_SECONDS = 10
"""Time for which a process does without Redis after a failure, so that a page with many figures waits once."""


class Outage:
    """The outage of the Redis at `address`, of which all threads of a process know."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._until = 0.0  # time of the next attempt, by the monotonic clock; 0 while Redis answers
        self._logged = -math.inf

    @property
    def lasts(self) -> bool:
        """Return whether to do without Redis. One thread tries again after the pause; the others go on without."""
        now = time.monotonic()
        if now < self._until:
            return True
        if self._until:
            self._until = now + PAUSE_SECONDS
        return False

    def begin(self, error: Exception) -> None:
        self._until = time.monotonic() + PAUSE_SECONDS
        self.log(error)

    def end(self) -> None:
        self._until = 0.0

    def log(self, error: Exception) -> None:
        """Log a failure, at most one a minute."""
        if time.monotonic() - self._logged >= 60:
            self._logged = time.monotonic()
            log.warning("Redis at %s failed (%s); the site goes on without its cache.", self.address, error)


_outages: dict[str, Outage] = {}


class Client(redis.RedisCacheClient):
    """Commands with the result of an empty cache where Redis fails: it is away, starting, full, or refuses a
    command."""

    def __init__(self, servers: list[str], **options: Any) -> None:
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        limits: dict[str, Any] = {
            "socket_timeout": SECONDS,
            "socket_connect_timeout": SECONDS,
            "retry": Retry(NoBackoff(), 0),
        }
        super().__init__(servers, **(limits | options))
        self._errors: Any = self._lib  # type: ignore[attr-defined]
        address = servers[0].rpartition("@")[2]  # no password in the log
        self._outage = _outages.setdefault(address, Outage(address))

    def _without_harm(self, command: Callable[..., T], *arguments: Any, otherwise: T) -> T:
        if self._outage.lasts:
            return otherwise
        try:
            result = command(*arguments)
        except self._errors.ResponseError as error:  # it answers, and may do others: full memory refuses no reading
            self._outage.end()
            self._outage.log(error)
            return otherwise
        except (self._errors.RedisError, OSError) as error:
            self._outage.begin(error)
            return otherwise
        self._outage.end()
        return result

    def add(self, key: Any, value: Any, timeout: Any) -> bool:
        return self._without_harm(super().add, key, value, timeout, otherwise=True)

    def get(self, key: Any, default: Any) -> Any:
        return self._without_harm(super().get, key, default, otherwise=default)

    def set(self, key: Any, value: Any, timeout: Any) -> None:
        self._without_harm(super().set, key, value, timeout, otherwise=None)

    def touch(self, key: Any, timeout: Any) -> bool:
        return self._without_harm(super().touch, key, timeout, otherwise=False)

    def delete(self, key: Any) -> bool:
        return self._without_harm(super().delete, key, otherwise=False)

    def has_key(self, key: Any) -> bool:
        return self._without_harm(super().has_key, key, otherwise=False)

    def clear(self) -> bool:
        return self._without_harm(super().clear, otherwise=False)


class Cache(redis.RedisCache):
    """Django's cache in Redis, by a client that never raises. Nothing here asks for many keys at once or counts."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__([server], params)  # one address: a password may hold a comma
        self._class = Client
