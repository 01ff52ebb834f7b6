"""Leftovers of an interrupted archive import: a project under a working name, and its removal."""

from __future__ import annotations

from django.db import models

from annotation.domain.archive_format import BadArchive
from annotation.models import AnnotatorCounts, Project, StoryCounts, StoryEntry, User
from annotation.services.archive_rows import tables
from annotation.services.counts import forget_deleted
from annotation.services.short_writes import ShortWrites


def working_slug(slug: str) -> str:
    """Return the name of the project until everything is in."""
    return f"{slug[:50]}-importing"


def check_left_over(slug: str, discard: bool) -> None:
    """Raise BadArchive where something was left and `discard` is false."""
    left = Project.objects.filter(slug=working_slug(slug)).first()
    if left is None:
        return
    if not discard:
        raise left_over(slug)
    discard_project(left)


def left_over(slug: str) -> BadArchive:
    return BadArchive(
        f"Another import of {slug!r} is at work or was broken off; import_archive --discard takes away what it left."
    )


def discard_project(project: Project) -> None:
    """Delete a project that was never opened, in short transactions."""
    writes = ShortWrites()
    for counts in (AnnotatorCounts, StoryEntry, StoryCounts):
        counts.objects.filter(story__project=project).delete()
    for section in reversed(tables()):
        if section.model is Project:
            _discard(writes, User, User.objects.filter(imported_into=project))
        _discard(writes, section.model, section.rows(project))
    forget_deleted()


def _discard(writes: ShortWrites, model: type[models.Model], rows: models.QuerySet) -> None:
    while ids := list(rows.order_by("id").values_list("pk", flat=True)[: writes.rows]):
        with writes.transaction(len(ids)):
            # Nothing points to these rows any more; the audit log's own rows refuse every other way.
            doomed = models.QuerySet(model).filter(pk__in=ids)
            doomed._raw_delete(doomed.db)
