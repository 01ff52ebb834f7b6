"""Projects, stories and propositions: filters, bodies and answers."""

from typing import Annotated, Any

from drf_spectacular.utils import extend_schema_field
from pydantic import Field
from rest_framework import serializers

from annotation.domain.drafts import LONGEST
from annotation.domain.stories import MAX_CATEGORY_LENGTH, MAX_SPLIT_LENGTH
from annotation.domain.tables import MAX_ROWS
from annotation.forms.values import text_of, words
from annotation.models import Project, Proposition, Role, Story
from core.api.fields import Pattern, Strict
from core.incoming.shapes import Counted, Shape


class StoryFilter(Strict):
    split = Pattern(r"^[-\w]+$", max_length=MAX_SPLIT_LENGTH, required=False, help_text="Only stories of this split.")
    category = serializers.RegexField(
        r"^[^\u0000]+$",
        max_length=MAX_CATEGORY_LENGTH,
        required=False,
        trim_whitespace=False,
        help_text="Only stories of this category, spelt as it is there.",
    )


class TableRowIn(Shape):
    """A proposition of a belief table."""

    actor: Annotated[str, words(LONGEST["actor"])]
    belief: Annotated[str, words(LONGEST["belief"])]
    order: Annotated[str, text_of(LONGEST["order"])] = ""


TableRows = Annotated[list[TableRowIn], Counted(1, MAX_ROWS)]


class TableIn(Shape):
    """The belief table of a story, in its order."""

    rows: TableRows
    replace: bool = Field(False, description="Writes over a table that is there.")


class ProjectOut(serializers.ModelSerializer):
    role = serializers.SerializerMethodField()

    class Meta:
        model = Project
        fields: tuple[str, ...] = (
            "slug", "name", "description", "role", "language", "overlap", "unanimity_dimensions", "schema_name",
            "schema_version", "rule_version", "created_at",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields

    unanimity_dimensions = serializers.ListField(
        child=serializers.CharField(), help_text="Dimensions where only a unanimous vote settles."
    )

    @extend_schema_field(serializers.ChoiceField(choices=Role.choices))
    def get_role(self, project: Project) -> str:
        return self.context["roles"].get(project.pk, Role.ADMIN.value)


class LabelOut(serializers.Serializer):
    value = serializers.CharField()
    meaning = serializers.CharField()


class DimensionOut(serializers.Serializer):
    key = serializers.CharField()
    name = serializers.CharField()
    question = serializers.CharField()
    labels = LabelOut(many=True)


class ProjectDetailOut(ProjectOut):
    dimensions = serializers.SerializerMethodField()
    splits = serializers.SlugRelatedField("name", many=True, read_only=True)
    categories = serializers.SlugRelatedField("name", many=True, read_only=True)

    class Meta(ProjectOut.Meta):
        fields = (*ProjectOut.Meta.fields, "dimensions", "splits", "categories")
        read_only_fields = fields

    @extend_schema_field(DimensionOut(many=True))
    def get_dimensions(self, project: Project) -> list[Any]:
        return DimensionOut(project.schema.dimensions, many=True).data


class StoryOut(serializers.ModelSerializer):
    category = serializers.CharField(source="category.name")
    split = serializers.CharField(source="split.name", default=None, allow_null=True)
    translations = serializers.DictField(child=serializers.CharField(), help_text="Language code → text.")

    class Meta:
        model = Story
        fields = ("uid", "number", "category", "split", "language", "text", "translations", "withdrawn_at")
        read_only_fields = fields


class PropositionOut(serializers.ModelSerializer):
    class Meta:
        model = Proposition
        fields = ("uid", "position", "actor", "belief")
        read_only_fields = fields


class BeliefTableOut(serializers.Serializer):
    """Result of writing a table, with the table as it stands."""

    kept = serializers.IntegerField(help_text="Rows whose text did not change: they keep their votes.")
    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    reopened = serializers.ListField(
        child=serializers.CharField(), help_text="Annotators who had finished the story and have new rows to label."
    )
    propositions = PropositionOut(many=True)
