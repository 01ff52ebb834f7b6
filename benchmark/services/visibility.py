"""Visibility of the results of models."""

from __future__ import annotations

from django.db import transaction

from annotation.models import Project, User
from annotation.services import audit
from benchmark.models import Audience, ResultsVisibility


@transaction.atomic
def set_audience(*, by: User | None, project: Project, audience: Audience, once_frozen: bool | None = None) -> None:
    """`once_frozen` None leaves it as it is."""
    setting = ResultsVisibility.objects.select_for_update().filter(project=project).first()
    setting = setting or ResultsVisibility(project=project)
    before = (setting.audience, setting.once_frozen)
    after = (Audience(audience).value, setting.once_frozen if once_frozen is None else once_frozen)
    if before == after:
        return
    setting.audience, setting.once_frozen = after
    setting.save()
    details = {"before": before[0], "after": after[0], "once_frozen": after[1]}
    audit.record(by=by, project=project, action="results.shown", target=project.slug, **details)
