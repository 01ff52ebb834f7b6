"""The API's words: what each object says of itself. Ids are the opaque uids of the pages."""

from __future__ import annotations

from datetime import UTC

from rest_framework import serializers

from annotation.domain.schema import SCHEMA
from annotation.models import ErrorTag, GoldLabel, Project, Proposition, Story, Vote
from annotation.services.votes import MAX_CHANGES


class ProjectOut(serializers.ModelSerializer):
    role = serializers.SerializerMethodField(help_text="Your role: annotator, expert or admin.")

    class Meta:
        model = Project
        fields = (
            "slug",
            "name",
            "description",
            "overlap",
            "unanimity_dimensions",
            "schema_version",
            "rule_version",
            "role",
        )

    def get_role(self, project: Project) -> str:
        return self.context["roles"].get(project.pk, "admin")


class StoryOut(serializers.ModelSerializer):
    category = serializers.CharField(source="category.name")
    split = serializers.CharField(source="split.name", default=None, allow_null=True)
    translations = serializers.DictField(child=serializers.CharField())

    class Meta:
        model = Story
        fields = ("uid", "number", "category", "split", "text", "language", "translations")


class PropositionOut(serializers.ModelSerializer):
    class Meta:
        model = Proposition
        fields = ("uid", "position", "actor", "belief")


class AssignmentOut(serializers.Serializer):
    story = serializers.CharField(source="story.uid")
    number = serializers.IntegerField(source="story.number")
    cells = serializers.IntegerField(help_text="Cells to label.")
    done = serializers.IntegerField(help_text="Cells that you have labelled.")
    finished = serializers.BooleanField()


class VoteOut(serializers.ModelSerializer):
    proposition = serializers.CharField(source="proposition.uid")

    class Meta:
        model = Vote
        fields = ("proposition", "dimension", "label", "changed_at", "client_key", "duration_ms")


class TextField(serializers.CharField):
    """A text without control characters, which no label or key has."""

    def to_internal_value(self, data) -> str:
        text = super().to_internal_value(data)
        if not text.isprintable():
            raise serializers.ValidationError("Expected printable characters only.")
        return text


class ChangeIn(serializers.Serializer):
    proposition = TextField(max_length=12)
    dimension = serializers.ChoiceField(choices=SCHEMA.keys)
    label = TextField(max_length=40, allow_blank=True, help_text="Empty withdraws the vote.")
    changed_at = serializers.DateTimeField(
        default_timezone=UTC, help_text="Your clock; of two changes the later one stands."
    )
    client_key = TextField(max_length=64, help_text="Unique to the change: sent again, it counts once.")
    duration_ms = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=2**31 - 1)


class ChangesIn(serializers.Serializer):
    changes = serializers.ListField(child=ChangeIn(), min_length=1, max_length=MAX_CHANGES)


class SavedOut(serializers.Serializer):
    client_key = serializers.CharField()
    proposition = serializers.CharField()
    dimension = serializers.CharField()
    label = serializers.CharField(allow_blank=True)
    applied = serializers.BooleanField(help_text="False where a later change had already arrived.")


class ChangesOut(serializers.Serializer):
    saved = SavedOut(many=True)


class RestsOn(serializers.Serializer):
    annotator = serializers.IntegerField()
    label = serializers.CharField()
    key = serializers.CharField()


class GoldOut(serializers.ModelSerializer):
    story = serializers.CharField(source="proposition.table.story.uid")
    proposition = serializers.CharField(source="proposition.uid")
    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)
    votes = RestsOn(many=True, help_text="The votes that the label rests on.")

    class Meta:
        model = GoldLabel
        fields = (
            "story", "proposition", "dimension", "label", "method", "agreement", "votes", "decided_by", "decided_at",
            "reason", "error_tag", "guideline_flag", "disturbed", "rule_version", "schema_version", "revision",
        )  # fmt: skip


class DecisionIn(serializers.Serializer):
    label = TextField(max_length=40)
    revision = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, help_text="That of the gold label you saw; 0 for none."
    )
    reason = TextField(max_length=2000, required=False, allow_blank=True, default="")
    error_tag = serializers.ChoiceField(choices=ErrorTag.choices, required=False, allow_blank=True, default="")
    guideline_flag = serializers.BooleanField(required=False, default=False)


class AgreementOut(serializers.Serializer):
    """As the command `agreement` prints it."""

    stories = serializers.IntegerField()
    propositions = serializers.IntegerField()
    annotators = serializers.IntegerField()
    incomplete = serializers.IntegerField()
    overall = serializers.DictField()
    dimensions = serializers.DictField(child=serializers.DictField())
