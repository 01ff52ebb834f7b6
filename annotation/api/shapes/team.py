"""Members and what a project adds to the guidelines: bodies and answers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from rest_framework import serializers

from annotation.forms.values import ADDITION, ROLES
from annotation.forms.votes import Dimension
from annotation.models import Guideline, Membership, Role
from core.incoming.shapes import SPACE, Among, Given, Like, Shape, may_lack


def person() -> Like:
    return Like(rf"^[^{SPACE}\u0000]{{1,150}}$", "a user name")


class MemberIn(Shape):
    """A member, and the role that they get."""

    user: Annotated[str, person()] = Field(description="User name of a member.")
    role: Annotated[str, Among(ROLES)]


class RemovalIn(Shape):
    """A membership that ends."""

    user: Annotated[str, person()]
    release_unfinished: bool = Field(
        False, description="Releases the stories that they have not finished, which withdraws their votes there."
    )


class GuidelineIn(Given):
    """What the project adds to the guideline of a dimension; a text that is left out stays."""

    dimension: Dimension
    text: Annotated[str, ADDITION] = may_lack("Markdown, in English; empty takes it away.")
    text_zh: Annotated[str, ADDITION] = may_lack("Markdown, in Chinese; empty takes it away.")


class MemberOut(serializers.ModelSerializer):
    user = serializers.CharField(source="user.username")
    name = serializers.CharField(source="user.shown_name", help_text="As others see it.")
    role = serializers.ChoiceField(Role.choices)

    class Meta:
        model = Membership
        fields = ("user", "name", "role", "since")
        read_only_fields = fields


class RemovalOut(serializers.Serializer):
    user = serializers.CharField()
    released = serializers.IntegerField(help_text="Stories that went back.")


class GuidelineOut(serializers.ModelSerializer):
    text = serializers.CharField(allow_blank=True, help_text="Markdown, in English.")
    text_zh = serializers.CharField(allow_blank=True, help_text="Markdown, in Chinese.")

    class Meta:
        model = Guideline
        fields = ("dimension", "text", "text_zh")
        read_only_fields = fields
