"""Making calls with a model that this process holds: large groups, one after another."""

from __future__ import annotations

import json
import logging
import threading
from typing import Any

from django.db import InterfaceError, OperationalError, connection, connections

from core.database_clock import database_time
from workers.models import Endpoint
from workers.providers import registry
from workers.providers.contract import Completion, EngineBackend
from workers.providers.errors import BackendError, Overloaded
from workers.services import recovery
from workers.services.claims import claim
from workers.services.holding import hold_back_everywhere
from workers.services.recording import Outcome, mark_sent, record, release
from workers.services.recovery import HEARTBEAT, WorkerLost

log = logging.getLogger(__name__)
GROUP = 512
"""Calls in one group. Heartbeats go on while the engine is busy with it."""


_loaded: dict[tuple[Any, ...], EngineBackend] = {}


def loaded_engine(endpoint: Endpoint) -> EngineBackend:
    """Return the engine of an endpoint, loaded once in a process. Raises a BackendError where it cannot be loaded."""
    key = (endpoint.pk, endpoint.model, endpoint.revision, json.dumps(endpoint.options, sort_keys=True))
    if key not in _loaded:
        _loaded[key] = registry.make_engine(endpoint.spec)
    return _loaded[key]


class EngineRunner:
    """Makes the calls of one endpoint until nothing is left. The engine stays loaded between runs of one process."""

    def __init__(
        self, endpoint: Endpoint, backend: EngineBackend | None, *, stop: threading.Event, only: int | None = None
    ) -> None:
        self.endpoint, self.stop, self.only = endpoint, stop, only
        self.backend: EngineBackend | None = backend

    @classmethod
    def of(cls, name: str, *, stop: threading.Event, only: int | None = None) -> EngineRunner:
        """Load the engine of the endpoint `name`; if that fails, the jobs that wait for it pause with a note."""
        endpoint = Endpoint.objects.get(name=name)
        try:
            backend = loaded_engine(endpoint)
        except BackendError as error:
            hold_back_everywhere(endpoint, error)
            backend = None
        return cls(endpoint, backend, stop=stop, only=only)

    def run(self) -> None:
        if self.backend is None:
            return
        self.worker = recovery.enter(self.endpoint.name)
        ended = threading.Event()
        heartbeats = threading.Thread(target=self._beat, args=[ended], daemon=True)
        heartbeats.start()
        try:
            while self.backend is not None and not self.stop.is_set() and self._group(self.backend):
                pass
        except WorkerLost:
            log.error("The lease of this worker expired; others took over what it held.")
        except (OperationalError, InterfaceError):
            connection.close()  # a broken one would fail every later run of this thread, too
            raise
        finally:
            ended.set()
            heartbeats.join()
            recovery.leave(self.worker)

    def _group(self, backend: EngineBackend) -> bool:
        """Claim, ask and write down one group. False where nothing could be claimed. Raises WorkerLost."""
        recovery.beat(self.worker)
        result = claim(
            worker=self.worker,
            endpoint=self.endpoint,
            backend=backend,
            room=GROUP,
            now=database_time(),
            only=self.only,
            rate_limited=False,
        )
        ready = mark_sent(result.claimed, worker=self.worker, now=database_time()) if result.claimed else []
        ready_calls = {claimed.call for claimed in ready}
        if lost := [claimed for claimed in result.claimed if claimed.call not in ready_calls]:
            release(lost, worker=self.worker, now=database_time())
        if not ready:
            return result.more
        answers: list[Completion | BackendError]
        try:
            answers = backend.complete_many([json.loads(claimed.body) for claimed in ready])
        except Exception as error:  # the engine died: nobody was paid, so all may be asked again
            log.exception("The engine of %s failed.", self.endpoint.name)
            _loaded.clear()
            self.backend = None  # the next run loads it anew
            sentence = f"The engine failed ({type(error).__name__}); the worker's log says more."
            answers = [Overloaded(sentence)] * len(ready)
        ended_at = database_time().timestamp()
        outcomes = [Outcome(claimed, answer, ended_at) for claimed, answer in zip(ready, answers, strict=True)]
        record(outcomes, worker=self.worker, endpoint=self.endpoint, now=database_time())
        return True

    def _beat(self, ended: threading.Event) -> None:
        try:
            while not ended.wait(min(HEARTBEAT, recovery.pause())):
                try:
                    recovery.beat(self.worker)
                except (OperationalError, InterfaceError):  # the database cannot be reached; the next beat may reach it
                    connection.close()
        except WorkerLost:
            pass  # the next group finds out, too, and is not begun
        finally:
            connections.close_all()
