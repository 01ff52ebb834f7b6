"""Gold labels with their lineage, and experts' decisions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import ProjectAccess, closed_gold, project_access, unfinished
from annotation.api.cells import cell_of, gold_of
from annotation.api.description import DIMENSION, PROPOSITION, SLUG, answers
from annotation.api.shapes.gold import CaseIn, CellsOut, DecisionIn, GoldFilter, GoldOut, TakenBackIn, version_of
from annotation.domain.gold_votes import from_json
from annotation.models import GoldLabel, Proposition, Role, User, adjudication_queue
from annotation.services import adjudication
from annotation.services.last_decisions import last_action
from annotation.services.resolution import Cell
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.errors import CannotBeDone, Conflict
from core.api.fields import Strict, read_query
from core.api.listing import Listing

_EXAMPLE = {"label": "False", "version": "5d41402abc4b2a76b971", "reason": "Ines saw it moved.", "error_tag": "slip"}
_TAKEN_BACK = {"cells": [{"proposition": "k7m2p9x4c3ta", "dimension": "truth_status", "revision": 2}]}


class Gold(Listing):
    @extend_schema(
        operation_id="gold_list",
        tags=["gold"],
        parameters=[SLUG, GoldFilter],
        responses=answers(GoldOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Cells that have all their votes, with method, who, when, why and the votes they rest on. Experts and admins.

        Stories that you have open work on are left out, but for those whose cells you may decide. A cell without a row
        here keeps the label of its imported record, if it has one; the export holds both.
        """
        access = project_access(request.user, slug, role=Role.EXPERT)
        chosen = read_query(request, GoldFilter, schema=access.project.schema)
        filters = {name: chosen[name] for name in ("dimension", "category", "split") if name in chosen}
        rows = adjudication_queue.cells(access.project, unfinished=closed_gold(access), status="all", **filters)
        if "method" in chosen:
            rows = rows.filter(method=chosen["method"])
        if "story" in chosen:
            rows = rows.filter(proposition__table__story__uid=chosen["story"])
        rows = rows.select_related("proposition__table__story", "decided_by").defer(
            "proposition__table__story__text", "proposition__table__story__translations", "proposition__belief"
        )
        ordered = rows.order_by("proposition__table__story__number", "proposition__position", "dimension")
        page = self.paginate_queryset(ordered)
        return self.answer(page, GoldOut, **_context(access.user, page))


class OneCell(GenericAPIView):
    @extend_schema(
        operation_id="gold_read",
        tags=["gold"],
        parameters=[SLUG, PROPOSITION, DIMENSION],
        responses=answers(GoldOut, 403),
    )
    def get(self, request: Request, slug: str, proposition: str, dimension: str) -> Response:
        """One cell; 404 where it has no gold label yet. Experts and admins."""
        row = self._row(request, slug, proposition, dimension)
        gold = gold_of(row, dimension)
        if row.table.story_id in unfinished(self.access):
            raise PermissionDenied("You still label this story yourself; finish it first.")
        if gold is None:
            raise Http404("This cell has no gold label yet.")
        return self._answer(gold)

    @extend_schema(
        operation_id="gold_decide",
        tags=["gold"],
        parameters=[SLUG, PROPOSITION, DIMENSION],
        request={"application/json": DecisionIn},
        examples=[OpenApiExample("A decision", value=_EXAMPLE, request_only=True)],
        responses=answers(GoldOut, 403, 409, *BODY),
    )
    def post(self, request: Request, slug: str, proposition: str, dimension: str) -> Response:
        """Adjudicates a cell. Experts and admins who have not voted on it.

        409 where the cell is no longer what `version` names: nothing is overwritten. 422 where the rules refuse it,
        such as overruling settled votes without a reason.
        """
        row = self._row(request, slug, proposition, dimension)
        chosen = read_body(request, DecisionIn, schema=self.access.project.schema).model_dump(exclude_unset=True)
        seen = chosen.pop("version")
        place = {"proposition": row, "dimension": dimension}
        gold = gold_of(row, dimension)
        try:
            adjudication.check_independence(by=request.user, **place)
            if version_of(gold) != seen:
                raise adjudication.DecidedMeanwhile(gold)
            state = {"revision": gold.revision, "row": gold.pk} if gold else {"revision": 0, "row": 0}
            decided = adjudication.adjudicate(by=request.user, now=timezone.now(), **place, **state, **chosen)
        except adjudication.DecidedMeanwhile as refusal:
            raise Conflict(str(refusal)) from refusal
        except adjudication.AdjudicationRefused as refusal:
            raise CannotBeDone(str(refusal)) from refusal
        return self._answer(decided)

    def _row(self, request: Request, slug: str, proposition: str, dimension: str) -> Proposition:
        self.access, row = cell_of(request, slug, proposition, dimension)
        return row

    def _answer(self, gold: GoldLabel) -> Response:
        return Response(GoldOut(gold, context=_context(self.access.user, [gold])).data)


