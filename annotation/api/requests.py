"""Bodies and filters of requests. That of votes is `annotation.forms.votes`, which the grid reads by, too."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator
from rest_framework import serializers

from annotation.api.dimensions import DimensionKey, labels_of
from annotation.domain.drafts import LONGEST
from annotation.domain.formats import GOLD, VOTES
from annotation.domain.tables import MAX_ROWS
from annotation.forms.votes import UID
from annotation.models import ErrorTag, Method
from core.api.fields import Pattern, Strict
from core.incoming.misfit import refusal
from core.incoming.shapes import Among, Counted, Like, Shape

MAX_REASON = 2000
Label = Annotated[str, Like(r"^[^\u0000]{1,40}$", "a label")]
Version = Annotated[str, Like(r"^([0-9a-f]{20})?$", "20 hexadecimal digits, or nothing")]
Reason = Annotated[
    str, Like(r"^[^\u0000]*$", f"a text of at most {MAX_REASON} characters, without NUL", max_length=MAX_REASON)
]
Tag = Annotated[str, Among(["", *ErrorTag.values])]


class StoryFilter(Strict):
    split = Pattern(r"^[-\w]+$", max_length=40, required=False, help_text="Only stories of this split.")
    category = serializers.RegexField(
        r"^[^\u0000]+$",
        max_length=120,
        required=False,
        trim_whitespace=False,
        help_text="Only stories of this category, spelt as it is there.",
    )


class GoldFilter(StoryFilter):
    story = Pattern(UID, required=False, help_text="Only cells of this story.")
    dimension = DimensionKey(required=False)
    method = serializers.ChoiceField(
        Method.choices, required=False, help_text="How the cell was settled; open waits for an expert."
    )


class ExportOptions(Strict):
    complete = serializers.ChoiceField(
        ["true"], required=False, help_text=f"{GOLD.key}: only stories without an unlabelled cell."
    )
    pseudonyms = serializers.ChoiceField(
        ["true"], required=False, help_text=f"{VOTES.key}: annotators as A1, A2, … instead of user names."
    )


def _text(name: str, least: str = "+") -> Like:
    most = LONGEST[name]
    return Like(rf"^[^\u0000]{least}$", f"a text of at most {most} characters, without NUL", max_length=most)


class TableRowIn(Shape):
    """A proposition of a belief table."""

    actor: Annotated[str, _text("actor")]
    belief: Annotated[str, _text("belief")]
    order: Annotated[str, _text("order", least="*")] = ""


TableRows = Annotated[list[TableRowIn], Counted(1, MAX_ROWS)]


class TableIn(Shape):
    """The belief table of a story, in its order."""

    rows: TableRows
    replace: bool = Field(False, description="Writes over a table that is there.")

    @classmethod
    def described(cls) -> dict[str, Any]:
        """The shape as JSON Schema, with that of its rows inside it."""
        described = super().described()
        described["properties"]["rows"]["items"] = described.pop("$defs")["TableRowIn"]
        return described


class DecisionIn(Shape):
    """An expert's decision on one cell."""

    label: Label = Field(description="One of the labels of the dimension.")
    version: Version = Field(description="version of the gold label that you saw; empty where there was none.")
    reason: Reason = ""
    error_tag: Tag = ""
    guideline_flag: bool = Field(False, description="Puts the case on the guideline's list.")

    @field_validator("label")
    @classmethod
    def _is_known(cls, label: str, info: ValidationInfo) -> str:
        labels = labels_of([info.context["schema"]])
        if label not in labels:
            raise refusal(f"one of {', '.join(labels)}", f"{label!r} is not a label of this project")
        return label
