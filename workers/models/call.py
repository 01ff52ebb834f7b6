from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import F, Q

from core.bulk import insert_missing, insert_rows, update_rows
from core.ids import OpaqueModel
from core.messages import gettext_noop
from core.stored_json import SentenceField
from workers.models.endpoint import Endpoint
from workers.models.worker import Worker


class CallState(models.TextChoices):
    """planned → reserved → sent → answered, truncated, refused, unreadable, failed or unknown.

    A call that may be sent again goes back to planned. Unreadable: what came is not an answer, such as a tool call.
    Unknown: sent, and the answer was lost; it may have been paid.
    """

    PLANNED = "planned", gettext_noop("Planned")
    RESERVED = "reserved", gettext_noop("Reserved")
    SENT = "sent", gettext_noop("Sent")
    ANSWERED = "answered", gettext_noop("Answered")
    TRUNCATED = "truncated", gettext_noop("Truncated")
    REFUSED = "refused", gettext_noop("Refused")
    UNREADABLE = "unreadable", gettext_noop("Unreadable")
    FAILED = "failed", gettext_noop("Failed")
    UNKNOWN = "unknown", gettext_noop("Unknown")


NOT_PARSED = (CallState.REFUSED, CallState.UNREADABLE)
"""States with an answer of which nothing is read."""
COMPLETED = (CallState.ANSWERED, CallState.TRUNCATED, *NOT_PARSED)
"""States with an answer: the call is never made again, nor paid again."""
IN_FLIGHT = (CallState.RESERVED, CallState.SENT)
GIVEN_UP = (CallState.FAILED, CallState.UNKNOWN)
_IDLE = (CallState.PLANNED, *GIVEN_UP)
_ANSWER = (
    "state", "finished_at", "answer", "reasoning", "stop", "answered_by", "fingerprint", "request_id", "input_tokens",
    "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens", "cost", "usage_told", "problem",
    "tries", "unknowns",
)  # fmt: skip


