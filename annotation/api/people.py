"""Members of a project with their roles, invitations, and what the project adds to its guidelines."""

import secrets
from typing import Annotated

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from drf_spectacular.utils import extend_schema_field, inline_serializer
from pydantic import Field
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import ProjectAccess, project_access
from annotation.api.description import INVITATION, operation
from annotation.forms.values import ADDITION, EMAIL, ROLES
from annotation.forms.votes import Dimension
from annotation.models import Guideline, Invitation, Membership, Project, Role
from annotation.services import people
from annotation.services.accounts import checked_name
from annotation.services.projects import write_guideline
from core.api.bodies import read_body
from core.api.errors import CannotBeDone, refusing
from core.api.fields import Strict, read_query
from core.api.listing import Listing
from core.digests import text_digest
from core.idempotency.requests import HEADER, PARAMETER, made_once
from core.incoming.shapes import SPACE, Among, Given, Like, NothingIn, Shape, may_lack

_LAST_ADMIN = {422: ("Well-formed, and refused.", "A project needs an admin.")}
UserName = Annotated[str, Like(rf"^[^{SPACE}\u0000]{{1,150}}$", "a user name")]
INVITATION_STATES = ("open", "accepted", "withdrawn", "expired")


class MemberIn(Shape):
    """A member, and the role that they get."""

    user: UserName = Field(description="User name of a member.")
    role: Annotated[str, Among(ROLES)]


class RemovalIn(Shape):
    """A membership that ends."""

    user: UserName
    release_unfinished: bool = Field(
        False, description="Releases the stories that they have not finished, which withdraws their votes there."
    )


class GuidelineIn(Given):
    """What the project adds to the guideline of a dimension; a text that is left out stays."""

    dimension: Dimension
    text: Annotated[str, ADDITION] = may_lack("Markdown, in English; empty takes it away.")
    text_zh: Annotated[str, ADDITION] = may_lack("Markdown, in Chinese; empty takes it away.")


class InvitationIn(Shape):
    """Whom to invite: by link, or the account of a user name."""

    role: Annotated[str, Among(ROLES)]
    email: Annotated[str, EMAIL] = Field("", description="To know the link by; nothing is sent to it.")
    user: UserName = Field(
        "", description="User name of an account, which is asked when it logs in; there is no link then."
    )


class MemberOut(serializers.ModelSerializer):
    user = serializers.CharField(source="user.username")
    name = serializers.CharField(source="user.shown_name", help_text="As others see it.")
    role = serializers.ChoiceField(Role.choices)

    class Meta:
        model = Membership
        fields = ("user", "name", "role", "since")
        read_only_fields = fields


_REMOVED = {"user": serializers.CharField(), "released": serializers.IntegerField(help_text="Stories that went back.")}


class GuidelineOut(serializers.ModelSerializer):
    text = serializers.CharField(allow_blank=True, help_text="Markdown, in English.")
    text_zh = serializers.CharField(allow_blank=True, help_text="Markdown, in Chinese.")

    class Meta:
        model = Guideline
        fields = ("dimension", "text", "text_zh")
        read_only_fields = fields


