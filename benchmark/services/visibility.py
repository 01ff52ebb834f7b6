"""Who sees results of models."""

from __future__ import annotations

from django.db import transaction

from annotation.models import Project, User
from annotation.services import audit
from benchmark.models import Audience, ResultsVisibility


@transaction.atomic
def set_audience(*, by: User, project: Project, audience: Audience) -> None:
    held = ResultsVisibility.objects.select_for_update().filter(project=project).first()
    before = held.audience if held else Audience.ADMINS.value
    if before == audience:
        return
    ResultsVisibility.objects.update_or_create(project=project, defaults={"audience": audience})
    audit.record(by=by, project=project, action="results.shown", target=project.slug, before=before, after=audience)
