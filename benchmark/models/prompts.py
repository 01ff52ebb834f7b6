from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models import Project
from core.ids import OpaqueModel


class StoredPromptSet(OpaqueModel):
    """A team's own prompts: `files` by name, as loaded. A set that a run used is never changed; another wording is
    another set."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="prompt_sets")
    name = models.SlugField(max_length=60)
    files = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_prompt_set_a_name")]

    def __str__(self) -> str:
        return self.name