class InvitationOut(serializers.ModelSerializer):
    # Context: `now`.
    invitation = serializers.IntegerField(source="pk")
    role = serializers.ChoiceField(Role.choices)
    email = serializers.CharField(allow_blank=True, help_text="Whom it is for; empty for anyone with the link.")
    user = serializers.CharField(
        source="username", allow_blank=True, help_text="The user name that is asked, whether or not an account has it."
    )
    state = serializers.SerializerMethodField()
    created_by = serializers.CharField(source="created_by.username")
    accepted_by = serializers.CharField(source="accepted_by.username", default=None, allow_null=True)

    class Meta:
        model = Invitation
        fields: tuple[str, ...] = (
            "invitation", "role", "email", "user", "state", "created_at", "created_by", "expires_at", "accepted_by"
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields

    @extend_schema_field(serializers.ChoiceField(INVITATION_STATES))
    def get_state(self, invitation: Invitation) -> str:
        return invitation.state(self.context["now"])


class LinkOut(InvitationOut):
    # Context: `link`, too.
    link = serializers.SerializerMethodField(
        help_text="It is told once: only its hash is kept. Empty for the account of a user name."
    )

    class Meta(InvitationOut.Meta):
        fields = (*InvitationOut.Meta.fields, "link")
        read_only_fields = fields

    def get_link(self, invitation: Invitation) -> str:
        return self.context["link"]


def _admin(request: Request, slug: str) -> ProjectAccess:
    return project_access(request.user, slug, role=Role.ADMIN)


def _members(project: Project) -> QuerySet[Membership]:
    return Membership.objects.filter(project=project).select_related("user", "project")


def _member(access: ProjectAccess, name: str, advice: str = ".") -> Membership:
    """Return the member of this name. Raises CannotBeDone with a sentence that ends in `advice`."""
    member = _members(access.project).filter(user__username=name).first()
    if member is None:
        raise CannotBeDone({"user": [f"{name} is not a member of this project{advice}"]})
    return member


class Members(Listing):
    @operation("members_list", "people", answer=MemberOut(many=True), errors=(400, 403))
    def get(self, request: Request, slug: str) -> Response:
        """The members of a project by role, then name. Admins."""
        access = _admin(request, slug)
        read_query(request, Strict)
        return self.page(_members(access.project).order_by("role", "user__username"), MemberOut)

    @operation(
        "members_save", "people", answer=MemberOut, errors=(403,), body=MemberIn, why=_LAST_ADMIN,
        examples={"An annotator": {"user": "ada", "role": "annotator"}},
    )  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        """Changes the role of a member. Sent again it changes nothing. Whoever is no member has to accept an invitation
        (`invitations/`): 422 for a name that no member has, whether or not an account has it, and where no admin would
        be left."""
        access = _admin(request, slug)
        asked = read_body(request, MemberIn)
        member = _member(access, asked.user, "; invite them, and they join by accepting.")
        with refusing(people.PeopleError):
            people.change_role(by=request.user, membership=member, role=Role(asked.role))
        return Response(MemberOut(_members(access.project).get(pk=member.pk)).data)


class Removal(GenericAPIView):
    @operation(
        "members_remove", "people", answer=inline_serializer("RemovalOut", _REMOVED), errors=(403,), body=RemovalIn,
        why=_LAST_ADMIN,
    )  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        """Ends a membership; votes and decisions stay, with their author. 422 for a name that no member has, and where
        no admin would be left."""
        access = _admin(request, slug)
        asked = read_body(request, RemovalIn)
        member, releases = _member(access, asked.user), asked.release_unfinished
        with refusing(people.PeopleError):
            released = people.remove_member(
                by=request.user, membership=member, now=timezone.now(), release_unfinished=releases
            )
        return Response({"user": asked.user, "released": released})


class Guidelines(Listing):
    @operation("guidelines_list", "corpus", answer=GuidelineOut(many=True), errors=(400,))
    def get(self, request: Request, slug: str) -> Response:
        """What the project adds to the guideline of each dimension, in English and in Chinese. What the dimension asks
        and its labels mean is at the project's own address."""
        project = project_access(request.user, slug).project
        read_query(request, Strict)
        guidelines = {guideline.dimension: guideline for guideline in Guideline.objects.filter(project=project)}
        return self.page([guidelines.get(key) or Guideline(dimension=key) for key in project.schema.keys], GuidelineOut)

    @operation(
        "guidelines_save", "corpus", answer=GuidelineOut, errors=(403,), body=GuidelineIn,
        examples={"In English": {"dimension": "truth_status", "text": "Judge by the story alone."}},
    )  # fmt: skip
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


def _invitations(access: ProjectAccess) -> QuerySet[Invitation]:
    rows = Invitation.objects.filter(project=access.project)
    return rows.select_related("project", "created_by", "accepted_by")


class Invitations(Listing):
    @operation("invitations_list", "people", answer=InvitationOut(many=True), errors=(400, 403))
    def get(self, request: Request, slug: str) -> Response:
        """Invitations to a project, the newest first, with what has become of each; never their links. Admins."""
        access = _admin(request, slug)
        read_query(request, Strict)
        return self.page(_invitations(access).order_by("-created_at", "-id"), InvitationOut, now=timezone.now())

    @operation(
        "invitations_make", "people", PARAMETER, answer=LinkOut, errors=(403,), body=InvitationIn, status=201,
        examples={
            "For somebody": {"role": "annotator", "email": "ada@example.org"},
            "For an account": {"role": "annotator", "user": "ada"},
        },
    )  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        """Makes a link that works once and says it here alone: it is kept nowhere, and nothing is sent to anybody. With
        a `user` it asks the account of that name instead, which joins by accepting after it has logged in; the answer
        is the same where no account has the name. 422 for a member's name, whose role `members/` changes. Admins."""
        access = _admin(request, slug)
        asked = read_body(request, InvitationIn)
        given = {"by": request.user, "project": access.project, "role": Role(asked.role)}
        token = ""
        if asked.user:
            _check_name(access, asked)
        elif key := request.headers.get(HEADER, ""):
            # Under one key the link is the same for the same invitation, so that a request that is sent again gets it
            # too; a key that is used again for another role makes another link.
            signed = f"{request.user.pk} {request.path} {key} {asked.role} {asked.email}"
            token = salted_hmac("annotation.api.invitation", signed, algorithm="sha256").hexdigest()[:40]
        else:
            token = secrets.token_urlsafe(24)

        def make() -> str:
            if asked.user:
                return str(people.invite_account(**given, username=asked.user, now=timezone.now()).pk)
            # The same key makes the same link, also when the key itself is known no more.
            earlier = Invitation.objects.filter(token_hash=text_digest(token)).first()
            made = earlier or people.invite(**given, email=asked.email, token=token, now=timezone.now())[0]
            return str(made.pk)

        invitation = _invitations(access).get(pk=made_once(request, make))
        link = request.build_absolute_uri(reverse("invitation", args=[token])) if token else ""
        return Response(LinkOut(invitation, context={"now": timezone.now(), "link": link}).data, status=201)


def _check_name(access: ProjectAccess, asked: InvitationIn) -> None:
    """Raise CannotBeDone if the account of this name cannot be asked."""
    if asked.email:
        raise CannotBeDone({"email": ["An invitation is for a user name or by a link; expected one of the two."]})
    try:
        checked_name(asked.user)
    except ValueError as error:
        raise CannotBeDone({"user": [str(error)]}) from error
    if people.members_named(access.project, [asked.user]):
        raise CannotBeDone({"user": [f"{asked.user} is a member already; members/ changes the role."]})


class Withdrawal(GenericAPIView):
    @operation(
        "invitations_withdraw", "people", INVITATION, answer=InvitationOut, errors=(403,), body=NothingIn
    )  # fmt: skip
    def post(self, request: Request, slug: str, invitation: int) -> Response:
        """Withdraws an invitation, whose link then does nothing. One that somebody used stays as it is: `state` tells.
        Admins."""
        access = _admin(request, slug)
        read_body(request, NothingIn)
        row = get_object_or_404(_invitations(access), pk=invitation)
        people.revoke_invitation(by=request.user, invitation=row, now=timezone.now())
        return Response(InvitationOut(_invitations(access).get(pk=row.pk), context={"now": timezone.now()}).data)
