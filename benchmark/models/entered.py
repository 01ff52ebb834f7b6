from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Project
from core.ids import OpaqueModel
from core.messages import gettext_noop
from core.stored_json import LongJSONField


class EnteredKind(models.TextChoices):
    HUMAN = "human", gettext_noop("People")
    PUBLISHED = "published", gettext_noop("Published model")


class EnteredRow(OpaqueModel):
    """Figures of a paper that somebody entered as a row beside what a suite came to in this project; nothing here
    computed them.

    `figures` are texts of per cent, as `source` prints them, by the key of a figure that the suite lets be entered.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="entered_rows")
    suite = models.CharField(max_length=100)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=12, choices=EnteredKind.choices)
    source = models.CharField(max_length=400)
    metrics = LongJSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["suite", "kind", "name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "suite", "name"], name="one_entered_row_a_name"),
            models.CheckConstraint(condition=Q(kind__in=EnteredKind.values), name="entered_row_kind"),
            models.CheckConstraint(condition=~Q(name="") & ~Q(source=""), name="entered_row_says_its_source"),
        ]

    def __str__(self) -> str:
        return self.name
