"""Visibility of the results of models."""

from django.db import transaction

from annotation.models import Project, Role, User
from annotation.services import audit
from benchmark.models import Audience, ResultsVisibility
from benchmark.services.datasets import gold_is_published


def visibility_of(project: Project) -> ResultsVisibility:
    return ResultsVisibility.objects.filter(project=project).first() or ResultsVisibility(project=project)


def shows_results(project: Project, role: Role) -> bool:
    """Return whether members of this role may see what models came to; a project keeps it from those who could be
    biased."""
    if role == Role.ADMIN:
        return True
    visibility = visibility_of(project)
    invited = role.rank >= Audience(visibility.audience).role.rank
    return invited and (not visibility.once_published or gold_is_published(project))


@transaction.atomic
def set_audience(*, by: User | None, project: Project, audience: Audience, once_published: bool | None = None) -> None:
    """`once_published` None leaves it as it is."""
    setting = ResultsVisibility.objects.select_for_update().filter(project=project).first()
    setting = setting or ResultsVisibility(project=project)
    before = (setting.audience, setting.once_published)
    after = (Audience(audience).value, setting.once_published if once_published is None else once_published)
    if before == after:
        return
    setting.audience, setting.once_published = after
    setting.save()
    details = {"before": before[0], "after": after[0], "once_published": after[1]}
    audit.record(by=by, project=project, action="results.shown", target=project.slug, **details)
