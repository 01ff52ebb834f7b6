"""Bodies and filters of requests. That of votes is `annotation.forms.votes`, which the grid reads by, too."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator
from rest_framework import serializers

from annotation.api.dimensions import DimensionKey, labels_of
from annotation.domain.drafts import LONGEST, RowState
from annotation.domain.formats import GOLD, VOTES
from annotation.domain.reconciliation import LaneState, Status
from annotation.domain.tables import MAX_ROWS
from annotation.forms.drafts import Place
from annotation.forms.lanes import MAX_DECISIONS
from annotation.forms.votes import DIMENSION_KEY, UID, Dimension, Key, Uid
from annotation.models import ErrorTag, FlagKind, Method, Origin, Role
from annotation.services.adjudication_bulk import MOST_ALIKE
from annotation.services.drafts import MAX_CHANGES, RowChange
from annotation.services.reconciliation import Decision
from core.api.fields import Pattern, Strict
from core.incoming.misfit import refusal
from core.incoming.shapes import Among, Counted, Given, Like, Moment, Shape, Within, may_lack

MAX_REASON = 2000
Label = Annotated[str, Like(r"^[^\u0000]{1,40}$", "a label")]
Version = Annotated[str, Like(r"^([0-9a-f]{20})?$", "20 hexadecimal digits, or nothing")]
Reason = Annotated[
    str, Like(r"^[^\u0000]*$", f"a text of at most {MAX_REASON} characters, without NUL", max_length=MAX_REASON)
]
TAGS = ("", *ErrorTag.values)
Tag = Annotated[str, Among(TAGS)]
ROLES = tuple(Role.values)


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
        return _whole(super().described())


def _whole(described: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema with the shapes that it names inside it."""
    inner = described.pop("$defs", {})

    def put(part: Any) -> Any:
        if isinstance(part, list):
            return [put(one) for one in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return put(inner[part["$ref"].rpartition("/")[2]])
        return {name: put(one) for name, one in part.items()}

    whole: dict[str, Any] = put(described)
    return whole


class RowIn(Shape):
    """A row as it shall be; rows stand in the order of `place`."""

    actor: Annotated[str, _text("actor", least="*")] = ""
    belief: Annotated[str, _text("belief", least="*")] = ""
    order: Annotated[str, _text("order", least="*")] = ""
    remark: Annotated[str, _text("remark", least="*")] = ""
    place: Place


class DraftRowIn(RowIn):
    removed: bool = Field(False, description="Takes the row away; its words are kept.")

    @property
    def state(self) -> RowState:
        return RowState(**self.__dict__)


class LaneRowIn(RowIn):
    status: Annotated[str, Among([status.value for status in Status])] = ""

    @property
    def state(self) -> LaneState:
        return LaneState(**self.__dict__)


class _ChangeIn(Shape):
    row: Uid = Field(description="uid of the row; made by you for a new one.")
    idempotency_key: Key = Field(description="Made by you, unique to the change: sent again, it counts once.")
    changed_at: Moment


class DraftChangeIn(_ChangeIn):
    base: DraftRowIn | None = Field(None, description="The row as you saw it; left out for a new one.")
    state: DraftRowIn

    @property
    def change(self) -> RowChange:
        key = self.idempotency_key
        return RowChange(
            self.row,
            self.base and self.base.state,
            self.state.state,
            key,
            key,
            "delete" if self.state.removed else "paste",
            self.changed_at,
            origin=Origin.PASTED.value,
        )


class DraftRowsIn(Shape):
    """Changes of rows of your own draft."""

    changes: Annotated[list[DraftChangeIn], Counted(1, MAX_CHANGES)]

    @classmethod
    def described(cls) -> dict[str, Any]:
        return _whole(super().described())


class LaneChangeIn(_ChangeIn):
    base: LaneRowIn | None = Field(None, description="The row as you saw it; left out for a new one.")
    state: LaneRowIn

    @property
    def decision(self) -> Decision:
        key, base = self.idempotency_key, self.base and self.base.state
        return Decision(self.row, base, self.state.state, key, key, self.changed_at)


class LaneRowsIn(Shape):
    """Decisions on rows of the lanes."""

    changes: Annotated[list[LaneChangeIn], Counted(1, MAX_DECISIONS)]

    @classmethod
    def described(cls) -> dict[str, Any]:
        return _whole(super().described())


class LinkIn(Shape):
    """Two rows that are one, or one that is two."""

    row: Uid
    other: Uid | None = None
    idempotency_key: Key = Field(description="Made by you, unique to the link: sent again, it counts once.")


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


_EMAIL = r"^$|^[^\s\u0000@,;]+@[^\s\u0000@,;]+\.[^\s\u0000@,;.]+$"
_ADDITION = Like(r"^[^\u0000]*$", "a text of at most 20000 characters, without NUL", max_length=20_000)


def _words(most: int) -> Like:
    expected = f"a text of at most {most} characters that says something, without NUL"
    return Like(r"^[^\u0000]*[^\s\u0000][^\u0000]*$", expected, max_length=most)


def _person() -> Like:
    return Like(r"^[^\s\u0000]{1,150}$", "a user name")


class MajoritiesFilter(StoryFilter):
    dimension = DimensionKey(required=False)


class MajoritiesIn(Shape):
    """What the preview was asked for, and when it was made."""

    seen_until: Moment = Field(description="As the preview said it.")
    dimension: Annotated[str, Like(rf"^$|{DIMENSION_KEY}", "the key of a dimension, or nothing")] = ""
    category: Annotated[str, Like(r"^[^\u0000]*$", "the name of a category", max_length=120)] = ""
    split: Annotated[str, Like(r"^[-\w]*$", "the name of a split", max_length=40)] = ""


class SeenCellIn(Shape):
    """An open cell of the dimension, as it was seen."""

    proposition: Uid
    version: Annotated[str, Like(r"^[0-9a-f]{20}$", "20 hexadecimal digits")]


class CaseIn(Shape):
    """Whether a cell is on the list of cases for the guideline."""

    filed: bool


class DecidedCellIn(Shape):
    """A cell that you decided, as it was seen."""

    proposition: Uid
    dimension: Dimension
    revision: Annotated[int, Within(0, 2**31 - 1, "the revision of a gold label", pointed=True)] = Field(
        description="revision of its gold label."
    )


class TakenBackIn(Shape):
    """Decisions of your own that are taken back."""

    cells: Annotated[list[DecidedCellIn], Counted(1, MOST_ALIKE)]

    @classmethod
    def described(cls) -> dict[str, Any]:
        return _whole(super().described())


class AlikeIn(Shape):
    """One decision for many open cells."""

    dimension: Dimension
    label: Label
    reason: Annotated[str, _words(MAX_REASON)]
    error_tag: Tag = ""
    cells: Annotated[list[SeenCellIn], Counted(1, MOST_ALIKE)]

    @classmethod
    def described(cls) -> dict[str, Any]:
        return _whole(super().described())


class CommentIn(Shape):
    """A message of the thread between you and the experts about one cell."""

    proposition: Uid
    dimension: Dimension
    text: Annotated[str, _words(4000)]


class ReplyIn(Shape):
    """An answer of the experts to an annotator."""

    thread: Uid = Field(description="As the list of messages says it.")
    text: Annotated[str, _words(4000)]


class FlagIn(Shape):
    """A report that a proposition itself is wrong."""

    proposition: Uid
    kind: Annotated[str, Among(FlagKind.values)] = Field(description="What should be done with it.")
    remark: Annotated[str, _words(MAX_REASON)]


class FlagFilter(Strict):
    outcome = serializers.ChoiceField(
        ["open", "accepted", "declined"], required=False, help_text="Only flags that stand so."
    )


class OutcomeIn(Shape):
    """An answer to a flag; the table itself is changed on its own address."""

    outcome: Annotated[str, Among(["accepted", "declined"])]
    text: Reason = ""


class MemberIn(Shape):
    """Somebody with an account, and the role that they shall have."""

    user: Annotated[str, _person()] = Field(description="User name of an account of this site.")
    role: Annotated[str, Among(ROLES)]


class InvitationIn(Shape):
    """What the link is for."""

    role: Annotated[str, Among(ROLES)]
    email: Annotated[str, Like(_EMAIL, "an e-mail address, or nothing", max_length=254)] = Field(
        "", description="To know the link by; nothing is sent to it."
    )


class RemovalIn(Shape):
    """A membership that ends."""

    user: Annotated[str, _person()]
    release_unfinished: bool = Field(
        False, description="Releases the stories that they have not finished, which withdraws their votes there."
    )


class GuidelineIn(Given):
    """What the project adds to the guideline of a dimension; a text that is left out stays."""

    dimension: Dimension
    text: Annotated[str, _ADDITION] = may_lack("Markdown, in English; empty takes it away.")
    text_zh: Annotated[str, _ADDITION] = may_lack("Markdown, in Chinese; empty takes it away.")
