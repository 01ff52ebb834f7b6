from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import Q

from core.ids import OpaqueModel
from core.messages import gettext_noop
from core.stored_json import LongJSONField, SentenceField
from workers.domain.outcomes import OUTCOME_NAMES, Outcome


class JobState(models.TextChoices):
    """The states of a job. While it is preparing its items are made, and nothing of it is claimed."""

    PREPARING = "preparing", gettext_noop("Preparing")
    RUNNING = "running", gettext_noop("Running")
    PAUSED = "paused", gettext_noop("Paused")
    FINISHED = "finished", gettext_noop("Finished")
    CANCELLED = "cancelled", gettext_noop("Cancelled")


JobOutcome = models.TextChoices(  # type: ignore[call-overload]  # names and labels, as the classes are written
    "JobOutcome", [(outcome.name, (outcome.value, OUTCOME_NAMES[outcome])) for outcome in Outcome]
)

_BEGUN = (JobState.RUNNING, JobState.PAUSED)
UNENDED = (*_BEGUN, JobState.PREPARING)
_ENDED = tuple(state for state in JobState if state not in UNENDED)
PAUSABLE, RESUMABLE, CANCELLABLE = (JobState.RUNNING,), (JobState.PAUSED,), UNENDED
EXTENDABLE = (JobState.RUNNING, JobState.FINISHED)
"""The states from which people move a job; what they see and are told of it comes from here too."""


class JobQuerySet(models.QuerySet["Job"]):
    """Reads of jobs, and the only writer of `Job.state`, its outcome and its note: a transition changes only jobs that
    are in its source states."""

    def begun(self) -> JobQuerySet:
        return self.filter(state__in=_BEGUN)

    def unended(self) -> JobQuerySet:
        return self.filter(state__in=UNENDED)

    def ended(self) -> JobQuerySet:
        return self.filter(state__in=_ENDED)

    def preparing(self) -> JobQuerySet:
        return self.filter(state=JobState.PREPARING)

    # --- transitions ---

    def begin(self, *, preparing: bool = False, **described: Any) -> Job:
        """→ running, preparing: make a job of these columns, in the caller's transaction."""
        return self.create(**described, state=JobState.PREPARING if preparing else JobState.RUNNING)

    def prepared(self) -> int:
        """preparing → running: all its items are there."""
        return self.preparing().update(state=JobState.RUNNING)

    def fail_preparation(self, note: str, *, now: datetime) -> int:
        """preparing → finished, failed: its items cannot be made, as the note says."""
        failed = {"state": JobState.FINISHED, "outcome": Outcome.FAILED, "finished_at": now}
        return self.preparing().update(**failed, note=note)

    def prepare_again(self) -> int:
        """finished → preparing, where preparing it failed: it has no items, or the note says why it lacks some."""
        failed = self.filter(Q(items=None) | ~Q(note=""), state=JobState.FINISHED, outcome=Outcome.FAILED)
        return failed.update(state=JobState.PREPARING, outcome="", finished_at=None, note="")

    def prepare_more(self) -> int:
        """running, finished → preparing: items are added to those that it has."""
        ready = self.filter(state__in=EXTENDABLE)
        return ready.update(state=JobState.PREPARING, outcome="", finished_at=None, note="")

    def pause(self, *, note: str = "") -> int:
        """running → paused. Without a note the one that is there stays."""
        running = self.filter(state__in=PAUSABLE)
        return running.update(state=JobState.PAUSED, note=note) if note else running.update(state=JobState.PAUSED)

    def note(self, note: str) -> int:
        """running → running, with a note on what is held back; an empty one where nothing is any more."""
        return self.filter(state=JobState.RUNNING).update(note=note)

    def resume(self, *, budget: Decimal | None = None) -> int:
        """paused → running. Without a budget, in US dollars, the one that is there stays."""
        paused = self.filter(state__in=RESUMABLE)
        if budget is None:
            return paused.update(state=JobState.RUNNING, note="")
        return paused.update(state=JobState.RUNNING, note="", budget=budget)

    def finish(self, outcome: Outcome, *, now: datetime) -> int:
        """running, paused → finished."""
        return self.begun().update(state=JobState.FINISHED, outcome=outcome, finished_at=now, note="")

    def change_outcome(self, outcome: Outcome) -> int:
        """finished → finished, with the outcome that its items have now."""
        return self.filter(state=JobState.FINISHED).update(outcome=outcome)

    def reopen(self) -> int:
        """finished → running. The outcome is computed at its next end."""
        finished = self.filter(state=JobState.FINISHED)
        return finished.update(state=JobState.RUNNING, outcome="", finished_at=None, note="")

    def cancel(self, *, now: datetime) -> int:
        """preparing, running, paused → cancelled."""
        return self.filter(state__in=CANCELLABLE).update(state=JobState.CANCELLED, finished_at=now, note="")


class Job(OpaqueModel):
    """Many items of work of one kind. `handler` names the `JobHandler` that the app above registered for them
    (workers/services/handlers.py).

    `outcome` is written with the state `finished`, and only then (workers/services/delivery.py).
    """

    handler = models.CharField(max_length=30)
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.RUNNING)
    outcome = models.CharField(max_length=10, choices=JobOutcome.choices, blank=True)
    note = SentenceField(blank=True, help_text="Why it is paused, or was not prepared.")
    params = LongJSONField(default=dict, blank=True)
    budget = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="US dollars, a hard cap."
    )
    batch = models.BooleanField(default=False)
    priority = models.SmallIntegerField(default=0)
    created_by = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="job_state_known"),
            models.CheckConstraint(
                condition=Q(state=JobState.FINISHED, outcome__in=JobOutcome.values)
                | (~Q(state=JobState.FINISHED) & Q(outcome="")),
                name="finished_job_has_outcome",
            ),
        ]
        indexes = [models.Index(fields=["state", "-priority", "id"], name="job_by_state")]

    def __str__(self) -> str:
        return self.title

    @property
    def standing(self) -> str:
        """The state in words; for a finished job, how it came out."""
        return OUTCOME_NAMES[Outcome(self.outcome)] if self.outcome else self.state

    @property
    def has_ended(self) -> bool:
        return self.state in _ENDED

    @property
    def goes_on(self) -> bool:
        """True where it goes on by itself."""
        return self.state in (JobState.PREPARING, JobState.RUNNING)

    @property
    def has_failed(self) -> bool:
        """True where no item got an answer. Unreadable answers are answers."""
        return self.outcome == Outcome.FAILED