class CallQuerySet(models.QuerySet["Call"]):
    """Reads of the ledger, and the only writer of `Call.state`: a transition changes only calls that are in its source
    states."""

    def completed(self) -> CallQuerySet:
        return self.filter(state__in=COMPLETED)

    def unpriced(self) -> CallQuerySet:
        return self.completed().filter(cost__isnull=True)

    # --- transitions ---

    def plan(self, fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write planned calls whose other columns have their defaults, without those whose key the ledger has."""
        columns = self.model._meta.concrete_fields
        others = [column for column in columns if not column.primary_key and column.name not in fields]
        defaults = {column.name: column.get_default() for column in others} | {"state": CallState.PLANNED}
        insert_missing(self.model, [*fields, *defaults], ((*row, *defaults.values()) for row in rows), unique="key")

    def reserve(self, worker: Worker | None) -> int:
        """planned, failed, unknown → reserved, for a worker, or for a batch without one."""
        return self.filter(state__in=_IDLE).update(state=CallState.RESERVED, worker=worker)

    def reprice(self, reserved: Iterable[tuple[Decimal | None, int]]) -> None:
        """planned, failed, unknown → the same, by (cost at present prices or None, id)."""
        update_rows(self.model, ("reserved_cost",), reserved, only=("state", _IDLE))

    def release(self) -> int:
        """reserved → planned: nothing was sent."""
        return self.filter(state=CallState.RESERVED).update(state=CallState.PLANNED, worker=None)

    def mark_sent(self, attempts: Mapping[int, int], *, now: datetime) -> None:
        """reserved → sent, before they leave; by id how many attempts were made before this one."""
        rows = [(CallState.SENT, now, before + 1, call) for call, before in attempts.items()]
        update_rows(self.model, ("state", "sent_at", "attempts_made"), rows, only=("state", [CallState.RESERVED]))

    def count_attempt(self) -> int:
        """Any state → the same: it was sent once more by a worker that had been declared lost."""
        return self.update(attempts_made=F("attempts_made") + 1)

    def answer(self, calls: Iterable[Call]) -> None:
        """in flight, idle → with an answer, as `Call.take_answer` set it. A second answer changes nothing."""
        rows = [(*(getattr(call, name) for name in _ANSWER), call.pk) for call in calls]
        update_rows(self.model, _ANSWER, rows, only=("state", (*_IDLE, *IN_FLIGHT)))

    def record_failures(self, rows: Iterable[Sequence[Any]]) -> None:
        """in flight → planned, failed, unknown, by (state, problem, tries, unknowns, id) of calls without an answer."""
        fields = ("worker", "state", "problem", "tries", "unknowns")
        update_rows(self.model, fields, [(None, *row) for row in rows], only=("state", IN_FLIGHT))

    def lose(self, *, problem: str) -> int:
        """sent → unknown: no process waits for the answer any more."""
        return self.filter(state=CallState.SENT).update(
            state=CallState.UNKNOWN, worker=None, problem=problem, tries=F("tries") + 1, unknowns=F("unknowns") + 1
        )

    def retry(self) -> int:
        """failed, unknown → planned, with a new count of attempts."""
        given_up = self.filter(state__in=GIVEN_UP)
        return given_up.update(state=CallState.PLANNED, tries=0, unknowns=0, problem="")


class Call(OpaqueModel):
    """One logical call, a row of the ledger: a request body asked of a model once (workers/services/planning.py).
    Answers are kept whole."""

    key = models.CharField(max_length=64, unique=True)
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="calls")
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=200)
    revision = models.CharField(max_length=100, blank=True)
    body = models.TextField(help_text="Canonical JSON, as it was hashed.")
    sample = models.PositiveIntegerField(default=0)
    handler = models.CharField(max_length=30, blank=True)

    state = models.CharField(max_length=10, choices=CallState.choices, default=CallState.PLANNED)
    worker = models.ForeignKey(Worker, models.SET_NULL, null=True, blank=True, related_name="calls")
    attempts_made = models.PositiveIntegerField(default=0)
    tries = models.PositiveIntegerField(default=0, help_text="Attempts since somebody last asked for it.")
    unknowns = models.PositiveIntegerField(default=0, help_text="Those of them whose outcome is unknown.")
    reserved_cost = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, default=Decimal(0), help_text="Empty where the price is unknown."
    )
    planned_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    answer = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    stop = models.CharField(max_length=10, blank=True)
    answered_by = models.CharField(max_length=200, blank=True)
    fingerprint = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="What the provider says of the system that answered.",
    )
    request_id = models.CharField(max_length=200, blank=True)
    input_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    cache_write_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0)
    usage_told = models.BooleanField(
        default=True, help_text="No: the provider did not say, and tokens and cost are estimated."
    )
    cost = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, default=Decimal(0), help_text="Empty where the price is unknown."
    )
    problem = SentenceField(blank=True)

    objects = CallQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(state__in=CallState.values), name="call_state_known")]
        indexes = [
            models.Index(
                fields=["worker", "state"], condition=Q(state__in=["reserved", "sent"]), name="call_in_flight"
            ),
            models.Index(fields=["state", "-id"], name="call_by_state"),
            models.Index(fields=["endpoint", "-id"], name="call_by_endpoint"),
            models.Index(fields=["finished_at"], name="call_by_day"),
        ]

    @property
    def request(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def is_completed(self) -> bool:
        return self.state in COMPLETED

    def take_answer(self, state: CallState, **answer: Any) -> None:
        """Set an answer's columns in memory, for the job handler that reads them; `CallQuerySet.answer` writes them."""
        self.state = state
        for name, value in answer.items():
            setattr(self, name, value)


_BEGUN = ("call", "number", "worker", "sent_at", "finished_at", "outcome", "headers", "problem", "body", "waits")
_AWAITED = ""


class AttemptQuerySet(models.QuerySet["Attempt"]):
    """Reads of attempts, and the only writer of `Attempt.outcome`: an outcome is written once."""

    def awaited(self) -> AttemptQuerySet:
        return self.filter(outcome=_AWAITED)

    def lost(self) -> AttemptQuerySet:
        return self.filter(outcome=CallState.UNKNOWN)

    # --- transitions ---

    def begin(self, sendings: Iterable[tuple[int, int]], *, worker: Worker | None, now: datetime) -> None:
        """→ awaited, before they leave, by (call id, number); those of a batch belong to no worker."""
        holder = worker.pk if worker else None
        rows: list[Any] = [(call, number, holder, now, None, _AWAITED, {}, "", "", 0.0) for call, number in sendings]
        insert_rows(self.model, _BEGUN, rows)

    def begin_lost(self, sendings: Iterable[tuple[int, int]], *, problem: str, now: datetime) -> None:
        """→ unknown, by (call id, number) of what left without a row and is listed afterwards."""
        rows: list[Any] = [
            (call, number, None, now, now, CallState.UNKNOWN, {}, problem, "", 0.0) for call, number in sendings
        ]
        insert_rows(self.model, _BEGUN, rows)

    def close(self, rows: Iterable[Sequence[Any]]) -> None:
        """awaited → a state of the call or the kind of an error, by (outcome, finished_at, status, headers, problem,
        body, seconds until it may be sent again, id)."""
        fields = ("outcome", "finished_at", "status", "headers", "problem", "body", "waits")
        update_rows(self.model, fields, rows, only=("outcome", [_AWAITED]))

    def lose(self, *, problem: str, now: datetime) -> int:
        """awaited → unknown: no process waits for the answer any more."""
        return self.awaited().update(outcome=CallState.UNKNOWN, finished_at=now, problem=problem)


class Attempt(models.Model):
    """One sending of a call, written before it leaves. `outcome` is empty while its answer is awaited; then it is the
    state of the answer, the kind of an error, or unknown.

    `body` is what was read of an answer that could not be taken for one, bytes that are not UTF-8 as \\xNN.
    """

    call = models.ForeignKey(Call, models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    worker = models.ForeignKey(Worker, models.SET_NULL, null=True, blank=True, related_name="+")
    sent_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=20, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    headers = models.JSONField(default=dict)
    problem = SentenceField(blank=True)
    body = models.TextField(blank=True)
    waits = models.FloatField(default=0, help_text="Seconds until it may be sent again.")

    objects = AttemptQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["call", "number"], name="one_attempt_a_number")]
        indexes = [models.Index(fields=["call"], condition=Q(outcome="unknown"), name="attempt_lost")]
