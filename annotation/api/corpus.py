"""Projects, stories and propositions."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access, story_of
from annotation.api.description import STORY, answers, operation
from annotation.api.shapes.corpus import (
    BeliefTableOut,
    ProjectDetailOut,
    ProjectOut,
    PropositionOut,
    StoryFilter,
    StoryOut,
    TableIn,
)
from annotation.domain.tables import TableRow, problem_of
from annotation.models import Membership, Project, Proposition, Role
from annotation.services.belief_tables import NotTaken, take_table
from core.api.bodies import read_body
from core.api.errors import CannotBeDone, refusing
from core.api.fields import Strict, read_query
from core.api.listing import Listing

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
        counts = {name: getattr(written, name) for name in ("kept", "added", "removed", "reopened")}
        propositions = Proposition.objects.gold_of(row).only("uid", "position", "actor", "belief")
        return Response(BeliefTableOut({**counts, "propositions": propositions}).data)
