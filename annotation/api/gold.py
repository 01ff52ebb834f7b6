"""Gold labels with their lineage, and experts' decisions."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access, proposition_of, unfinished
from annotation.api.description import DIMENSION, PROPOSITION, SLUG, answers
from annotation.api.requests import DecisionIn, GoldFilter
from annotation.api.shapes import GoldOut, version_of
from annotation.models import GoldLabel, Proposition, Role, TableKind, User, adjudication_queue
from annotation.services import adjudication
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.fields import read_query
from core.api.listing import Listing
from core.api.refusals import CannotBeDone, Conflict

_EXAMPLE = {"label": "False", "version": "5d41402abc4b2a76b971", "reason": "Ines saw it moved.", "error_tag": "slip"}


class Gold(Listing):
    @extend_schema(
        operation_id="gold_list",
        tags=["gold"],
        parameters=[SLUG, GoldFilter],
        responses=answers(GoldOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Cells that have all their votes, with method, who, when, why and the votes they rest on. Experts and admins.

        Stories that you still label yourself are left out. A cell without a row here keeps the label of its imported
        record, if it has one; the export holds both.
        """
        access = project_access(request.user, slug, role=Role.EXPERT)
        chosen = read_query(request, GoldFilter, schema=access.project.schema)
        filters = {name: chosen[name] for name in ("dimension", "category", "split") if name in chosen}
        rows = adjudication_queue.cells(access.project, unfinished=unfinished(access), status="all", **filters)
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
        gold = _held(row, dimension)
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
        gold = _held(row, dimension)
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
        self.access = project_access(request.user, slug, role=Role.EXPERT)
        row = proposition_of(self.access, proposition)
        live = row.table.kind == TableKind.GOLD and row.removed_at is None
        if dimension not in self.access.project.schema or not live:
            raise Http404("There is no such cell.")
        row.table.story.project = self.access.project
        return row

    def _answer(self, gold: GoldLabel) -> Response:
        return Response(GoldOut(gold, context=_context(self.access.user, [gold])).data)


def _held(row: Proposition, dimension: str) -> GoldLabel | None:
    rows = GoldLabel.objects.filter(proposition=row, dimension=dimension)
    return rows.select_related("proposition__table__story", "decided_by").first()


def _context(user: User, page: Sequence[GoldLabel]) -> dict:
    met = {vote["annotator"] for gold in page for vote in gold.votes}
    names = dict(User.objects.filter(pk__in=met).values_list("pk", "username"))
    return {"names": names, "voted": adjudication_queue.voted_on(user, {gold.proposition_id for gold in page})}
