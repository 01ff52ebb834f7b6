"""Projects, stories and propositions."""

from typing import Annotated, Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field, inline_serializer
from pydantic import Field
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access, story_of
from annotation.api.description import STORY, answers, operation
from annotation.domain.drafts import LONGEST
from annotation.domain.stories import MAX_CATEGORY_LENGTH, MAX_SPLIT_LENGTH
from annotation.domain.tables import MAX_ROWS, TableRow, problem_of
from annotation.forms.values import text_of, words
from annotation.models import Membership, Project, Proposition, Role, Story
from annotation.services.belief_tables import NotTaken, take_table
from core.api.bodies import read_body
from core.api.errors import CannotBeDone, refusing
from core.api.fields import Pattern, Strict, read_query
from core.api.listing import Listing
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


class TableIn(Shape):
    """The belief table of a story, in its order."""

    rows: Annotated[list[TableRowIn], Counted(1, MAX_ROWS)]
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


class DimensionOut(serializers.Serializer):
    key = serializers.CharField()
    name = serializers.CharField()
    question = serializers.CharField()
    labels = inline_serializer(
        "LabelOut", {"value": serializers.CharField(), "meaning": serializers.CharField()}, many=True
    )


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


_TABLE = {
    "rows": [
        {"actor": "world", "belief": "The key is in the drawer", "order": "0"},
        {"actor": "Ines", "belief": "The key is in the bag", "order": "1"},
    ]
}


class Projects(Listing):
    @extend_schema(operation_id="projects_list", tags=["corpus"], responses=answers(ProjectOut(many=True), 400))
    def get(self, request: Request) -> Response:
        """The projects that you are a member of, by slug."""
        read_query(request, Strict)
        roles = dict(Membership.objects.filter(user=request.user).values_list("project_id", "role"))
        roles = {} if request.user.is_superuser else roles
        return self.page(Project.objects.visible_to(request.user).order_by("slug"), ProjectOut, roles=roles)


class OneProject(GenericAPIView):
    @operation("projects_read", "corpus", answer=ProjectDetailOut)
    def get(self, request: Request, slug: str) -> Response:
        """A project with its rules, your role, the dimensions with their labels, its splits and categories."""
        access = project_access(request.user, slug)
        context = {"roles": {access.project.pk: access.role.value}}
        return Response(ProjectDetailOut(access.project, context=context).data)


class Stories(Listing):
    @operation("stories_list", "corpus", StoryFilter, answer=StoryOut(many=True), errors=(400,))
    def get(self, request: Request, slug: str) -> Response:
        """The stories of a project with their texts, in order of number. One with `withdrawn_at` takes part in nothing
        until it is taken back."""
        access = project_access(request.user, slug)
        chosen = read_query(request, StoryFilter)
        rows = access.project.stories.in_split(chosen.get("split")).in_category(chosen.get("category"))
        return self.page(rows.select_related("category", "split").defer("extra").order_by("number"), StoryOut)


class OneStory(GenericAPIView):
    @operation("stories_read", "corpus", STORY, answer=StoryOut)
    def get(self, request: Request, slug: str, story: str) -> Response:
        """One story."""
        return Response(StoryOut(story_of(project_access(request.user, slug), story)).data)


class Propositions(Listing):
    @operation("propositions_list", "corpus", STORY, answer=PropositionOut(many=True), errors=(400,))
    def get(self, request: Request, slug: str, story: str) -> Response:
        """The belief table of a story, in its order, without labels."""
        access = project_access(request.user, slug)
        read_query(request, Strict)
        rows = Proposition.objects.gold_of(story_of(access, story))
        return self.page(rows.only("uid", "position", "actor", "belief"), PropositionOut)

    @operation(
        "propositions_write", "corpus", STORY, answer=BeliefTableOut, errors=(403,), body=TableIn,
        examples={"Two rows": _TABLE},
    )  # fmt: skip
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Writes the belief table of a story; for experts.

        The same table again changes nothing. With `replace` it is written over one that is there: rows whose actor and
        belief did not change keep their votes, the others are new or leave the table. 422 where there is another table
        and `replace` is not set, or where experts are writing one.
        """
        access = project_access(request.user, slug, role=Role.EXPERT)
        row = story_of(access, story)
        table = read_body(request, TableIn)
        rows = [
            TableRow(proposition.actor.strip(), proposition.belief.strip(), proposition.order.strip())
            for proposition in table.rows
        ]
        for at, proposition in enumerate(rows, 1):
            if problem := problem_of(proposition):
                raise CannotBeDone(f"Row {at}: {problem}")
        with refusing(NotTaken):  # in the words of an import
            written = take_table(by=request.user, story=row, rows=rows, now=timezone.now(), replace=table.replace)
        propositions = Proposition.objects.gold_of(row).only("uid", "position", "actor", "belief")
        return Response(BeliefTableOut(written | {"propositions": propositions}).data)
