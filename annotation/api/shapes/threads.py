"""Threads between annotators and experts: body and answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from rest_framework import serializers

from annotation.forms.values import MESSAGE
from annotation.forms.votes import Uid
from core.incoming.shapes import Shape


class ReplyIn(Shape):
    """An answer of the experts to an annotator."""

    thread: Uid = Field(description="As the list of messages says it.")
    text: Annotated[str, MESSAGE]


class SaidOut(serializers.Serializer):
    """A message of a thread about a cell, as experts see it."""

    thread = serializers.CharField(help_text="Send it with a reply.")
    comment = serializers.CharField()
    by = serializers.CharField(
        allow_null=True, help_text="null for the annotator whose thread it is, while they may not be named."
    )
    text = serializers.CharField()
    created_at = serializers.DateTimeField()
