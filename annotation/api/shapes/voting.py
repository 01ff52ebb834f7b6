"""Assignments and votes: answers. The body of votes is `annotation.forms.votes`, which the grid reads by, too."""

from __future__ import annotations

from rest_framework import serializers

from annotation.models import Vote


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


class WarningOut(serializers.Serializer):
    proposition = serializers.CharField()
    dimension = serializers.CharField()
    message = serializers.CharField(help_text="What sits oddly with your other labels. Nothing was refused.")


class ChangesOut(serializers.Serializer):
    saved = SavedOut(many=True, help_text="One for each change, in their order.")
    warnings = WarningOut(many=True)
