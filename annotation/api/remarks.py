"""Comments on cells and flags on propositions: an annotator's own, and experts' answers to flags."""

from functools import partial
from typing import Annotated

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from pydantic import Field
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import assignment_of, project_access, unfinished
from annotation.api.description import FLAG, STORY, operation
from annotation.forms.values import MESSAGE, OUTCOMES, REMARK, Reason
from annotation.forms.votes import Dimension, Uid
from annotation.models import Assignment, CellComment, FlagKind, Proposition, PropositionFlag, Role
from annotation.services import remarks
from core.api.bodies import read_body
from core.api.errors import CannotBeDone, Conflict, refusing
from core.api.fields import Strict, read_query
from core.api.listing import Listing
from core.idempotency.requests import PARAMETER, made_once
from core.incoming.shapes import Among, Shape


class CommentIn(Shape):
    """A message of the thread between you and the experts about one cell."""

    proposition: Uid
    dimension: Dimension
    text: Annotated[str, MESSAGE]


class FlagIn(Shape):
    """A report that a proposition itself is wrong."""

    proposition: Uid
    kind: Annotated[str, Among(FlagKind.values)] = Field(description="What should be done with it.")
    remark: Annotated[str, REMARK]


class FlagFilter(Strict):
    outcome = serializers.ChoiceField(["open", *OUTCOMES], required=False, help_text="Only flags that stand so.")


class OutcomeIn(Shape):
    """An answer to a flag; the table itself is changed on its own address."""

    outcome: Annotated[str, Among(OUTCOMES)]
    text: Reason = ""


class CommentOut(serializers.ModelSerializer):
    comment = serializers.CharField(source="uid")
    proposition = serializers.CharField(source="proposition.uid")
    by = serializers.CharField(source="author.username")

    class Meta:
        model = CellComment
        fields = ("comment", "proposition", "dimension", "by", "text", "created_at")
        read_only_fields = fields


class FlagOut(serializers.ModelSerializer):
    flag = serializers.CharField(source="uid")
    proposition = serializers.CharField(source="proposition.uid")
    story = serializers.CharField(source="proposition.table.story.uid")
    number = serializers.IntegerField(source="proposition.table.story.number", help_text="The story's number.")
    by = serializers.CharField(source="author.username")
    outcome = serializers.ChoiceField(OUTCOMES, allow_blank=True, help_text="Empty while it waits.")
    outcome_by = serializers.CharField(source="outcome_by.username", default=None, allow_null=True)
    outcome_text = serializers.CharField(allow_blank=True)

    class Meta:
        model = PropositionFlag
        fields = (
            "flag", "story", "number", "proposition", "kind", "remark", "by", "created_at", "outcome", "outcome_by",
            "outcome_at", "outcome_text",
        )  # fmt: skip
        read_only_fields = fields


def _row(assignment: Assignment, uid: str) -> Proposition:
    """Return a proposition of the assignment's story. Raises CannotBeDone."""
    row = Proposition.objects.gold_of(assignment.story).filter(uid=uid).first()
    if row is None:
        raise CannotBeDone({"proposition": ["There is no such proposition in this story."]})
    return row


