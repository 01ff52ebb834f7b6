from __future__ import annotations

from django.db import models

from core.ids import OpaqueModel


class WorkerState(models.TextChoices):
    LIVE = "live", "Working"
    GONE = "gone", "Ended"
    LOST = "lost", "Lost"


class WorkerQuerySet(models.QuerySet):
    """Reads of workers, and the only writer of `Worker.state`: one that has ended stays as it is."""

    def live(self) -> WorkerQuerySet:
        return self.filter(state=WorkerState.LIVE)

    # --- transitions ---

    def leave(self) -> int:
        """live → gone."""
        return self.live().update(state=WorkerState.GONE)

    def lose(self) -> int:
        """live → lost."""
        return self.live().update(state=WorkerState.LOST)


class Worker(OpaqueModel):
    """One process while it works. It holds what it claimed as long as its heart beats; a lost one never comes back."""

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
    """A process that takes up work, idle ones too. `serves` are the queues that it takes, `keys` the names of the key variables of
    endpoints that are set in its environment, never what they hold. It reports every few seconds (workers/services/processes.py)."""

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
