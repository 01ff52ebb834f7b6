from django.db import models

from annotation.models import Project, Role
from core.messages import Sentence, gettext_noop, word


class Audience(models.TextChoices):
    """The lowest role that sees results of models. Admins always do."""

    ADMINS = "admin", gettext_noop("Admins only")
    EXPERTS = "expert", gettext_noop("Admins and experts")
    EVERYONE = "annotator", gettext_noop("Every member")

    @property
    def role(self) -> Role:
        return Role(self.value)


class ResultsVisibility(models.Model):
    """The members of a project who see results of models, so that these bias nobody who still labels. Without a row:
    admins only.

    `once_published`: experts and annotators of the audience only while the present gold is a published version that has
    every story of the project.
    """

    project = models.OneToOneField(Project, models.CASCADE, related_name="results_visibility")
    audience = models.CharField(max_length=10, choices=Audience.choices, default=Audience.ADMINS)
    once_published = models.BooleanField(default=False)

    @property
    def audience_text(self) -> str:
        """The members who see results, as the end of a sentence."""
        audience = Audience(self.audience)
        if not self.once_published or audience == Audience.ADMINS:
            return audience.label.lower()
        return Sentence(
            "admins, and {others} while gold is published",
            others=word("experts" if audience == Audience.EXPERTS else "every member"),
        )
