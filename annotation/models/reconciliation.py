from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

from annotation.domain.reconciliation import PairKind, PairState, kind_of, remark_of
from annotation.domain.tables import TableRow
from annotation.models.append_only import RowEvent
from annotation.models.belief_table import Proposition, Remark
from annotation.models.drafts import DraftRow
from annotation.models.story import Story
from annotation.models.user import User
from core.ids import OpaqueModel


class PairQuerySet(models.QuerySet["Pair"]):
    def standing(self) -> PairQuerySet:
        return self.filter(gone=False).order_by("place", "uid")


class Pair(OpaqueModel):
    """Rows of two drafts that say the same, or a row of only one of them: the row that goes into gold, and the remark
    on it. `status` is empty while nobody has decided.

    `proposition` is the row of the gold table that was made of it. A pair that was linked away is `gone`.
    """

    story = models.ForeignKey(Story, models.CASCADE, related_name="pairs")
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
    proposition = models.OneToOneField(Proposition, models.SET_NULL, null=True, blank=True, related_name="pair")

    objects = PairQuerySet.as_manager()

    class Meta:
        ordering = ["story", "place", "uid"]
        constraints = [
            models.UniqueConstraint(fields=["a"], condition=Q(gone=False), name="one_pair_of_a_row_of_a"),
            models.UniqueConstraint(fields=["b"], condition=Q(gone=False), name="one_pair_of_a_row_of_b"),
        ]

    @property
    def words(self) -> TableRow:
        return TableRow(self.actor, self.belief, self.order_text)

    @property
    def sides(self) -> tuple[TableRow | None, TableRow | None]:
        """The words of both experts."""
        return self.a.words if self.a else None, self.b.words if self.b else None

    @property
    def kind(self) -> PairKind:
        return kind_of(*self.sides)

    @property
    def state(self) -> PairState:
        return PairState(self.status, *self.words, self.remark, self.place)

    @property
    def gold_remark(self) -> Remark:
        """The remark that the row has in gold, or will have as it stands."""
        return Remark(remark_of(*self.sides, self.state))

    def decide(self, state: PairState, by: User | None, at: datetime | None) -> None:
        """Put the pair into that state; `by` is whose decision it is. The pair is not saved."""
        self.status, self.actor, self.belief, self.order_text = state.status, state.actor, state.belief, state.order
        self.remark, self.place, self.decided_by, self.decided_at = state.remark, state.place, by, at


class PairEvent(RowEvent):
    """One decision on one pair: its states are as `annotation.domain.reconciliation.PairState` has them, and its key is
    unique within the pair. If rows were linked or separated, every pair that went or came has one, whose states also
    say whether it is `gone`."""

    append_only = "The history of reconciliation is append-only."

    row = models.ForeignKey(Pair, models.CASCADE, related_name="events")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")

    class Meta(RowEvent.Meta):
        constraints = [models.UniqueConstraint(fields=["row", "idempotency_key"], name="one_pair_event_a_key")]

    @property
    def is_link(self) -> bool:
        return "gone" in self.after
