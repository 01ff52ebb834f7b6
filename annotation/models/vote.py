from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.append_only import AppendOnlyModel
from annotation.models.belief_table import Proposition, TableKind


class VoteQuerySet(models.QuerySet["Vote"]):
    def cast(self) -> VoteQuerySet:
        """Votes that stand: withdrawn ones keep their row with an empty label."""
        return self.exclude(label="")

    def on_gold(self) -> VoteQuerySet:
        """Votes on propositions that are in their story's gold table now."""
        return self.filter(proposition__table__kind=TableKind.GOLD, proposition__removed_at__isnull=True)


class Vote(models.Model):
    """The current label of one annotator for one cell (proposition × dimension).

    `changed_at` is the annotator's own clock, in UTC: of two changes the later one wins, in whatever order they
    arrive; `idempotency_key` breaks ties. An empty label is a withdrawn vote. `arm` is how the annotator met a
    suggestion (annotation/domain/anchoring), `suggested` the one that stood before their eyes, empty where none did.
    """

    proposition = models.ForeignKey(Proposition, models.CASCADE, related_name="votes", db_index=False)
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="votes", db_index=False)
    dimension = models.CharField(max_length=20)
    label = models.CharField(max_length=40, blank=True)
    changed_at = models.DateTimeField()
    idempotency_key = models.CharField(max_length=64)
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    arm = models.CharField(max_length=6, blank=True, default="", db_default="")
    suggested = models.CharField(max_length=40, blank=True, default="", db_default="")

    objects = VoteQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["proposition", "dimension", "annotator"], name="one_vote_a_cell")
        ]
        # They find what the columns' own indexes would, which every vote would have to write, too.
        indexes = [models.Index(fields=["annotator", "proposition"], name="vote_of_annotator")]


class VoteEvent(AppendOnlyModel):
    """One change of one vote, append-only. A repeated `idempotency_key` of the same annotator is the same change.

    `applied` is false for a change that arrived after a later one: it is history but never was current. `previous` is
    the label that it replaced; `undoes` is the key of the change that it takes back. `accepted`: it was taken over from
    the suggestion with a key.
    """

    append_only = "The history of votes is append-only."

    proposition = models.ForeignKey(Proposition, models.CASCADE, related_name="vote_events", db_index=False)
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="vote_events", db_index=False)
    dimension = models.CharField(max_length=20)
    label = models.CharField(max_length=40, blank=True)
    previous = models.CharField(max_length=40, blank=True)
    idempotency_key = models.CharField(max_length=64)
    undoes = models.CharField(max_length=64, blank=True)
    changed_at = models.DateTimeField()
    received_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    applied = models.BooleanField(default=True)
    arm = models.CharField(max_length=6, blank=True, default="", db_default="")
    suggested = models.CharField(max_length=40, blank=True, default="", db_default="")
    accepted = models.BooleanField(default=False, db_default=False)
    origin = models.CharField(max_length=12, default="grid")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["annotator", "idempotency_key"], name="one_event_a_key")]
        indexes = [
            models.Index(fields=["proposition", "dimension"], name="event_of_cell"),
            models.Index(fields=["annotator", "-changed_at"], condition=Q(applied=True), name="event_newest_first"),
        ]
