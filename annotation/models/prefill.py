from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.belief_table import Proposition
from annotation.models.project import Project
from core.ids import OpaqueModel
from workers.models import Call, Endpoint, Job


class Prefill(OpaqueModel):
    """A round of suggestions for the stories of a project, by one model with one prompt."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="prefills")
    job = models.OneToOneField(Job, models.PROTECT, related_name="prefill")
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="prefills")
    level = models.PositiveSmallIntegerField()
    prompt = models.CharField(max_length=40)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


class SuggestionQuerySet(models.QuerySet):
    def labels(self) -> dict[tuple[int, str], str]:
        """Return (proposition id, dimension) → suggested label."""
        return {(at, key): label for at, key, label in self.values_list("proposition_id", "dimension", "label")}


class Suggestion(models.Model):
    """The label that a model suggests for one cell, and the call that it came from. A cell has one; it stays once
    anybody could have seen it.

    `source` names the model for people, also where the ledger is elsewhere (an imported archive).
    """

    proposition = models.ForeignKey(Proposition, models.CASCADE, related_name="suggestions")
    dimension = models.CharField(max_length=20)
    label = models.CharField(max_length=40)
    source = models.CharField(max_length=200)
    call = models.ForeignKey(Call, models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField()

    objects = SuggestionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["proposition", "dimension"], name="one_suggestion_a_cell"),
            models.CheckConstraint(condition=~models.Q(label=""), name="suggestion_has_label"),
        ]
