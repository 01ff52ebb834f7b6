"""An annotator's own work. Nothing here shows, or depends on, what other annotators did."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import assignment_of, project_access
from annotation.api.description import SLUG, STORY, answers
from annotation.api.shapes.voting import AssignmentOut, ChangesOut, VoteOut
from annotation.domain.schema import Schema, cross_check
from annotation.forms.votes import ChangesIn
from annotation.models import Vote, workload
from annotation.services.votes import Refused, Saved, save_votes
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.errors import CannotBeDone
from core.api.fields import Strict, read_query
from core.api.listing import Listing

_EXAMPLE = {
    "changes": [
        {
            "proposition": "k7m2p9x4c3ta",
            "dimension": "truth_status",
            "label": "False",
            "changed_at": "2026-10-05T09:30:00Z",
            "idempotency_key": "6b0c9d0e-0d5f-4f0c-9a53-3d2f6f0b7a11",
            "duration_ms": 4200,
        }
    ]
}


class Assignments(Listing):
    @extend_schema(
        operation_id="assignments_list",
        tags=["labelling"],
        parameters=[SLUG],
        responses=answers(AssignmentOut(many=True), 400),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The stories that you label and how far you are, unfinished ones first."""
        access = project_access(request.user, slug)
        read_query(request, Strict)
        dimensions = len(access.project.schema.dimensions)
        return self.page(workload.of_annotator(access.project, request.user, dimensions), AssignmentOut)


class Votes(Listing):
    @extend_schema(
        operation_id="votes_list",
        tags=["labelling"],
        parameters=[SLUG, STORY],
        responses=answers(VoteOut(many=True), 400),
    )
    def get(self, request: Request, slug: str, story: str) -> Response:
        """Your own votes in a story that you label, withdrawn ones with an empty label."""
        assignment = assignment_of(request.user, slug, story)
        read_query(request, Strict)
        rows = Vote.objects.filter(
            annotator=request.user,
            proposition__table__story_id=assignment.story_id,
            proposition__table__kind="gold",
            proposition__removed_at__isnull=True,
        )
        ordered = rows.select_related("proposition").order_by("proposition__position", "dimension")
        return self.page(ordered, VoteOut)

    @extend_schema(
        operation_id="votes_save",
        tags=["labelling"],
        parameters=[SLUG, STORY],
        request={"application/json": ChangesIn},
        examples=[OpenApiExample("One vote", value=_EXAMPLE, request_only=True)],
        responses=answers(ChangesOut, 403, *BODY),
    )
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Saves up to 200 changes of cells, all or none.

        Sending a change again is harmless: it is known by its idempotency_key. An empty label withdraws a vote. 422
        where a proposition is not in the story, a key was used for another cell, or a time cannot be.
        """
        assignment = assignment_of(request.user, slug, story)
        schema = assignment.story.project.schema
        changes = [entry.change for entry in read_body(request, ChangesIn, schema=schema).changes]
        try:
            saved = save_votes(
                by=request.user, assignment=assignment, changes=changes, now=timezone.now(), origin="api"
            )
        except Refused as refusal:
            raise CannotBeDone(str(refusal)) from refusal
        return Response(ChangesOut({"saved": saved, "warnings": _warnings(schema, saved)}).data)


def _warnings(schema: Schema, saved: list[Saved]) -> list[dict]:
    rows = {vote.proposition: vote for vote in saved}
    return [
        {"proposition": uid, "dimension": warning.dimension, "message": warning.message}
        for uid, vote in rows.items()
        for warning in cross_check(schema, vote.actor, vote.row)
    ]
