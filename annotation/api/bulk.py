"""Experts' decisions on many open cells at once, with a preview."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import ProjectAccess, project_access, unfinished
from annotation.api.description import SLUG, answers
from annotation.api.shapes.bulk import AlikeIn, LeadingOut, MajoritiesFilter, MajoritiesIn, SettledOut
from annotation.api.shapes.gold import version_of
from annotation.models import GoldLabel, Role, adjudication_queue
from annotation.services import adjudication_bulk as bulk
from annotation.services.adjudication import AdjudicationRefused
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.errors import CannotBeDone, Conflict
from core.api.fields import read_query

_CELLS = [{"proposition": "k7m2p9x4c3ta", "version": "5d41402abc4b2a76b971"}]
_ALIKE = {"dimension": "truth_status", "label": "False", "reason": "Nobody saw it moved.", "cells": _CELLS}


class Majorities(GenericAPIView):
    @extend_schema(
        operation_id="majorities_preview",
        tags=["gold"],
        parameters=[SLUG, MajoritiesFilter],
        responses=answers(LeadingOut, 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """How many open cells have a label with more votes than any other, by dimension, and how many stay open.
        Experts and admins; nothing changes."""
        access, now = project_access(request.user, slug, role=Role.EXPERT), timezone.now()
        chosen = read_query(request, MajoritiesFilter, schema=access.project.schema)
        leading = bulk.preview(by=request.user, cells=_open(access, chosen))
        counts = {"by_dimension": leading.by_dimension, "tied": leading.tied, "voted_on": leading.voted_on}
        return Response(LeadingOut(counts | {"total": leading.total, "seen_until": now}).data)

    @extend_schema(
        operation_id="majorities_accept",
        tags=["gold"],
        parameters=[SLUG],
        request={"application/json": MajoritiesIn},
        responses=answers(SettledOut, 403, *BODY),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Settles these cells in your name by their leading label. Decided cells, ties, cells on which you voted and
        cells that changed after `seen_until`, the time of the preview, stay as they are."""
        access, now = project_access(request.user, slug, role=Role.EXPERT), timezone.now()
        chosen = read_body(request, MajoritiesIn)
        filters = {name: value for name in ("dimension", "category", "split") if (value := getattr(chosen, name))}
        settled = bulk.accept_plurality(
            by=request.user,
            project=access.project,
            cells=_open(access, filters),
            seen_until=chosen.seen_until,
            now=now,
        )
        return Response(SettledOut({"settled": settled}).data)


def _open(access: ProjectAccess, filters: Mapping[str, str]) -> QuerySet[GoldLabel]:
    return adjudication_queue.cells(access.project, unfinished=unfinished(access), status="open", **filters)


class Alike(GenericAPIView):
    @extend_schema(
        operation_id="gold_decide_alike",
        tags=["gold"],
        parameters=[SLUG],
        request={"application/json": AlikeIn},
        examples=[OpenApiExample("One cell", value=_ALIKE, request_only=True)],
        responses=answers(SettledOut, 403, 409, *BODY),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Decides open cells of one dimension by one label, all or none; the reason stays with each.

        409 where a cell is no longer what its `version` names; 422 where the rules refuse it, such as a cell that is
        settled, or on which you voted.
        """
        access = project_access(request.user, slug, role=Role.EXPERT)
        asked = read_body(request, AlikeIn)
        if asked.dimension not in access.project.schema:
            raise CannotBeDone({"dimension": ["There is no such dimension."]})
        seen = {cell.proposition: cell.version for cell in asked.cells}
        rows = adjudication_queue.of_project(access.project).filter(
            proposition__uid__in=seen, dimension=asked.dimension
        )
        standing = {gold.proposition.uid: gold for gold in rows.select_related("proposition")}
        if any(version_of(standing.get(uid)) != version for uid, version in seen.items()):
            raise Conflict("One of the cells changed since you saw it; nothing was decided.")
        cells = {(gold.proposition_id, gold.dimension): gold.revision for gold in standing.values()}
        decision = {"label": asked.label, "reason": asked.reason, "error_tag": asked.error_tag}
        try:
            bulk.decide_alike(by=request.user, project=access.project, cells=cells, now=timezone.now(), **decision)
        except AdjudicationRefused as refusal:
            raise CannotBeDone(str(refusal)) from refusal
        return Response(SettledOut({"settled": len(cells)}).data)
