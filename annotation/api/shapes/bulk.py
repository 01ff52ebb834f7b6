"""Decisions on many open cells at once: filter, bodies and answers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from rest_framework import serializers

from annotation.api.dimensions import DimensionKey
from annotation.api.shapes.corpus import StoryFilter
from annotation.domain.stories import MAX_CATEGORY_LENGTH, MAX_SPLIT_LENGTH
from annotation.forms.values import REMARK, Label, Tag, whole
from annotation.forms.votes import DIMENSION_KEY, Dimension, Uid
from annotation.services.adjudication_bulk import MOST_ALIKE
from core.incoming.shapes import Counted, Like, Moment, Shape


class MajoritiesFilter(StoryFilter):
    dimension = DimensionKey(required=False)


class MajoritiesIn(Shape):
    """What the preview was asked for, and when it was made."""

    seen_until: Moment = Field(description="As the preview said it.")
    dimension: Annotated[str, Like(rf"^$|{DIMENSION_KEY}", "the key of a dimension, or nothing")] = ""
    category: Annotated[str, Like(r"^[^\u0000]*$", "the name of a category", max_length=MAX_CATEGORY_LENGTH)] = ""
    split: Annotated[str, Like(r"^[-\w]*$", "the name of a split", max_length=MAX_SPLIT_LENGTH)] = ""


class SeenCellIn(Shape):
    """An open cell of the dimension, as it was seen."""

    proposition: Uid
    version: Annotated[str, Like(r"^[0-9a-f]{20}$", "20 hexadecimal digits")]


class AlikeIn(Shape):
    """One decision for many open cells."""

    dimension: Dimension
    label: Label
    reason: Annotated[str, REMARK]
    error_tag: Tag = ""
    cells: Annotated[list[SeenCellIn], Counted(1, MOST_ALIKE)]

    @classmethod
    def described(cls) -> dict[str, Any]:
        return whole(super().described())


class LeadingOut(serializers.Serializer):
    total = serializers.IntegerField(help_text="Open cells that have a leading label.")
    by_dimension = serializers.DictField(child=serializers.IntegerField())
    tied = serializers.IntegerField(help_text="Open cells in which no label leads.")
    voted_on = serializers.IntegerField(help_text="Open cells on which you voted; others decide them.")
    seen_until = serializers.DateTimeField(help_text="Send it back to accept what was seen.")


class SettledOut(serializers.Serializer):
    settled = serializers.IntegerField(help_text="Cells that were decided.")
