from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

from annotation.domain.reconciliation import LaneState, Status
from annotation.models.append_only import RowEvent
from annotation.models.belief_table import Proposition
from annotation.models.draft import DraftRow
from annotation.models.story import Story
from annotation.models.user import User
from core.ids import OpaqueModel


class LaneQuerySet(models.QuerySet):
    def standing(self) -> LaneQuerySet:
        return self.filter(gone=False).order_by("place", "uid")


class LaneRow(OpaqueModel):
    """A row of the consensus of two drafts: which row of each expert it comes from, what is to go into gold, and the
    remark on it. `status` is empty while nobody has decided.

    `proposition` is the row of the gold table that was made of it. A row that was linked away is `gone`.
    """

    story = models.ForeignKey(Story, models.CASCADE, related_name="lane_rows")
    a = models.ForeignKey(DraftRow, models.CASCADE, null=True, blank=True, related_name="+")
    b = models.ForeignKey(DraftRow, models.CASCADE, null=True, blank=True, related_name="+")
    place = models.FloatField()
    status = models.CharField(
        max_length=8, blank=True, choices=[("kept", gettext_lazy("Kept")), ("dropped", gettext_lazy("Dropped"))]
    )
    actor = models.CharField(max_length=200, blank=True)
    belief = models.TextField(blank=True)
    order_text = models.CharField(max_length=40, blank=True)
    remark = models.TextField(blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    gone = models.BooleanField(default=False)
    proposition = models.OneToOneField(Proposition, models.SET_NULL, null=True, blank=True, related_name="lane_row")

    objects = LaneQuerySet.as_manager()

    class Meta:
        ordering = ["story", "place", "uid"]
        constraints = [
            models.UniqueConstraint(fields=["a"], condition=Q(gone=False), name="one_lane_row_of_a_row_of_a"),
            models.UniqueConstraint(fields=["b"], condition=Q(gone=False), name="one_lane_row_of_a_row_of_b"),
        ]

    def decide(self, state: LaneState, by: User | None, at: datetime) -> None:
        """Put the row into that state; `by` is whose decision it is, None where it is open again."""
        self.status, self.actor, self.belief, self.order_text = state.status, state.actor, state.belief, state.order
        self.remark, self.place, self.decided_by, self.decided_at = state.remark, state.place, by, at

    def keep_words(self, typed: LaneRow) -> None:
        """Take over the words that somebody settled on before the link changed; whether they hold is open again."""
        self.status, self.actor, self.belief = Status.OPEN.value, typed.actor, typed.belief
        self.order_text, self.remark, self.decided_by = typed.order_text, typed.remark, typed.decided_by


class LaneEvent(RowEvent):
    """One decision on one row of the lanes: its states are as `annotation.domain.reconciliation.LaneState` has them,
    and its key is unique within the row. Where rows were linked or separated, every row that went or came has one, of
    which the states also say `gone`: whether the row stood in the lanes."""

    append_only = "The history of reconciliation is append-only."

    row = models.ForeignKey(LaneRow, models.CASCADE, related_name="events")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")

    class Meta(RowEvent.Meta):
        constraints = [models.UniqueConstraint(fields=["row", "idempotency_key"], name="one_lane_event_a_key")]

    @property
    def is_link(self) -> bool:
        return "gone" in self.after
