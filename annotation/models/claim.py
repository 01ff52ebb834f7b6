from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.project import Project
from annotation.models.story import Story


class ClaimQuerySet(models.QuerySet):
    def in_force(self, now: datetime) -> ClaimQuerySet:
        return self.filter(until__gt=now)

    def of_others(self, expert, project: Project, now: datetime) -> ClaimQuerySet:
        """Return the claims in force that other experts have on stories of the project, with the experts' names."""
        return self.in_force(now).filter(story__project=project).exclude(expert=expert).select_related("expert")

    def take(self, expert, until: datetime, now: datetime) -> int:
        """Give the expert those claims that are the expert's own or have run out; return how many that were."""
        return self.filter(Q(expert=expert) | Q(until__lte=now)).update(expert=expert, until=until)


class Claim(models.Model):
    """An expert's claim on the cells of a story: until `until` no other expert decides there."""

    story = models.OneToOneField(Story, models.CASCADE, related_name="claim")
    expert = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    until = models.DateTimeField()

    objects = ClaimQuerySet.as_manager()
