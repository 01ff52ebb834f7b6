from __future__ import annotations

from decimal import Decimal

from django.db import models
from django.db.models import Count, Q, Sum

from core.ids import OpaqueModel
from workers.domain.outcomes import OUTCOME_NAMES, Outcome
from workers.domain.pricing import Money
from workers.models.call import Call
from workers.models.endpoint import Endpoint
from workers.models.worker import Worker


class JobState(models.TextChoices):
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    FINISHED = "finished", "Finished"
    CANCELLED = "cancelled", "Cancelled"


class ItemState(models.TextChoices):
    """`held` items wait for a person: their endpoint cannot be asked. `batched` items wait for the provider's batch; `unusable` ones have an answer that says nothing."""

    WAITING = "waiting", "Waiting"
    HELD = "held", "Held back"
    CLAIMED = "claimed", "In flight"
    BATCHED = "batched", "In a batch"
    DONE = "done", "Done"
    UNUSABLE = "unusable", "Unusable"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


JobOutcome = models.TextChoices("JobOutcome", [(one.name, (one.value, OUTCOME_NAMES[one])) for one in Outcome])

OPEN = (ItemState.WAITING, ItemState.HELD, ItemState.CLAIMED, ItemState.BATCHED)


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


class ItemQuerySet(models.QuerySet):
    def still_open(self) -> ItemQuerySet:
        return self.filter(state__in=OPEN)

    def counts(self) -> dict[str, int]:
        """Items by state, every state named."""
        held = dict(self.order_by().values_list("state").annotate(Count("id")))
        return {state: held.get(state, 0) for state in ItemState.values}

    def spent(self) -> Decimal:
        return self.aggregate(total=Sum("cost"))["total"] or Decimal(0)


class Item(models.Model):
    """One question of a job. Its `call` may be another item's too: a call is made once, whoever asks.

    `made` says that a call was sent for this item, else the ledger had the answer. `cost` is what was paid for it; for an
    unknown outcome, what it can have cost at most. `unpriced` are the calls of unknown price that `cost` says nothing of.
    """

    job = models.ForeignKey(Job, models.CASCADE, related_name="items")
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="items")
    stage = models.CharField(max_length=20, blank=True)
    key = models.CharField(max_length=80)
    state = models.CharField(max_length=10, choices=ItemState.choices, default=ItemState.WAITING)
    not_before = models.DateTimeField()
    worker = models.ForeignKey(Worker, models.SET_NULL, null=True, blank=True, related_name="items")
    call = models.ForeignKey(Call, models.PROTECT, null=True, blank=True, related_name="items")
    made = models.BooleanField(default=False)
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=Decimal(0))
    unpriced = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Calls of unknown price, not in the cost."
    )
    problem = models.TextField(blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ItemQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "endpoint", "stage", "key"], name="one_item_a_key"),
            models.CheckConstraint(condition=Q(state__in=ItemState.values), name="item_state_known"),
        ]
        indexes = [
            models.Index(fields=["job", "endpoint", "state", "id"], name="item_to_claim"),
            models.Index(fields=["endpoint"], condition=Q(state="claimed"), name="item_in_flight"),
            models.Index(fields=["worker"], condition=Q(state="claimed"), name="item_of_worker"),
        ]

    @property
    def money(self) -> Money:
        return Money(self.cost, self.unpriced)
