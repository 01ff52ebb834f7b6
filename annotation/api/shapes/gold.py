"""Gold labels and experts' decisions: filter, bodies and answers."""

from __future__ import annotations

from typing import Annotated, Any

from django.utils.crypto import salted_hmac
from pydantic import Field, ValidationInfo, field_validator
from rest_framework import serializers

from annotation.api.dimensions import DimensionKey, labels_of
from annotation.api.shapes.corpus import StoryFilter
from annotation.domain.gold_votes import from_json
from annotation.domain.ordering import shuffled
from annotation.forms.decisions import DecidedIn, Revision
from annotation.forms.values import Label, whole
from annotation.forms.votes import UID, Dimension, Uid
from annotation.models import ErrorTag, GoldLabel, Method
from annotation.services.adjudication_bulk import MOST_ALIKE
from core.api.fields import Pattern
from core.incoming.misfit import refusal
from core.incoming.shapes import Counted, Like, Shape

Version = Annotated[str, Like(r"^([0-9a-f]{20})?$", "20 hexadecimal digits, or nothing")]


class GoldFilter(StoryFilter):
    story = Pattern(UID, required=False, help_text="Only cells of this story.")
    dimension = DimensionKey(required=False)
    method = serializers.ChoiceField(
        Method.choices, required=False, help_text="How the cell was settled; open waits for an expert."
    )


class DecisionIn(DecidedIn):
    """An expert's decision on one cell."""

    label: Label = Field(description="One of the labels of the dimension.")
    version: Version = Field(description="version of the gold label that you saw; empty where there was none.")
    guideline_flag: bool = Field(False, description="Puts the case on the guideline's list.")

    @field_validator("label")
    @classmethod
    def _is_known(cls, label: str, info: ValidationInfo) -> str:
        labels = labels_of([info.context["schema"]])
        if label not in labels:
            raise refusal(f"one of {', '.join(labels)}", f"{label!r} is not a label of this project")
        return label


class CaseIn(Shape):
    """Whether a cell is on the list of cases for the guideline."""

    filed: bool


class DecidedCellIn(Shape):
    """A cell that you decided, as it was seen."""

    proposition: Uid
    dimension: Dimension
    revision: Revision = Field(description="revision of its gold label.")


class TakenBackIn(Shape):
    """Decisions of your own that are taken back."""

    cells: Annotated[list[DecidedCellIn], Counted(1, MOST_ALIKE)]

    @classmethod
    def described(cls) -> dict[str, Any]:
        return whole(super().described())


class GoldVoteOut(serializers.Serializer):
    annotator = serializers.CharField(allow_null=True, help_text="null until the cell is settled.")
    label = serializers.CharField()


class GoldOut(serializers.ModelSerializer):
    # Context: `names` (user id → user name) and `voted`, the cells on which the reader voted.
    story = serializers.CharField(source="proposition.table.story.uid")
    number = serializers.IntegerField(source="proposition.table.story.number", help_text="The story's number.")
    proposition = serializers.CharField(source="proposition.uid")
    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)
    error_tag = serializers.ChoiceField(ErrorTag.choices, allow_blank=True)
    agreement = serializers.SerializerMethodField(help_text="Largest share of one label, 0 to 1.")
    votes = serializers.SerializerMethodField(
        help_text="What the label rests on. Open cells: without names, shuffled. null on a cell that you voted on."
    )
    version = serializers.SerializerMethodField(help_text="Send it back with a decision on this cell.")

    class Meta:
        model = GoldLabel
        fields = (
            "story", "number", "proposition", "dimension", "label", "method", "agreement", "votes", "decided_by",
            "decided_at", "reason", "error_tag", "guideline_flag", "disturbed", "rule_version", "schema_version",
            "revision", "version",
        )  # fmt: skip
        read_only_fields = fields

    def get_agreement(self, gold: GoldLabel) -> float | None:
        return None if self._voted(gold) else gold.agreement

    def get_votes(self, gold: GoldLabel) -> GoldVoteOut(many=True, allow_null=True):
        if self._voted(gold):
            return None
        votes = from_json(gold.votes)
        if gold.method == Method.OPEN:
            labels = shuffled([vote.label for vote in votes], f"{gold.proposition.uid}:{gold.dimension}")
            return [{"annotator": None, "label": label} for label in labels]
        names = self.context["names"]
        return [{"annotator": names.get(vote.annotator), "label": vote.label} for vote in votes]

    def get_version(self, gold: GoldLabel) -> str:
        return version_of(gold)

    def _voted(self, gold: GoldLabel) -> bool:
        return (gold.proposition_id, gold.dimension) in self.context["voted"]


def version_of(gold: GoldLabel | None) -> str:
    """Return the opaque name of one state of one gold row: a row that was removed and made again has another
    version."""
    if gold is None:
        return ""
    return salted_hmac("annotation.api.gold", f"{gold.pk}:{gold.revision}").hexdigest()[:20]


class CellsOut(serializers.Serializer):
    cells = GoldOut(many=True)
