from django.conf import settings
from django.db import models

from annotation.models import Project
from benchmark.models.run import Entrant


class SweepPick(models.Model):
    """Choice of a model of a sweep, at a level, for one metric group, and why.

    `launch` names the launch of the sweep as its runs do, and `entrant` is the model as asked in the run at that level.
    A later choice takes its place; the audit log has the earlier one.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    launch = models.CharField(max_length=64)
    group = models.CharField(max_length=60)
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["project", "launch", "group"], name="one_choice_a_launch_and_group")
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.entrant_id}"

    @property
    def seen(self) -> str:
        """Return what tells one choice from another that took its place."""
        return self.at.isoformat()
