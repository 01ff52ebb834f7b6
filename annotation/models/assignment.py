from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.models.project import ArmsUnit
from annotation.models.story import Story
from core.ids import OpaqueModel


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def active(self) -> AssignmentQuerySet:
        return self.filter(released_at__isnull=True)


class Assignment(OpaqueModel):
    """One annotator's assignment to one story.

    The overlap is enforced by the database: an active assignment has a `slot` from 1 to `overlap`, no two active
    assignments of a story share a slot, and nobody holds two. Concurrent assigners collide on the constraint, never
    overfill. A released assignment keeps its row, and its votes keep their history. `due` is the day by whose end (UTC)
    it shall be finished. Which suggestions this assignment
    sees is drawn once (`arms_drawn_at`): the project's seed, shares and unit of that moment, copied here, fix the arm
    of every cell for good.
    """

    story = models.ForeignKey(Story, models.CASCADE, related_name="assignments")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="assignments")
    slot = models.PositiveSmallIntegerField()
    overlap = models.PositiveSmallIntegerField()
    seed = models.BigIntegerField(null=True, blank=True)
    assigned_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    assigned_at = models.DateTimeField(auto_now_add=True)
    released_at = models.DateTimeField(null=True, blank=True)
    due = models.DateField(null=True, blank=True)
    arms_drawn_at = models.DateTimeField(null=True, blank=True)
    arms_seed = models.PositiveIntegerField(default=0)
    arms_unit = models.CharField(
        max_length=12, choices=ArmsUnit.choices, default=ArmsUnit.CELL, db_default=ArmsUnit.CELL
    )
    blind_share = models.PositiveSmallIntegerField(default=0)
    reveal_share = models.PositiveSmallIntegerField(default=0)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["story__number", "slot"]
        constraints = [
            models.UniqueConstraint(
                fields=["story", "slot"], condition=Q(released_at__isnull=True), name="one_annotator_a_slot"
            ),
            models.UniqueConstraint(
                fields=["story", "annotator"], condition=Q(released_at__isnull=True), name="one_seat_an_annotator"
            ),
            models.CheckConstraint(
                condition=Q(slot__gte=1, slot__lte=F("overlap"), overlap__lte=9), name="slot_within_overlap"
            ),
        ]
        indexes = [models.Index(fields=["annotator", "released_at"], name="assignment_of_annotator")]
