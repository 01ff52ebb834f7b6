from django.db import models
from django.utils.translation import gettext_lazy

from annotation.domain.drafts import RowState
from annotation.domain.tables import TableRow
from annotation.models.append_only import RowEvent
from annotation.models.belief_table import BeliefTable, Proposition
from annotation.models.prefill import SuggestedRow
from core.ids import OpaqueModel


class Origin(models.TextChoices):
    """The way in which a row came into a draft."""

    TYPED = "typed", gettext_lazy("Typed")
    PASTED = "pasted", gettext_lazy("Pasted")
    MODEL = "model", gettext_lazy("Drafted by a model")


class DraftRow(OpaqueModel):
    """A row of an expert's draft as it stands. Rows stand by `place`; the page that makes one names it. A
    removed row keeps its words, for undo.

    `suggested` is the row of a model's draft that it began as, also where the expert has changed it since or split it
    off. `proposition` is the row of the gold table that was made of it where one expert alone writes the table.
    """

    table = models.ForeignKey(BeliefTable, models.CASCADE, related_name="draft_rows")
    actor = models.CharField(max_length=200, blank=True)
    belief = models.TextField(blank=True)
    order_text = models.CharField(max_length=40, blank=True)
    remark = models.TextField(blank=True)
    place = models.FloatField()
    removed = models.BooleanField(default=False)
    origin = models.CharField(max_length=8, choices=Origin.choices, default=Origin.TYPED)
    source = models.CharField(max_length=200, blank=True)
    suggested = models.ForeignKey(SuggestedRow, models.RESTRICT, null=True, blank=True, related_name="draft_rows")
    proposition = models.ForeignKey(Proposition, models.SET_NULL, null=True, blank=True, related_name="draft_rows")

    class Meta:
        ordering = ["table", "place", "uid"]

    def __str__(self) -> str:
        return f"{self.actor}: {self.belief}"

    @property
    def words(self) -> TableRow:
        return TableRow(self.actor, self.belief, self.order_text)

    @property
    def state(self) -> RowState:
        return RowState(*self.words, self.remark, self.place, self.removed)

    def put(self, state: RowState) -> None:
        """Take the values of a state; the row is not saved."""
        self.actor, self.belief, self.order_text, self.remark = state.actor, state.belief, state.order, state.remark
        self.place, self.removed = state.place, state.removed


class DraftEvent(RowEvent):
    """One change of one row of a draft: its states are as `annotation.domain.drafts.RowState` has them, and its key is
    unique within the table."""

    append_only = "The history of drafts is append-only."

    table = models.ForeignKey(BeliefTable, models.CASCADE, related_name="draft_events")
    row = models.ForeignKey(DraftRow, models.CASCADE, related_name="events")
    kind = models.CharField(max_length=12)

    class Meta(RowEvent.Meta):
        constraints = [models.UniqueConstraint(fields=["table", "idempotency_key"], name="one_draft_event_a_key")]
