"""Projects, stories and propositions."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access, story_of
from annotation.api.description import SLUG, STORY, answers
from annotation.api.requests import StoryFilter
from annotation.api.shapes import ProjectDetailOut, ProjectOut, PropositionOut, StoryOut
from annotation.models import Membership, Project, Proposition
from core.api.fields import Strict, read_query
from core.api.listing import Listing


class Projects(Listing):
    @extend_schema(operation_id="projects_list", tags=["corpus"], responses=answers(ProjectOut(many=True), 400))
    def get(self, request: Request) -> Response:
        """The projects that you are a member of, by slug."""
        read_query(request, Strict)
        roles = dict(Membership.objects.filter(user=request.user).values_list("project_id", "role"))
        roles = {} if request.user.is_superuser else roles
        return self.page(Project.objects.visible_to(request.user).order_by("slug"), ProjectOut, roles=roles)


class OneProject(GenericAPIView):
    @extend_schema(
        operation_id="projects_read", tags=["corpus"], parameters=[SLUG], responses=answers(ProjectDetailOut)
    )
    def get(self, request: Request, slug: str) -> Response:
        """A project with its rules, your role, the dimensions with their labels, its splits and categories."""
        access = project_access(request.user, slug)
        context = {"roles": {access.project.pk: access.role.value}}
        return Response(ProjectDetailOut(access.project, context=context).data)


class Stories(Listing):
    @extend_schema(
        operation_id="stories_list",
        tags=["corpus"],
        parameters=[SLUG, StoryFilter],
        responses=answers(StoryOut(many=True), 400),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The stories of a project with their texts, in order of number."""
        access = project_access(request.user, slug)
        chosen = read_query(request, StoryFilter)
        rows = access.project.stories.in_split(chosen.get("split")).in_category(chosen.get("category"))
        return self.page(rows.select_related("category", "split").defer("extra").order_by("number"), StoryOut)


class OneStory(GenericAPIView):
    @extend_schema(operation_id="stories_read", tags=["corpus"], parameters=[SLUG, STORY], responses=answers(StoryOut))
    def get(self, request: Request, slug: str, story: str) -> Response:
        """One story."""
        return Response(StoryOut(story_of(project_access(request.user, slug), story)).data)


class Propositions(Listing):
    @extend_schema(
        operation_id="propositions_list",
        tags=["corpus"],
        parameters=[SLUG, STORY],
        responses=answers(PropositionOut(many=True), 400),
    )
    def get(self, request: Request, slug: str, story: str) -> Response:
        """The belief table of a story, in its order, without labels."""
        access = project_access(request.user, slug)
        read_query(request, Strict)
        rows = Proposition.objects.gold_of(story_of(access, story))
        return self.page(rows.only("uid", "position", "actor", "belief"), PropositionOut)
