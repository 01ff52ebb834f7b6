"""A cell of a gold table as an expert reaches it."""

from __future__ import annotations

from django.http import Http404
from rest_framework.request import Request

from annotation.access import ProjectAccess, project_access, proposition_of
from annotation.models import GoldLabel, Proposition, Role, TableKind


def cell_of(request: Request, slug: str, proposition: str, dimension: str) -> tuple[ProjectAccess, Proposition]:
    """Return the project and the proposition of a cell. Raises Http404 for removed ones, experts' drafts and unknown
    dimensions."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    row = proposition_of(access, proposition)
    live = row.table.kind == TableKind.GOLD and row.removed_at is None
    if dimension not in access.project.schema or not live:
        raise Http404("There is no such cell.")
    row.table.story.project = access.project
    return access, row


def gold_of(row: Proposition, dimension: str) -> GoldLabel | None:
    rows = GoldLabel.objects.filter(proposition=row, dimension=dimension)
    return rows.select_related("proposition__table__story", "decided_by").first()
