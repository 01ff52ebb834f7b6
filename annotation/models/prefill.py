from django.conf import settings
from django.db import models

from annotation.domain.tables import TableRow
from annotation.models.belief_table import Proposition
from annotation.models.project import Project
from annotation.models.story import Story
from core.ids import OpaqueModel
from core.messages import gettext_noop
from workers.models import Call, Endpoint, Job


class RoundKind(models.TextChoices):
    """Kind of answer that a round asks a model for."""

    LABELS = "labels", gettext_noop("Labels of propositions")
    TABLES = "tables", gettext_noop("Drafts of belief tables")


class Prefill(OpaqueModel):
    """A round of suggestions for the stories of a project, by one model with one prompt. Drafts of tables have one
    prompt, without levels."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="prefills")
    job = models.OneToOneField(Job, models.PROTECT, related_name="prefill")
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="prefills")
    kind = models.CharField(max_length=8, choices=RoundKind.choices, default=RoundKind.LABELS)
    level = models.PositiveSmallIntegerField(null=True, blank=True)
    prompt = models.CharField(max_length=40)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


class SuggestionQuerySet(models.QuerySet["Suggestion"]):
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


class SuggestedRow(OpaqueModel):
    """A row of a model's draft of a story's belief table, and the call that it came from. A story has one draft; its
    rows stay as they came once anybody could have seen them.

    `source` names the model for people, also where the ledger is elsewhere (an imported archive).
    """

    story = models.ForeignKey(Story, models.CASCADE, related_name="suggested_rows")
    number = models.PositiveSmallIntegerField()
    actor = models.CharField(max_length=200)
    belief = models.TextField()
    order_text = models.CharField(max_length=40, blank=True)
    source = models.CharField(max_length=200)
    call = models.ForeignKey(Call, models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["story", "number"]
        constraints = [models.UniqueConstraint(fields=["story", "number"], name="one_suggested_row_a_number")]

    @property
    def words(self) -> TableRow:
        return TableRow(self.actor, self.belief, self.order_text)
