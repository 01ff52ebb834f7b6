"""Projects, their settings and guidelines."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from annotation.models import Guideline, Membership, Project, Proposition, Role, User, Vote
from annotation.services import audit
from annotation.services.resolution import resolve_cells

RULES = ("overlap", "unanimity_dimensions")
_BATCH = 500


@transaction.atomic
def create_project(*, by: User, slug: str, name: str, description: str = "") -> Project:
    project = Project.objects.create(slug=slug, name=name, description=description)
    Membership.objects.create(project=project, user=by, role=Role.ADMIN)
    audit.record(by=by, project=project, action="project.created", target=slug)
    return project


@transaction.atomic
def change_settings(*, by: User, project: Project, changes: dict, now: datetime) -> list[str]:
    """Writes the fields that differ, with one audit row, and settles every cell anew where a rule changed.

    Returns the names of the fields that changed.
    """
    before = {name: getattr(project, name) for name, value in changes.items() if getattr(project, name) != value}
    if not before:
        return []
    for name in before:
        setattr(project, name, changes[name])
    project.save(update_fields=list(before))
    after = {name: changes[name] for name in before}
    audit.record(by=by, project=project, action="project.changed", target=project.slug, before=before, after=after)
    if set(before) & set(RULES):
        resolve_again(project=project, now=now, by=by)
    return list(before)


def resolve_again(*, project: Project, now: datetime, by: User | None = None) -> None:
    """Applies the project's rule to all cells that have votes; adjudicated labels stand."""
    ids = Proposition.objects.live_gold().filter(table__story__project=project).order_by("id")
    for batch in _batches(list(ids.values_list("id", flat=True))):
        cells = Vote.objects.filter(proposition_id__in=batch).values_list("proposition_id", "dimension").distinct()
        resolve_cells(project=project, cells=cells, now=now, by=by)


def _batches(ids: list[int]):
    return (ids[at : at + _BATCH] for at in range(0, len(ids), _BATCH))


@transaction.atomic
def write_guideline(*, by: User, project: Project, dimension: str, text: str) -> None:
    held, _ = Guideline.objects.get_or_create(project=project, dimension=dimension)
    if held.text != text:
        audit.record(by=by, project=project, action="guideline.changed", target=dimension, before=held.text, after=text)
        held.text = text
        held.save()
