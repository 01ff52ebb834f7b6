from __future__ import annotations

from datetime import datetime

from django.db import models

from core.ids import OpaqueModel
from core.messages import gettext_noop
from core.stored_json import SentenceField
from workers.models.call import Call
from workers.models.endpoint import Endpoint
from workers.models.job import Job
from workers.models.worker import Worker


class BatchState(models.TextChoices):
    """The states of a batch. `submitting` is written, with every custom id, before the batch is submitted."""

    SUBMITTING = "submitting", gettext_noop("Being handed over")
    RUNNING = "running", gettext_noop("With the provider")
    ENDED = "ended", gettext_noop("Ended")
    FAILED = "failed", gettext_noop("Failed")


_UNENDED = (BatchState.SUBMITTING, BatchState.RUNNING)


class BatchQuerySet(models.QuerySet["Batch"]):
    """Reads of batches, and the only writer of `Batch.state` and of who watches it: a transition changes only batches
    that are in its source states."""

    def unended(self) -> BatchQuerySet:
        return self.filter(state__in=_UNENDED)

    # --- transitions ---

    def begin(self, job: Job, endpoint: Endpoint, worker: Worker) -> Batch:
        """→ submitting, watched by a worker."""
        return self.create(job=job, endpoint=endpoint, worker=worker, state=BatchState.SUBMITTING)

    def watch(self, worker: Worker) -> int:
        """submitting, running → the same, watched by this worker."""
        return self.unended().update(worker=worker)

    def unwatch(self) -> int:
        """submitting, running → the same, watched by nobody: another worker takes it over."""
        return self.unended().update(worker=None)

    def count_done(self, done: int, *, now: datetime) -> int:
        """Any state → the same: how many of its calls the provider says are done."""
        return self.update(polled_at=now, done=done)

    def run(self, provider_id: str) -> int:
        """submitting → running, with the provider's id of it."""
        submitting = self.filter(state=BatchState.SUBMITTING)
        return submitting.update(state=BatchState.RUNNING, provider_id=provider_id)

    def end(self, *, problem: str = "") -> int:
        """submitting, running → ended, or failed with a problem."""
        return self.unended().update(state=BatchState.FAILED if problem else BatchState.ENDED, problem=problem)


class Batch(OpaqueModel):
    job = models.ForeignKey(Job, models.CASCADE, related_name="batches")
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="batches_made")
    state = models.CharField(max_length=10, choices=BatchState.choices, default=BatchState.SUBMITTING)
    provider_id = models.CharField(max_length=200, blank=True)
    worker = models.ForeignKey(Worker, models.SET_NULL, null=True, blank=True, related_name="batches")
    created_at = models.DateTimeField(auto_now_add=True)
    polled_at = models.DateTimeField(null=True, blank=True)
    done = models.PositiveIntegerField(default=0)
    problem = SentenceField(blank=True)

    objects = BatchQuerySet.as_manager()


class BatchEntry(models.Model):
    """A call in a batch, by the custom id that the provider returns."""

    batch = models.ForeignKey(Batch, models.CASCADE, related_name="entries")
    call = models.ForeignKey(Call, models.PROTECT, related_name="+")
    custom_id = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "custom_id"], name="one_entry_a_custom_id")]
