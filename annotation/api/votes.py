"""An annotator's own work. Nothing here shows, or depends on, what other annotators did."""

from django.utils import timezone
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import assignment_of, project_access
from annotation.api.description import STORY, operation
from annotation.domain.schema import cross_check
from annotation.forms.votes import ChangesIn
from annotation.models import Vote, workload
from annotation.services.votes import Refused, save_votes
from core.api.bodies import read_body
from core.api.errors import refusing
from core.api.fields import Strict, read_query
from core.api.listing import Listing


class AssignmentOut(serializers.Serializer):
    story = serializers.CharField(source="story.uid")
    number = serializers.IntegerField(source="story.number")
    category = serializers.CharField(source="story.category.name")
    begins = serializers.CharField(help_text="The first 120 characters of the story.")
    cells = serializers.IntegerField(help_text="Cells to label.")
    labelled = serializers.IntegerField(source="done", help_text="Cells that hold your vote.")
    finished = serializers.BooleanField()
    due = serializers.DateField(
        allow_null=True, help_text="The day by whose end (UTC) it is to be finished, if one is set."
    )
    late = serializers.BooleanField(help_text="Whether that day has passed.")


class VoteOut(serializers.ModelSerializer):
    proposition = serializers.CharField(source="proposition.uid")
    label = serializers.CharField(allow_blank=True, help_text="Empty where the vote was withdrawn.")

    class Meta:
        model = Vote
        fields = ("proposition", "dimension", "label", "changed_at", "idempotency_key", "duration_ms")
        read_only_fields = fields


class SavedOut(serializers.Serializer):
    idempotency_key = serializers.CharField()
    proposition = serializers.CharField()
    dimension = serializers.CharField()
    label = serializers.CharField(allow_blank=True, help_text="What stands in the cell now.")
    changed_at = serializers.DateTimeField(help_text="The time of what stands.")
    applied = serializers.BooleanField(help_text="False where a later change had already arrived.")


_WARNING = {
    "proposition": serializers.CharField(),
    "dimension": serializers.CharField(),
    "message": serializers.CharField(help_text="What sits oddly with your other labels. Nothing was refused."),
}


class ChangesOut(serializers.Serializer):
    saved = SavedOut(many=True, help_text="One for each change, in their order.")
    warnings = inline_serializer("WarningOut", _WARNING, many=True)


class Assignments(Listing):
    @operation("assignments_list", "labelling", answer=AssignmentOut(many=True), errors=(400,))
    def get(self, request: Request, slug: str) -> Response:
        """The stories that you label and how far you are, unfinished ones first."""
        access = project_access(request.user, slug)
        read_query(request, Strict)
        return self.page(workload.of_annotator(access.project, request.user), AssignmentOut)


_VOTE = {
    "proposition": "k7m2p9x4c3ta",
    "dimension": "truth_status",
    "label": "False",
    "changed_at": "2026-10-05T09:30:00Z",
    "idempotency_key": "6b0c9d0e-0d5f-4f0c-9a53-3d2f6f0b7a11",
    "duration_ms": 4200,
}


class Votes(Listing):
    @operation("votes_list", "labelling", STORY, answer=VoteOut(many=True), errors=(400,))
    def get(self, request: Request, slug: str, story: str) -> Response:
        """Your own votes in a story that you label, withdrawn ones with an empty label."""
        assignment = assignment_of(request.user, slug, story)
        read_query(request, Strict)
        rows = Vote.objects.on_gold().filter(annotator=request.user, proposition__table__story_id=assignment.story_id)
        return self.page(rows.select_related("proposition").order_by("proposition__position", "dimension"), VoteOut)

    @operation(
        "votes_save", "labelling", STORY, answer=ChangesOut, errors=(403,), body=ChangesIn,
        examples={"One vote": {"changes": [_VOTE]}},
    )  # fmt: skip
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Saves up to 200 changes of cells, all or none.

        Sending a change again is harmless: it is known by its idempotency_key. An empty label withdraws a vote. 422
        where a proposition is not in the story, a key was used for another cell, or a time cannot be.
        """
        assignment = assignment_of(request.user, slug, story)
        schema = assignment.story.project.schema
        changes = read_body(request, ChangesIn, schema=schema).changes
        with refusing(Refused):
            saved = save_votes(
                by=request.user, assignment=assignment, changes=changes, now=timezone.now(), origin="api"
            )
        warnings = [
            {"proposition": uid, "dimension": warning.dimension, "message": warning.message}
            for uid, vote in {vote.proposition: vote for vote in saved}.items()
            for warning in cross_check(schema, vote.actor, vote.row)
        ]
        return Response(ChangesOut({"saved": saved, "warnings": warnings}).data)
