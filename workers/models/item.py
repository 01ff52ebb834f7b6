from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q, Sum

from core.bulk import insert_rows, update_rows
from core.messages import gettext_noop
from core.stored_json import SentenceField
from workers.domain.pricing import Money
from workers.models.call import COMPLETED, IN_FLIGHT, Call
from workers.models.endpoint import Endpoint
from workers.models.job import Job, JobState
from workers.models.worker import Worker


class ItemState(models.TextChoices):
    """The states of an item.

    Held items wait for a person, because their endpoint cannot be asked; batched items wait for the provider's batch;
    unreadable items have an answer that cannot be used.
    """

    WAITING = "waiting", gettext_noop("Waiting")
    HELD = "held", gettext_noop("Held back")
    CLAIMED = "claimed", gettext_noop("In flight")
    BATCHED = "batched", gettext_noop("In a batch")
    DONE = "done", gettext_noop("Done")
    UNREADABLE = "unreadable", gettext_noop("Unreadable")
    FAILED = "failed", gettext_noop("Failed")
    CANCELLED = "cancelled", gettext_noop("Cancelled")


IN_HAND = (ItemState.CLAIMED, ItemState.BATCHED)
"""The states of an item while an endpoint is asked about it."""
UNSENT = (ItemState.WAITING, ItemState.HELD)
OPEN = (*UNSENT, *IN_HAND)
PARSED = (ItemState.DONE, ItemState.UNREADABLE)
"""The states of an item whose answer was parsed."""
TROUBLED = (ItemState.UNREADABLE, ItemState.FAILED)
CAME_BACK = (ItemState.DONE, *TROUBLED)
WITHOUT_ANSWER = (ItemState.FAILED, ItemState.CANCELLED)
"""The states of an item that ended and has no answer."""
TO_SERVE = (ItemState.WAITING, ItemState.BATCHED)
"""The states of an item for which a process turns to its endpoint."""


BOOKED = ("cost", "unpriced", "made")
"""The columns of what is booked for an item."""


