from __future__ import annotations

from django.db import models

from annotation.models.append_only import AppendOnlyModel
from annotation.models.belief_table import BeliefTable
from core.ids import OpaqueModel


class Origin(models.TextChoices):
    """The way in which a row came into a draft."""

    TYPED = "typed", "Typed"
    PASTED = "pasted", "Pasted"
    MODEL = "model", "Drafted by a model"


class DraftRow(OpaqueModel):
    """A row of an expert's draft as it stands. Rows stand by `place`; the page that makes one names it. A
    removed row keeps its words, for undo."""

    table = models.ForeignKey(BeliefTable, models.CASCADE, related_name="draft_rows")
    actor = models.CharField(max_length=200, blank=True)
    belief = models.TextField(blank=True)
    order_text = models.CharField(max_length=40, blank=True)
    remark = models.TextField(blank=True)
    place = models.FloatField()
    removed = models.BooleanField(default=False)
    origin = models.CharField(max_length=8, choices=Origin.choices, default=Origin.TYPED)
    source = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["table", "place", "uid"]

    def __str__(self) -> str:
        return f"{self.actor}: {self.belief}"


class DraftEvent(AppendOnlyModel):
    """One change of one row of a draft, append-only. A repeated `client_key` in the same table is the same change.

    `before` is null for a new row; both are states as `annotation.domain.drafts.RowState` has them. The changes of one
    key press share their `action`; `undoes` is the action that they take back.
    """

    append_only = "The history of drafts is append-only."

    table = models.ForeignKey(BeliefTable, models.CASCADE, related_name="draft_events")
    row = models.ForeignKey(DraftRow, models.CASCADE, related_name="events")
    client_key = models.CharField(max_length=64)
    action = models.CharField(max_length=64)
    kind = models.CharField(max_length=12)
    undoes = models.CharField(max_length=64, blank=True)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField()
    changed_at = models.DateTimeField()
    received_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["table", "client_key"], name="one_draft_event_a_key")]
