from __future__ import annotations

from django.db import models
from django.db.models import Q

from core.ids import OpaqueModel
from workers.domain.outcomes import OUTCOME_NAMES, Outcome


class JobState(models.TextChoices):
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    FINISHED = "finished", "Finished"
    CANCELLED = "cancelled", "Cancelled"


JobOutcome = models.TextChoices("JobOutcome", [(one.name, (one.value, OUTCOME_NAMES[one])) for one in Outcome])


class Job(OpaqueModel):
    """Many items of work for one purpose. What it means lies with the app that made it and registered the purpose.

    `outcome` is written with the state `finished`, and only then (workers/services/settling.py).
    """

    purpose = models.CharField(max_length=30)
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.RUNNING)
    outcome = models.CharField(max_length=8, choices=JobOutcome.choices, blank=True)
    note = models.CharField(max_length=300, blank=True, help_text="Why it is paused.")
    params = models.JSONField(default=dict, blank=True)
    budget = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="US dollars, a hard cap."
    )
    batch = models.BooleanField(default=False)
    priority = models.SmallIntegerField(default=0)
    created_by = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

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
        """What people are told: the state, and of a finished job how it came out."""
        return OUTCOME_NAMES[Outcome(self.outcome)] if self.outcome else self.state

    @property
    def has_failed(self) -> bool:
        """Whether no item got an answer. Unusable answers are answers."""
        return self.outcome == Outcome.FAILED