class GuidelineCase(GenericAPIView):
    @extend_schema(
        operation_id="gold_file",
        tags=["gold"],
        parameters=[SLUG, PROPOSITION, DIMENSION],
        request={"application/json": CaseIn},
        examples=[OpenApiExample("A case", value={"filed": True}, request_only=True)],
        responses=answers(GoldOut, 403, *BODY),
    )
    def post(self, request: Request, slug: str, proposition: str, dimension: str) -> Response:
        """Puts a cell on the list of cases for the guideline, or takes it off; the label stays as it is. Experts and
        admins. 422 for a cell without a gold label, and in a story that you still label."""
        access, row = cell_of(request, slug, proposition, dimension)
        filed = read_body(request, CaseIn).filed
        try:
            adjudication.file_case(by=request.user, proposition=row, dimension=dimension, filed=filed)
        except adjudication.AdjudicationRefused as refusal:
            raise CannotBeDone(str(refusal)) from refusal
        gold = gold_of(row, dimension)
        return Response(GoldOut(gold, context=_context(access.user, [gold])).data)


class Undo(GenericAPIView):
    @extend_schema(
        operation_id="gold_last",
        tags=["gold"],
        parameters=[SLUG],
        responses=answers(CellsOut, 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The decisions that you took last and can take back: one cell, or all that were decided at once; none where
        there is nothing. Experts and admins; without stories that you still label."""
        access = project_access(request.user, slug, role=Role.EXPERT)
        read_query(request, Strict)
        events = last_action(by=request.user, project=access.project)
        return _standing(access, {(event.proposition_id, event.dimension) for event in events})

    @extend_schema(
        operation_id="gold_undo",
        tags=["gold"],
        parameters=[SLUG],
        request={"application/json": TakenBackIn},
        examples=[OpenApiExample("One cell", value=_TAKEN_BACK, request_only=True)],
        responses=answers(CellsOut, 403, 409, *BODY),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Takes your last decision on each of these cells back, all or none: the decision before it returns, else the
        result of the rule. Sent again it changes nothing.

        The answer is the cells that still have a gold label. 409 where one has another `revision`; 422 where the
        decision that stands is not your own.
        """
        access = project_access(request.user, slug, role=Role.EXPERT)
        asked = read_body(request, TakenBackIn)
        rows = _propositions(access, {cell.proposition for cell in asked.cells})
        if any(cell.dimension not in access.project.schema for cell in asked.cells):
            raise CannotBeDone({"cells": ["There is no such dimension."]})
        cells = {(rows[cell.proposition], cell.dimension): cell.revision for cell in asked.cells}
        try:
            adjudication.undo_decisions(by=request.user, project=access.project, cells=cells, now=timezone.now())
        except adjudication.DecidedMeanwhile as refusal:
            raise Conflict(str(refusal)) from refusal
        except adjudication.AdjudicationRefused as refusal:
            raise CannotBeDone(str(refusal)) from refusal
        return _standing(access, set(cells))


def _propositions(access: ProjectAccess, uids: set[str]) -> dict[str, int]:
    """Return the ids of propositions by uid. Raises CannotBeDone where one is in no gold table of the project."""
    rows = Proposition.objects.live_gold().filter(table__story__project=access.project, uid__in=uids)
    ids = dict(rows.values_list("uid", "pk"))
    if set(ids) != uids:
        raise CannotBeDone({"cells": ["There is no such proposition in a gold table."]})
    return ids


def _standing(access: ProjectAccess, cells: Collection[Cell]) -> Response:
    """Return these cells as they stand, but for those of stories that the expert still labels."""
    rows = GoldLabel.objects.filter(proposition__in={proposition for proposition, _ in cells})
    others = rows.exclude(proposition__table__story__in=unfinished(access)) if cells else rows
    labels = others.select_related("proposition__table__story", "decided_by").order_by("proposition", "dimension")
    standing = [gold for gold in labels if (gold.proposition_id, gold.dimension) in cells]
    return Response(CellsOut({"cells": standing}, context=_context(access.user, standing)).data)


def _context(user: User, page: Sequence[GoldLabel]) -> dict:
    met = {vote.annotator for gold in page for vote in from_json(gold.votes)}
    names = dict(User.objects.filter(pk__in=met).values_list("pk", "username"))
    return {"names": names, "voted": adjudication_queue.voted_on(user, {gold.proposition_id for gold in page})}
