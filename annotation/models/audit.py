from django.conf import settings
from django.db import models

from annotation.models.append_only import AppendOnlyModel
from annotation.models.project import Project
from core.stored_json import LongJSONField


class AuditEvent(AppendOnlyModel):
    """A record of who did what to which object, when; written in the same transaction as the change itself."""

    append_only = "The audit log is append-only."

    project = models.ForeignKey(Project, models.PROTECT, null=True, blank=True, related_name="audit_events")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True, db_index=True)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=200, blank=True)
    details = LongJSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["project", "action"], name="audit_by_action")]
