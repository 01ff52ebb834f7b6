from __future__ import annotations

from annotation.models import AuditEvent, Project, User


def record(*, by: User | None, project: Project | None, action: str, target: str = "", **details) -> AuditEvent:
    """Write one row of the audit log; call it inside the transaction of the change that it tells of.

    `action` is `noun.verb` (membership.changed); `details` must be JSON-serialisable and hold no secret.
    """
    return AuditEvent.objects.create(project=project, actor=by, action=action, target=target[:200], details=details)
