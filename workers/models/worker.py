from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models.functions import Now

from core.ids import OpaqueModel
from core.messages import gettext_noop


class WorkerState(models.TextChoices):
    LIVE = "live", gettext_noop("Working")
    GONE = "gone", gettext_noop("Ended")
    LOST = "lost", gettext_noop("Lost")


class WorkerQuerySet(models.QuerySet["Worker"]):
    """Reads of workers, and the only writer of `Worker.state` and its heartbeat: a worker that has ended stays
    ended."""

    def live(self) -> WorkerQuerySet:
        return self.filter(state=WorkerState.LIVE)

    # --- transitions ---

    def enter(self, host: str, pid: int, kind: str, *, now: datetime) -> Worker:
        """→ live."""
        return self.create(host=host, pid=pid, kind=kind, started_at=now, heartbeat_at=now, state=WorkerState.LIVE)

    def beat(self) -> int:
        """live → live, with a new lease by the database's clock."""
        return self.live().update(heartbeat_at=Now())

    def leave(self) -> int:
        """live → gone."""
        return self.live().update(state=WorkerState.GONE)

    def lose(self) -> int:
        """live → lost."""
        return self.live().update(state=WorkerState.LOST)


class Worker(OpaqueModel):
    """One process while it works. What it claimed is its own until its lease expires; a lost worker never comes
    back."""

    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    kind = models.CharField(max_length=60, default="calls")
    state = models.CharField(max_length=4, choices=WorkerState.choices, default=WorkerState.LIVE)
    started_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField()

    objects = WorkerQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["state", "heartbeat_at"], name="worker_by_heartbeat")]

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"


class Process(models.Model):
    """A process that takes up work, working or idle. It reports every few seconds (workers/services/processes.py).

    `serves` are the queues that it takes; `keys` are the names of endpoints' key variables that its environment sets,
    never their values.
    """

    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    serves = models.JSONField(default=list)
    keys = models.JSONField(default=list)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["host", "pid"], name="one_row_a_process")]

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"
