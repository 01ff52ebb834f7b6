from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.append_only import AppendOnly, AppendOnlyQuerySet
from annotation.models.project import Project


class AuditQuerySet(AppendOnlyQuerySet):
    sentence = "The audit log is append-only."


class AuditEvent(models.Model):
    """A record of who did what to which object, when; written in the same transaction as the change itself."""

    project = models.ForeignKey(Project, models.PROTECT, null=True, blank=True, related_name="audit_events")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True, db_index=True)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=200, blank=True)
    details = models.JSONField(default=dict, blank=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["project", "action"], name="audit_by_action")]

    def save(self, *args, **kwargs) -> None:
        if self.pk is not None:
            raise AppendOnly("The audit log is append-only.")
        super().save(*args, **kwargs)

    def delete(self, *args, **kwargs):
        raise AppendOnly("The audit log is append-only.")
