"""Who sees results of models."""

from __future__ import annotations

from django.db import transaction

from annotation.models import Project, User
from annotation.services import audit
from benchmark.models import Audience, ResultsVisibility


@transaction.atomic
def set_audience(*, by: User | None, project: Project, audience: Audience, once_frozen: bool | None = None) -> None:
    """`once_frozen` None leaves it as it is."""
    held = ResultsVisibility.objects.select_for_update().filter(project=project).first()
    held = held or ResultsVisibility(project=project)
    before = (held.audience, held.once_frozen)
    after = (Audience(audience).value, held.once_frozen if once_frozen is None else once_frozen)
    if before == after:
        return
    held.audience, held.once_frozen = after
    held.save()
    told = {"before": before[0], "after": after[0], "once_frozen": after[1]}
    audit.record(by=by, project=project, action="results.shown", target=project.slug, **told)
