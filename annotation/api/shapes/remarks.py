"""Comments on cells and flags on propositions: filter, bodies and answers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from rest_framework import serializers

from annotation.forms.values import MESSAGE, OUTCOMES, REMARK, Reason
from annotation.forms.votes import Dimension, Uid
from annotation.models import CellComment, FlagKind, PropositionFlag
from core.api.fields import Strict
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