class Comments(Listing):
    @operation("comments_list", "labelling", STORY, answer=CommentOut(many=True), errors=(400,))
    def get(self, request: Request, slug: str, story: str) -> Response:
        """Your threads with the experts in a story that you label; nobody else's."""
        assignment = assignment_of(request.user, slug, story)
        read_query(request, Strict)
        rows = CellComment.objects.filter(
            thread_of=request.user, proposition__table__story_id=assignment.story_id
        ).select_related("proposition", "author")
        return self.page(rows.order_by("created_at", "id"), CommentOut)

    @operation(
        "comments_add", "labelling", STORY, PARAMETER, answer=CommentOut, errors=(403,), body=CommentIn, status=201,
        examples={"A question": {
            "proposition": "k7m2p9x4c3ta", "dimension": "order", "text": "Does “is angry” name a mind?",
        }},
    )  # fmt: skip
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Says something about a cell to the experts. 422 where the proposition is not in the story."""
        assignment = assignment_of(request.user, slug, story)
        comment = read_body(request, CommentIn)
        if comment.dimension not in assignment.story.project.schema:
            raise CannotBeDone({"dimension": ["There is no such dimension."]})
        row, user = _row(assignment, comment.proposition), request.user
        add = partial(remarks.add_comment, by=user, thread_of=user, proposition=row, dimension=comment.dimension)
        uid = made_once(request, lambda: add(text=comment.text).uid)
        return Response(CommentOut(get_object_or_404(CellComment, uid=uid)).data, status=201)


class OwnFlags(Listing):
    @operation("flags_own", "labelling", STORY, answer=FlagOut(many=True), errors=(400,))
    def get(self, request: Request, slug: str, story: str) -> Response:
        """Your flags in a story that you label, with what became of them."""
        assignment = assignment_of(request.user, slug, story)
        read_query(request, Strict)
        rows = PropositionFlag.objects.filter(
            author=request.user, proposition__table__story_id=assignment.story_id
        ).select_related("proposition__table__story", "author", "outcome_by")
        return self.page(rows.order_by("-created_at", "-id"), FlagOut)

    @operation(
        "flags_add", "labelling", STORY, PARAMETER, answer=FlagOut, errors=(403,), body=FlagIn, status=201,
        examples={"Two things in one row": {
            "proposition": "k7m2p9x4c3ta", "kind": "split", "remark": "It says two things.",
        }},
    )  # fmt: skip
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Says that a proposition itself is wrong. 422 where you said so of it already, or it is not in the story."""
        assignment = assignment_of(request.user, slug, story)
        posted = read_body(request, FlagIn)
        row, kind = _row(assignment, posted.proposition), FlagKind(posted.kind)
        flag = partial(remarks.flag, by=request.user, proposition=row, kind=kind, remark=posted.remark)
        with refusing(remarks.RemarkRefused):
            uid = made_once(request, lambda: flag().uid)
        return Response(FlagOut(get_object_or_404(PropositionFlag, uid=uid)).data, status=201)


class Flags(Listing):
    @operation("flags_list", "gold", FlagFilter, answer=FlagOut(many=True), errors=(400, 403))
    def get(self, request: Request, slug: str) -> Response:
        """Everybody's flags on propositions, those that wait first. Experts and admins; without stories that you still
        label."""
        access = project_access(request.user, slug, role=Role.EXPERT)
        outcome = read_query(request, FlagFilter).get("outcome")
        rows = remarks.flags_of(access.project, unfinished=unfinished(access))
        if outcome:
            rows = rows.filter(outcome="" if outcome == "open" else outcome)
        return self.page(rows, FlagOut)


class OneFlag(GenericAPIView):
    @operation(
        "flags_decide", "gold", FLAG, answer=FlagOut, errors=(403, 409), body=OutcomeIn,
        examples={"An answer": {"outcome": "accepted", "text": "Split into two rows."}},
    )  # fmt: skip
    def post(self, request: Request, slug: str, flag: str) -> Response:
        """Accepts or declines a flag, with a word to whoever raised it; the table stays as it is. 409 where somebody
        did so before."""
        access = project_access(request.user, slug, role=Role.EXPERT)
        rows = remarks.flags_of(access.project, unfinished=unfinished(access))
        row = rows.filter(uid=flag).first()
        if row is None:
            raise Http404("There is no such flag.")
        outcome = read_body(request, OutcomeIn).model_dump()
        if not remarks.decide_flag(by=request.user, flag=row, now=timezone.now(), **outcome):
            raise Conflict("Somebody decided this flag before you; nothing was changed.")
        return Response(FlagOut(rows.get(pk=row.pk)).data)
