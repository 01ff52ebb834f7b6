"""Votes as they are posted: one shape for the labelling grid and for the API, which describes it. `schema` of the
context is the project's label schema."""

from typing import Annotated, Any

from django import forms
from django.utils.translation import gettext_lazy
from pydantic import Field, ValidationInfo, field_validator

from annotation.forms.values import MAX_LABEL, MESSAGE, REMARK
from annotation.models import FlagKind
from annotation.services.votes import MAX_CHANGES
from core import ids
from core.incoming.misfit import refusal
from core.incoming.shapes import Counted, Like, Moment, Shape, Within
from core.messages import Sentence, gettext_noop
from core.page_fields import LikeField, PageForm


class CommentForm(PageForm):
    text = LikeField(MESSAGE, widget=forms.Textarea({"rows": 3}), label=gettext_lazy("Comment"))


class FlagForm(PageForm):
    kind = forms.ChoiceField(choices=FlagKind.choices, label=gettext_lazy("What should be done with it?"))
    remark = LikeField(REMARK, widget=forms.Textarea({"rows": 3}), label=gettext_lazy("Why"))


UID = f"^{ids.UID}$"
DIMENSION_KEY = r"^[a-z][a-z0-9_]{0,19}$"
DIMENSION_HELP = "Key of one of the project's dimensions, which the project's own address lists."
MAX_DURATION_MS = 2**31 - 1

UID_TEXT = Like(UID, gettext_noop("a uid of 12 small letters and digits"))
Uid = Annotated[str, UID_TEXT]
Dimension = Annotated[str, Like(DIMENSION_KEY, gettext_noop("the key of a dimension"))]
Label = Annotated[
    str,
    Like(
        rf"^[^\u0000]{{0,{MAX_LABEL}}}$",
        Sentence(
            "a label as a text of at most {max_label} characters, empty to withdraw the vote", max_label=MAX_LABEL
        ),
    ),
]
Key = Annotated[
    str,
    Like(r"^[A-Za-z0-9._:-]{1,64}$", gettext_noop("1 to 64 letters, digits, dots, colons, hyphens and underscores")),
]
NoKey = Annotated[str, Like(r"^[A-Za-z0-9._:-]{0,64}$", gettext_noop("the idempotency_key of an earlier change"))]
Milliseconds = Annotated[
    int,
    Within(
        0,
        MAX_DURATION_MS,
        Sentence("a whole number of milliseconds from 0 to {max_duration_ms}", max_duration_ms=MAX_DURATION_MS),
        pointed=True,
    ),
]


class ChangeIn(Shape):
    """A change of one cell."""

    proposition: Uid = Field(description="uid of a proposition of the story")
    dimension: Dimension = Field(description=DIMENSION_HELP)
    label: Label
    changed_at: Moment = Field(
        description=(
            "Your own clock, with its zone. Of two changes of a cell the later one stands, in whatever order "
            "they arrive."
        )
    )
    idempotency_key: Key = Field(
        description="Made by you, unique to the change (a UUID will do): sent again, it counts once."
    )
    duration_ms: Milliseconds | None = Field(None, description="From looking at the cell to choosing.")
    undoes: NoKey = Field("", description="idempotency_key of your earlier change that this one takes back.")

    @field_validator("dimension")
    @classmethod
    def _is_known(cls, key: str, info: ValidationInfo[dict[str, Any]]) -> str:
        schema = info.context["schema"]
        if key not in schema:
            raise refusal(
                Sentence("one of {keys}", keys=", ".join(schema.keys)),
                Sentence("{key} is not a dimension of this project", key=repr(key)),
            )
        return key

    @field_validator("label")
    @classmethod
    def _is_legal(cls, label: str, info: ValidationInfo[dict[str, Any]]) -> str:
        schema, dimension = info.context["schema"], info.data.get("dimension")
        if label and dimension and not schema.is_legal(dimension, label):
            legal = ", ".join(schema[dimension].values)
            raise refusal(
                Sentence("one of {legal}, or nothing to withdraw", legal=legal),
                Sentence("{label} is not a label of {dimension}", label=repr(label), dimension=dimension),
            )
        return label


class ChangesIn(Shape):
    changes: Annotated[list[ChangeIn], Counted(1, MAX_CHANGES)]


class GridChangeIn(ChangeIn):
    """A change by the grid, which also tells what became of a suggestion."""

    saw: bool = False
    accepted: bool = False


class GridChangesIn(Shape):
    """`annotator` is who made the changes, as the browser remembers it."""

    annotator: int | None = None
    changes: Annotated[list[GridChangeIn], Counted(1, MAX_CHANGES)]
