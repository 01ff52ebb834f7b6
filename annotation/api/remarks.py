"""Comments on cells and flags on propositions: an annotator's own, and experts' answers to flags."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import ProjectAccess, assignment_of, project_access, unfinished
from annotation.api.description import FLAG, SLUG, STORY, answers
from annotation.api.shapes.remarks import CommentIn, CommentOut, FlagFilter, FlagIn, FlagOut, OutcomeIn
from annotation.models import Assignment, CellComment, FlagKind, Proposition, PropositionFlag, Role
from annotation.services import remarks
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.errors import CannotBeDone, Conflict
from core.api.fields import Strict, read_query
from core.api.listing import Listing
from core.idempotency.requests import PARAMETER, made_once

_COMMENT = {"proposition": "k7m2p9x4c3ta", "dimension": "order", "text": "Does “is angry” name a mind?"}
_FLAG = {"proposition": "k7m2p9x4c3ta", "kind": "split", "remark": "It says two things."}
_OUTCOME = {"outcome": "accepted", "text": "Split into two rows."}


def _row(assignment: Assignment, uid: str) -> Proposition:
    """Return a proposition of the story that is labelled. Raises CannotBeDone where it has no such one."""
    row = Proposition.objects.gold_of(assignment.story).filter(uid=uid).first()
    if row is None:
        raise CannotBeDone({"proposition": ["There is no such proposition in this story."]})
    return row


class Comments(Listing):
    @extend_schema(
        operation_id="comments_list",
        tags=["labelling"],
        parameters=[SLUG, STORY],
        responses=answers(CommentOut(many=True), 400),
    )
    def get(self, request: Request, slug: str, story: str) -> Response:
        """Your threads with the experts in a story that you label; nobody else's."""
        assignment = assignment_of(request.user, slug, story)
        read_query(request, Strict)
        rows = CellComment.objects.filter(
            thread_of=request.user, proposition__table__story_id=assignment.story_id
        ).select_related("proposition", "author")
        return self.page(rows.order_by("created_at", "id"), CommentOut)

    @extend_schema(
        operation_id="comments_add",
        tags=["labelling"],
        parameters=[SLUG, STORY, PARAMETER],
        request={"application/json": CommentIn},
        examples=[OpenApiExample("A question", value=_COMMENT, request_only=True)],
        responses=answers(CommentOut, 403, *BODY, status=201),
    )
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Says something about a cell to the experts. 422 where the proposition is not in the story."""
        assignment = assignment_of(request.user, slug, story)
        comment = read_body(request, CommentIn)
        if comment.dimension not in assignment.story.project.schema:
            raise CannotBeDone({"dimension": ["There is no such dimension."]})
        place = {"proposition": _row(assignment, comment.proposition), "dimension": comment.dimension}
        add = {"by": request.user, "thread_of": request.user, "text": comment.text}
        uid = made_once(request, lambda: remarks.add_comment(**place, **add).uid)
        return Response(CommentOut(get_object_or_404(CellComment, uid=uid)).data, status=201)


class OwnFlags(Listing):
    @extend_schema(
        operation_id="flags_own",
        tags=["labelling"],
        parameters=[SLUG, STORY],
        responses=answers(FlagOut(many=True), 400),
    )
    def get(self, request: Request, slug: str, story: str) -> Response:
        """Your flags in a story that you label, with what became of them."""
        assignment = assignment_of(request.user, slug, story)
        read_query(request, Strict)
        rows = PropositionFlag.objects.filter(
            author=request.user, proposition__table__story_id=assignment.story_id
        ).select_related("proposition__table__story", "author", "outcome_by")
        return self.page(rows.order_by("-created_at", "-id"), FlagOut)

    @extend_schema(
        operation_id="flags_add",
        tags=["labelling"],
        parameters=[SLUG, STORY, PARAMETER],
        request={"application/json": FlagIn},
        examples=[OpenApiExample("Two things in one row", value=_FLAG, request_only=True)],
        responses=answers(FlagOut, 403, *BODY, status=201),
    )
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Says that a proposition itself is wrong. 422 where you said so of it already, or it is not in the story."""
        assignment = assignment_of(request.user, slug, story)
        posted = read_body(request, FlagIn)
        row, kind = _row(assignment, posted.proposition), FlagKind(posted.kind)
        try:
            uid = made_once(
                request, lambda: remarks.flag(by=request.user, proposition=row, kind=kind, remark=posted.remark).uid
            )
        except remarks.RemarkRefused as refusal:
            raise CannotBeDone(str(refusal)) from refusal
        return Response(FlagOut(get_object_or_404(PropositionFlag, uid=uid)).data, status=201)


class Flags(Listing):
    @extend_schema(
        operation_id="flags_list",
        tags=["gold"],
        parameters=[SLUG, FlagFilter],
        responses=answers(FlagOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Everybody's flags on propositions, those that wait first. Experts and admins; without stories that you still
        label."""
        access = project_access(request.user, slug, role=Role.EXPERT)
        outcome = read_query(request, FlagFilter).get("outcome")
        rows = _flags(access).order_by("outcome", "-created_at", "-id")
        if outcome:
            rows = rows.filter(outcome="" if outcome == "open" else outcome)
        return self.page(rows, FlagOut)


class OneFlag(GenericAPIView):
    @extend_schema(
        operation_id="flags_decide",
        tags=["gold"],
        parameters=[SLUG, FLAG],
        request={"application/json": OutcomeIn},
        examples=[OpenApiExample("An answer", value=_OUTCOME, request_only=True)],
        responses=answers(FlagOut, 403, 409, *BODY),
    )
    def post(self, request: Request, slug: str, flag: str) -> Response:
        """Accepts or declines a flag, with a word to whoever raised it; the table stays as it is. 409 where somebody
        did so before."""
        access = project_access(request.user, slug, role=Role.EXPERT)
        row = _flags(access).filter(uid=flag).first()
        if row is None:
            raise Http404("There is no such flag.")
        answer = read_body(request, OutcomeIn)
        outcome = {"outcome": answer.outcome, "text": answer.text}
        if not remarks.decide_flag(by=request.user, flag=row, now=timezone.now(), **outcome):
            raise Conflict("Somebody decided this flag before you; nothing was changed.")
        return Response(FlagOut(_flags(access).get(pk=row.pk)).data)


def _flags(access: ProjectAccess) -> QuerySet[PropositionFlag]:
    rows = PropositionFlag.objects.filter(proposition__table__story__project=access.project)
    others = rows.exclude(proposition__table__story__in=unfinished(access))
    return others.select_related("proposition__table__story__project", "author", "outcome_by")
