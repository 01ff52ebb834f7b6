"""Members of a project with their roles, and what it adds to the guidelines that they follow."""

from __future__ import annotations

from typing import NoReturn

from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access
from annotation.api.description import SLUG, answers
from annotation.api.shapes.team import GuidelineIn, GuidelineOut, MemberIn, MemberOut, RemovalIn, RemovalOut
from annotation.models import Guideline, Membership, Project, Role
from annotation.services import people
from annotation.services.projects import write_guideline
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.errors import CannotBeDone
from core.api.fields import Strict, read_query
from core.api.listing import Listing

_MEMBER = {"user": "ada", "role": "annotator"}
_GUIDELINE = {"dimension": "truth_status", "text": "Judge by the story alone."}
_LAST_ADMIN = {422: ("Well-formed, and refused.", "A project needs an admin.")}


class Members(Listing):
    @extend_schema(
        operation_id="members_list",
        tags=["people"],
        parameters=[SLUG],
        responses=answers(MemberOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The members of a project by role, then name. Admins."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        read_query(request, Strict)
        return self.page(_members(access.project).order_by("role", "user__username"), MemberOut)

    @extend_schema(
        operation_id="members_save",
        tags=["people"],
        parameters=[SLUG],
        request={"application/json": MemberIn},
        examples=[OpenApiExample("An annotator", value=_MEMBER, request_only=True)],
        responses=answers(MemberOut, 403, *BODY, why=_LAST_ADMIN),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Changes the role of a member. Sent again it changes nothing. Whoever is no member has to accept an invitation
        (`invitations/`): 422 for a name that no member has, whether or not an account has it, and where no admin would
        be left."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        asked = read_body(request, MemberIn)
        member = _members(access.project).filter(user__username=asked.user).first()
        if member is None:
            _refuse_name(f"{asked.user} is not a member of this project; invite them, and they join by accepting.")
        try:
            people.change_role(by=request.user, membership=member, role=Role(asked.role))
        except people.PeopleError as refusal:
            raise CannotBeDone(str(refusal)) from refusal
        return Response(MemberOut(_members(access.project).get(pk=member.pk)).data)


class Removal(GenericAPIView):
    @extend_schema(
        operation_id="members_remove",
        tags=["people"],
        parameters=[SLUG],
        request={"application/json": RemovalIn},
        responses=answers(RemovalOut, 403, *BODY, why=_LAST_ADMIN),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ends a membership; votes and decisions stay, with their author. 422 for a name that no member has, and where
        no admin would be left."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        asked = read_body(request, RemovalIn)
        member = _members(access.project).filter(user__username=asked.user).first()
        if member is None:
            _refuse_name(f"{asked.user} is not a member of this project.")
        releases = asked.release_unfinished
        try:
            released = people.remove_member(
                by=request.user, membership=member, now=timezone.now(), release_unfinished=releases
            )
        except people.PeopleError as refusal:
            raise CannotBeDone(str(refusal)) from refusal
        return Response(RemovalOut({"user": asked.user, "released": released}).data)


def _members(project: Project):
    return Membership.objects.filter(project=project).select_related("user", "project")


def _refuse_name(sentence: str) -> NoReturn:
    raise CannotBeDone({"user": [sentence]})


class Guidelines(Listing):
    @extend_schema(
        operation_id="guidelines_list",
        tags=["corpus"],
        parameters=[SLUG],
        responses=answers(GuidelineOut(many=True), 400),
    )
    def get(self, request: Request, slug: str) -> Response:
        """What the project adds to the guideline of each dimension, in English and in Chinese. What the dimension asks
        and its labels mean is at the project's own address."""
        access = project_access(request.user, slug)
        read_query(request, Strict)
        guidelines = {guideline.dimension: guideline for guideline in Guideline.objects.filter(project=access.project)}
        keys = access.project.schema.keys
        return self.page([guidelines.get(key) or Guideline(dimension=key) for key in keys], GuidelineOut)

    @extend_schema(
        operation_id="guidelines_save",
        tags=["corpus"],
        parameters=[SLUG],
        request={"application/json": GuidelineIn},
        examples=[OpenApiExample("In English", value=_GUIDELINE, request_only=True)],
        responses=answers(GuidelineOut, 403, *BODY),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Writes what the project adds to the guideline of a dimension; a text that is left out stays. Experts and
        admins. 422 for a dimension that the project has not."""
        access = project_access(request.user, slug, role=Role.EXPERT)
        given = read_body(request, GuidelineIn).given
        if given["dimension"] not in access.project.schema:
            raise CannotBeDone({"dimension": ["There is no such dimension."]})
        write_guideline(by=request.user, project=access.project, **given)
        saved = Guideline.objects.get(project=access.project, dimension=given["dimension"])
        return Response(GuidelineOut(saved).data)
