"""Invitations to a project: links that make whoever opens them a member, and questions to accounts. Admins."""

from __future__ import annotations

import secrets

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import ProjectAccess, project_access
from annotation.api.description import INVITATION, SLUG, answers
from annotation.api.shapes.invitations import InvitationIn, InvitationOut, LinkOut
from annotation.models import Invitation, Role
from annotation.services import people
from annotation.services.accounts import checked_name
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.errors import CannotBeDone
from core.api.fields import Strict, read_query
from core.api.listing import Listing
from core.digests import text_digest
from core.idempotency.requests import HEADER, PARAMETER, made_once
from core.incoming.shapes import NothingIn

_INVITATION = {"role": "annotator", "email": "ada@example.org"}
_OF_ACCOUNT = {"role": "annotator", "user": "ada"}


class Invitations(Listing):
    @extend_schema(
        operation_id="invitations_list",
        tags=["people"],
        parameters=[SLUG],
        responses=answers(InvitationOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Invitations to a project, the newest first, with what has become of each; never their links. Admins."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        read_query(request, Strict)
        return self.page(_invitations(access).order_by("-created_at", "-id"), InvitationOut, now=timezone.now())

    @extend_schema(
        operation_id="invitations_make",
        tags=["people"],
        parameters=[SLUG, PARAMETER],
        request={"application/json": InvitationIn},
        examples=[
            OpenApiExample("For somebody", value=_INVITATION, request_only=True),
            OpenApiExample("For an account", value=_OF_ACCOUNT, request_only=True),
        ],
        responses=answers(LinkOut, 403, *BODY, status=201),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Makes a link that works once and says it here alone: it is kept nowhere, and nothing is sent to anybody. With
        a `user` it asks the account of that name instead, which joins by accepting after it has logged in; the answer
        is the same where no account has the name. 422 for a member's name, whose role `members/` changes. Admins."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        asked = read_body(request, InvitationIn)
        if asked.user:
            return self._of_account(request, access, asked)
        token = _token(request, asked)

        def make() -> str:
            # The same key makes the same link, also when the key itself is known no more.
            earlier = Invitation.objects.filter(token_hash=text_digest(token)).first()
            place = {"by": request.user, "project": access.project, "role": Role(asked.role)}
            made = earlier or people.invite(**place, email=asked.email, token=token, now=timezone.now())[0]
            return str(made.pk)

        invitation = _invitations(access).get(pk=made_once(request, make))
        link = request.build_absolute_uri(reverse("invitation", args=[token]))
        return Response(LinkOut(invitation, context={"now": timezone.now(), "link": link}).data, status=201)

    def _of_account(self, request: Request, access: ProjectAccess, asked: InvitationIn) -> Response:
        if asked.email:
            raise CannotBeDone({"email": ["An invitation is for a user name or by a link; expected one of the two."]})
        try:
            checked_name(asked.user)
        except ValueError as error:
            raise CannotBeDone({"user": [str(error)]}) from error
        if people.members_named(access.project, [asked.user]):
            raise CannotBeDone({"user": [f"{asked.user} is a member already; members/ changes the role."]})
        given = {"by": request.user, "project": access.project, "role": Role(asked.role)}

        def make() -> str:
            return str(people.invite_account(**given, username=asked.user, now=timezone.now()).pk)

        invitation = _invitations(access).get(pk=made_once(request, make))
        return Response(LinkOut(invitation, context={"now": timezone.now(), "link": ""}).data, status=201)


def _token(request: HttpRequest | Request, asked: InvitationIn) -> str:
    """Return the secret of the link: under one key the same for the same invitation, so that a request which is sent
    again is told it, too, and a key that is used anew for another role makes another link."""
    if not (key := request.headers.get(HEADER, "")):
        return secrets.token_urlsafe(24)
    signed = f"{request.user.pk} {request.path} {key} {asked.role} {asked.email}"
    return salted_hmac("annotation.api.invitation", signed, algorithm="sha256").hexdigest()[:40]


class Withdrawal(GenericAPIView):
    @extend_schema(
        operation_id="invitations_withdraw",
        tags=["people"],
        parameters=[SLUG, INVITATION],
        request={"application/json": NothingIn},
        responses=answers(InvitationOut, 403, *BODY),
    )
    def post(self, request: Request, slug: str, invitation: int) -> Response:
        """Withdraws an invitation, whose link then does nothing. One that somebody used stays as it is: `state` tells.
        Admins."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        read_body(request, NothingIn)
        row = get_object_or_404(_invitations(access), pk=invitation)
        people.revoke_invitation(by=request.user, invitation=row, now=timezone.now())
        return Response(InvitationOut(_invitations(access).get(pk=row.pk), context={"now": timezone.now()}).data)


def _invitations(access: ProjectAccess):
    rows = Invitation.objects.filter(project=access.project)
    return rows.select_related("project", "created_by", "accepted_by")
