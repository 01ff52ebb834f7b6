from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.domain.arms import is_drawn_blind
from annotation.models.append_only import AppendOnlyModel, RowEvent
from core.ids import OpaqueModel
from judge.domain.alignment import Answers, RowAnswer, SettledRow, answers_as_json, open_rows
from judge.models.alignment_study import MOST_PEOPLE, AlignmentTask


class AlignmentState(models.TextChoices):
    OPEN = "open", "Open"
    HANDED_IN = "handed-in", "Handed in"
    RELEASED = "released", "Released"


class AlignmentQuerySet(models.QuerySet["Alignment"]):
    def active(self) -> AlignmentQuerySet:
        return self.exclude(state=AlignmentState.RELEASED)

    def handed_in(self) -> AlignmentQuerySet:
        return self.filter(state=AlignmentState.HANDED_IN)

    def unfinished(self) -> AlignmentQuerySet:
        """Return those not handed in, also of studies that are closed and can be opened again."""
        return self.filter(state=AlignmentState.OPEN)

    def kept_from_deciding(self) -> AlignmentQuerySet:
        """Return those whose person may not decide the table: whoever has it, and whoever said something of it before
        it was taken away."""
        return self.exclude(state=AlignmentState.RELEASED, revision=0)

    def waiting(self) -> AlignmentQuerySet:
        """Return those still to be done, in studies that are open."""
        return self.unfinished().filter(task__study__closed_at=None)

    def in_order(self) -> AlignmentQuerySet:
        return self.order_by("task__study_id", "task__place", "task__number", "task__uid")


class Alignment(OpaqueModel):
    """One person's alignment of one table. The overlap is enforced by the database: an active alignment has a `slot` of
    its task, and no two share one. A released one keeps its answers and its history.

    `answers` are those about the rows that something is said of (`judge.domain.alignment`); `revision` counts changes.
    `nth` of `several` tell tables of one story apart in the list of their person (`judge.services.settling`).
    """

    nth = several = 1
    task = models.ForeignKey(AlignmentTask, models.CASCADE, related_name="alignments")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="alignments")
    slot = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=12, choices=AlignmentState.choices, default=AlignmentState.OPEN)
    revision = models.PositiveIntegerField(default=0)
    answers = models.JSONField(default=dict)
    assigned_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    assigned_at = models.DateTimeField(auto_now_add=True)
    handed_in_at = models.DateTimeField(null=True, blank=True)

    objects = AlignmentQuerySet.as_manager()

    class Meta:
        ordering = ["task__place", "task__number"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "slot"], condition=~Q(state="released"), name="one_alignment_a_slot"
            ),
            models.UniqueConstraint(
                fields=["task", "annotator"], condition=~Q(state="released"), name="one_alignment_an_annotator"
            ),
            models.CheckConstraint(condition=Q(slot__gte=1, slot__lte=MOST_PEOPLE), name="alignment_slot_1_to_9"),
            models.CheckConstraint(
                condition=Q(state="handed-in", handed_in_at__isnull=False)
                | (~Q(state="handed-in") & Q(handed_in_at=None)),
                name="alignment_handed_in_when",
            ),
        ]
        indexes = [models.Index(fields=["annotator", "state"], name="alignment_of_annotator")]

    @property
    def answers_by_row(self) -> dict[str, RowAnswer]:
        """The answers by row; links stand with predicted rows."""
        return {row: RowAnswer.from_json(kept) for row, kept in self.answers.items()}

    @property
    def is_blind(self) -> bool:
        """Return whether this person sees no proposals: drawn by the study's seed for the table and the slot, which an
        archive keeps."""
        study = self.task.study
        return is_drawn_blind(seed=study.seed, blind=study.blind_share, story=self.task.key, expert=self.slot)

    @property
    def is_open(self) -> bool:
        return self.state == AlignmentState.OPEN

    def write(self, answers: Answers) -> None:
        """Take these answers, which are a revision."""
        self.answers, self.revision = answers_as_json(answers), self.revision + 1
        self.save(update_fields=["answers", "revision"])

    def hand_in(self, at: datetime) -> None:
        self._become(AlignmentState.HANDED_IN, at)

    def take_back(self) -> None:
        self._become(AlignmentState.OPEN, None)

    def release(self) -> None:
        """Free the slot for somebody else."""
        self._become(AlignmentState.RELEASED, None)

    def _become(self, state: AlignmentState, handed_in_at: datetime | None) -> None:
        self.state, self.handed_in_at = state.value, handed_in_at
        self.save(update_fields=["state", "handed_in_at"])


class AlignmentEvent(RowEvent):
    """One change of the answer about one row, append-only; its states are as `RowAnswer` is as JSON.
    `accepted`: it was taken over from a proposal. `duration_ms` is what the page measured from the last change to
    this one. A row that is empty tells of the whole table: handed in, taken back, released."""

    append_only = "The history of alignments is append-only."

    alignment = models.ForeignKey(Alignment, models.CASCADE, related_name="events")
    row = models.CharField(max_length=8, blank=True)
    accepted = models.BooleanField(default=False)
    duration_ms = models.PositiveIntegerField(null=True, blank=True)

    class Meta(RowEvent.Meta):
        constraints = [
            models.UniqueConstraint(fields=["alignment", "idempotency_key"], name="one_alignment_event_a_key")
        ]


class SettledAlignmentQuerySet(models.QuerySet["SettledAlignment"]):
    def waiting(self) -> SettledAlignmentQuerySet:
        """Return those with rows that an expert has to decide."""
        return self.filter(open_rows__gt=0)

    def whole(self) -> SettledAlignmentQuerySet:
        return self.filter(open_rows=0)


class SettledAlignment(models.Model):
    """The outcome of all alignments of a table, by row (`judge.domain.alignment.SettledRow` as JSON), made when the
    last of them is handed in. `open_rows` is how many rows have no majority and wait for an expert."""

    task = models.OneToOneField(AlignmentTask, models.CASCADE, related_name="settled")
    rows = models.JSONField()
    open_rows = models.PositiveIntegerField()
    revision = models.PositiveIntegerField(default=0)
    changed_at = models.DateTimeField()

    objects = SettledAlignmentQuerySet.as_manager()

    @property
    def answers(self) -> dict[str, SettledRow]:
        return {row: SettledRow.from_json(value) for row, value in self.rows.items()}

    def take(self, rows: Mapping[str, SettledRow], at: datetime) -> None:
        """Take these rows, which are a revision. `judge.services.settling` alone calls this, with the events."""
        self.rows = {row: settled_row.as_json() for row, settled_row in rows.items()}
        self.open_rows, self.changed_at = len(open_rows(rows)), at
        self.revision += 1
        self.save()


class SettledEvent(AppendOnlyModel):
    """One change of one settled row, append-only: `by` is the expert who decided, None where the rule of the majority
    did. `before` is null at first."""

    append_only = "The history of settled alignments is append-only."

    task = models.ForeignKey(AlignmentTask, models.CASCADE, related_name="settled_events")
    row = models.CharField(max_length=8)
    before = models.JSONField(null=True)
    after = models.JSONField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    reason = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
