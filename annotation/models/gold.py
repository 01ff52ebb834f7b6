from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy

from annotation.models.append_only import AppendOnlyModel
from annotation.models.belief_table import Proposition
from core.bulk import write_few


class Method(models.TextChoices):
    """The way in which a cell was settled. OPEN: all votes are in and no rule settles it; an expert must."""

    OPEN = "open", gettext_lazy("Open")
    UNANIMOUS = "unanimous", gettext_lazy("Unanimous")
    MAJORITY = "majority", gettext_lazy("Majority")
    ADJUDICATED = "adjudicated", gettext_lazy("Adjudicated")


DECIDED = Q(after_method=Method.ADJUDICATED) | Q(undoes__isnull=False)
"""Changes of gold that are somebody's decisions, or that took one back."""


class ErrorTag(models.TextChoices):
    DEFINITION = "definition", gettext_lazy("Definition misread")
    OVERLOOKED = "overlooked-evidence", gettext_lazy("Evidence overlooked")
    OVER_INFERENCE = "over-inference", gettext_lazy("Read too much into it")
    SLIP = "slip", gettext_lazy("Slip of the hand")
    AMBIGUOUS = "ambiguous-story", gettext_lazy("The story is ambiguous")


class GoldQuerySet(models.QuerySet["GoldLabel"]):
    def settled(self) -> GoldQuerySet:
        return self.exclude(method=Method.OPEN)

    def open(self) -> GoldQuerySet:
        return self.filter(method=Method.OPEN)

    # The transitions. Only services/gold.py calls those that write an event.

    def settle(self, fields: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
        """Write the labels that a rule gives cells, settled or open. `fields` names the columns of `rows`.

        Returns the number of written labels: an existing one is replaced only by the revision that follows it.
        """
        cell = ("proposition_id", "dimension")
        rest = [name for name in fields if name not in cell]
        return write_few(self.model, fields, rows, unique=cell, update=rest, follows="revision")

    def decide(self, fields: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
        """Write experts' decisions, under the conditions of `settle`."""
        return self.settle(fields, rows)

    def remove(self, labels: Sequence[GoldLabel]) -> int:
        """Remove labels whose votes are no longer all in, each at the revision that was read. Returns how many were
        removed."""
        if not labels:
            return 0
        revisions = {gold.revision for gold in labels}
        return self.filter(pk__in=[gold.pk for gold in labels], revision__in=revisions).delete()[0]

    def disturb(self, labels: Sequence[GoldLabel], disturbed: bool) -> None:
        """Mark decisions whose votes have, or have not, changed since. The labels stand, so no event is written."""
        if labels:
            rows = self.filter(pk__in=[gold.pk for gold in labels])
            rows.update(disturbed=disturbed, revision=F("revision") + 1)

    def file_case(self, gold: GoldLabel, filed: bool) -> None:
        """Put a cell on the list of cases for the guideline, or take it off. The label and its revision stay."""
        self.filter(pk=gold.pk).update(guideline_flag=filed)


class GoldLabel(models.Model):
    """The resolution of one cell, present once all its votes are in. A cell without a row
    has the label of its imported record (`Proposition.imported_labels`), if any.

    `agreement` is the largest share of votes on one label, from 0 to 1; `votes` is what the decision rests on, as
    `gold_votes` writes it; `disturbed` says that votes changed after an expert decided: the label
    stands, and the queue shows it.
    """

    proposition = models.ForeignKey(Proposition, models.CASCADE, related_name="gold", db_index=False)
    dimension = models.CharField(max_length=20)
    label = models.CharField(max_length=80, blank=True)
    method = models.CharField(max_length=12, choices=Method.choices)
    agreement = models.FloatField(null=True, blank=True)
    votes = models.JSONField(default=list)
    rule_version = models.CharField(max_length=20)
    schema_version = models.CharField(max_length=20)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField()
    reason = models.TextField(blank=True)
    error_tag = models.CharField(max_length=24, choices=ErrorTag.choices, blank=True)
    guideline_flag = models.BooleanField(default=False)
    disturbed = models.BooleanField(default=False)
    revision = models.PositiveIntegerField(default=1)

    objects = GoldQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["proposition", "dimension"], name="one_gold_label_a_cell"),
            models.CheckConstraint(
                condition=Q(method="open", label="") | (~Q(method="open") & ~Q(label="")),
                name="open_cells_have_no_label",
            ),
            models.CheckConstraint(
                condition=~Q(method="adjudicated") | Q(decided_by__isnull=False), name="adjudicated_by_someone"
            ),
        ]
        # Covers what the queue counts and sorts by, so that thousands of open cells are found without reading their
        # votes.
        indexes = [
            models.Index(fields=["method", "disturbed", "dimension", "agreement", "proposition"], name="gold_queue"),
            models.Index(fields=["dimension"], condition=Q(guideline_flag=True), name="gold_guideline_case"),
        ]


class GoldEvent(AppendOnlyModel):
    """Every change of a gold label, append-only: what it was, what it became, by whom, why and on which votes.

    `undoes` is the revision of the decision that this event takes back.
    """

    append_only = "The history of gold is append-only."

    proposition = models.ForeignKey(Proposition, models.CASCADE, related_name="gold_events", db_index=False)
    dimension = models.CharField(max_length=20)
    before = models.CharField(max_length=80, blank=True)
    before_method = models.CharField(max_length=12, blank=True)
    after = models.CharField(max_length=80, blank=True)
    after_method = models.CharField(max_length=12, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField()
    reason = models.TextField(blank=True)
    error_tag = models.CharField(max_length=24, choices=ErrorTag.choices, blank=True, default="", db_default="")
    undoes = models.PositiveIntegerField(null=True, blank=True)
    rule_version = models.CharField(max_length=20)
    votes = models.JSONField(default=list)
    revision = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["id"]
        # Few of many changes are decisions: the log finds them, newest first, without looking through the others.
        indexes = [
            models.Index(fields=["proposition", "dimension"], name="gold_event_of_cell"),
            models.Index(fields=["id"], condition=DECIDED, name="gold_event_decided"),
        ]