class ItemQuerySet(models.QuerySet["Item"]):
    """Reads of items, and the only writer of `Item.state`: a transition changes only items that are in its source
    states."""

    def still_open(self) -> ItemQuerySet:
        return self.filter(state__in=OPEN)

    def counts(self) -> dict[str, int]:
        """Count the items by state, with a number for every state."""
        counts = dict(self.order_by().values_list("state").annotate(Count("id")))
        return {state: counts.get(state, 0) for state in ItemState.values}

    def spent(self) -> Decimal:
        """Sum what was paid for the items, in US dollars."""
        return self.aggregate(total=Sum("cost"))["total"] or Decimal(0)

    # --- transitions ---

    def insert_waiting(self, job: Job, items: Iterable[tuple[Endpoint, str, str]], *, start: datetime) -> None:
        """Insert waiting items of (endpoint, step, key), in the caller's transaction."""
        fields = ("job", "endpoint", "step", "key", "state", "not_before", "made", "cost", "problem")
        rest = (ItemState.WAITING, start, False, Decimal(0), "")
        insert_rows(self.model, fields, [(job.pk, endpoint.pk, step, key, *rest) for endpoint, step, key in items])

    def claim(self, worker: Worker) -> int:
        """waiting → claimed."""
        return self.filter(state=ItemState.WAITING).update(state=ItemState.CLAIMED, worker=worker)

    def batch(self) -> int:
        """waiting → batched."""
        return self.filter(state=ItemState.WAITING).update(state=ItemState.BATCHED, worker=None)

    def postpone(self, until: datetime) -> int:
        """waiting → waiting, to be looked at again later."""
        return self.filter(state=ItemState.WAITING).update(not_before=until)

    def book(self, cost: Decimal | None) -> int:
        """claimed → claimed: a call that was sent may have been paid, with `cost` at most, None if unknown."""
        sums = {"unpriced": F("unpriced") + 1} if cost is None else {"cost": F("cost") + cost}
        return self.filter(state=ItemState.CLAIMED).update(made=True, **sums)

    def release(self, *, now: datetime) -> int:
        """claimed → waiting, at once claimable by others; cancelled where the job is."""
        claimed = self.filter(state=ItemState.CLAIMED)
        jobs = set(claimed.order_by().values_list("job", flat=True))
        freed = claimed.update(state=ItemState.WAITING, worker=None, not_before=now)
        cancelled = Job.objects.filter(pk__in=jobs, state=JobState.CANCELLED)
        self.model.objects.filter(job__in=cancelled).cancel(now=now)
        return freed

    def wait_again(self, rows: Iterable[Sequence[Any]]) -> None:
        """in hand → waiting, by (not_before, problem, *booked, id): their calls are to be sent again."""
        fields = ("state", "worker", "finished_at", "not_before", "problem", *BOOKED)
        update_rows(
            self.model, fields, [(ItemState.WAITING, None, None, *row) for row in rows], only=("state", IN_HAND)
        )

    def fail_asked(self, rows: Iterable[Sequence[Any]], *, now: datetime) -> None:
        """in hand → failed, by (problem, *booked, id): their calls failed for good."""
        fields = ("state", "worker", "finished_at", "problem", *BOOKED)
        update_rows(self.model, fields, [(ItemState.FAILED, None, now, *row) for row in rows], only=("state", IN_HAND))

    def fail_unasked(self, problems: Mapping[int, str], *, now: datetime) -> None:
        """waiting → failed, by item id and sentence: no call is sent for them."""
        rows = [(ItemState.FAILED, problem, now, item) for item, problem in problems.items()]
        update_rows(self.model, ("state", "problem", "finished_at"), rows, only=("state", [ItemState.WAITING]))

    def attach(self, calls: Mapping[int, int]) -> None:
        """waiting → waiting, by item id the id of the call that answers it."""
        rows = [(call, item) for item, call in calls.items()]
        update_rows(self.model, ("call",), rows, only=("state", [ItemState.WAITING]))

    def detach(self) -> int:
        """waiting, held, failed → the same, without a call that was made for other settings and not answered."""
        unsent = self.filter(state__in=(*UNSENT, ItemState.FAILED), call__isnull=False)
        answered = Call.objects.filter(pk=OuterRef("call"), state__in=(*COMPLETED, *IN_FLIGHT))
        return unsent.exclude(Exists(answered)).update(call=None)

    def deliver(self, rows: Iterable[Sequence[Any]], *, now: datetime) -> None:
        """open, cancelled → done, unreadable, failed, by (state, problem, *booked, id): their answers were delivered.

        A job may be cancelled while an answer is delivered; the job handler has it then, so the item counts.
        """
        fields = ("worker", "finished_at", "state", "problem", *BOOKED)
        sources = (*OPEN, ItemState.CANCELLED)
        update_rows(self.model, fields, [(None, now, *row) for row in rows], only=("state", sources))

    def reparse(self, rows: Iterable[tuple[ItemState, str, int]]) -> None:
        """done, unreadable → done, unreadable, by (state, problem, id) of items whose answers were parsed again."""
        update_rows(self.model, ("state", "problem"), rows, only=("state", PARSED))

    def hold(self) -> int:
        """waiting → held, for a person."""
        return self.filter(state=ItemState.WAITING).update(state=ItemState.HELD)

    def hold_failed(self) -> int:
        """failed → held: they failed for the reason that the others are held back for."""
        failed = self.filter(state=ItemState.FAILED)
        return failed.update(state=ItemState.HELD, finished_at=None, worker=None)

    def free(self, *, start: datetime) -> int:
        """held → waiting."""
        items = self.filter(state=ItemState.HELD)
        return items.update(state=ItemState.WAITING, not_before=start, problem="")

    def cancel(self, *, now: datetime) -> int:
        """waiting, held → cancelled."""
        unsent = self.filter(state__in=UNSENT)
        return unsent.update(state=ItemState.CANCELLED, finished_at=now)

    def retry(self, *, start: datetime) -> int:
        """failed → waiting."""
        failed = self.filter(state=ItemState.FAILED)
        return failed.update(state=ItemState.WAITING, not_before=start, problem="", finished_at=None, worker=None)


class Item(models.Model):
    """One question of a job. Items may share a `call`: a call is made once, whoever asks.

    `made` says that a call was sent for this item, else the ledger had the answer. `cost` is what was paid for it; for
    an unknown outcome, what it can have cost at most. `unpriced` counts its calls of unknown price, which are not in
    `cost`.
    """

    job = models.ForeignKey(Job, models.CASCADE, related_name="items")
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="items")
    step = models.CharField(max_length=20, blank=True)
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
    problem = SentenceField(blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ItemQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "endpoint", "step", "key"], name="one_item_a_key"),
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

    @property
    def planned(self) -> Call:
        """Its call, which every item has once it is planned."""
        assert self.call, "the item is not planned"
        return self.call

    @property
    def booked(self) -> tuple[Decimal, int, bool]:
        """The values of `BOOKED`."""
        return self.cost, self.unpriced, self.made

    def book(self, cost: Decimal | None) -> None:
        """Set in memory that a call was sent and may have been paid; the transition that ends the item writes it."""
        self.made = True
        if cost is None:
            self.unpriced += 1
        else:
            self.cost += cost
