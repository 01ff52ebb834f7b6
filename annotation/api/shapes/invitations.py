"""Invitations to a project: body and answers."""

from __future__ import annotations

from typing import Annotated

from drf_spectacular.utils import extend_schema_field
from pydantic import Field
from rest_framework import serializers

from annotation.api.shapes.team import person
from annotation.forms.values import EMAIL, ROLES
from annotation.models import Invitation, Role
from core.incoming.shapes import Among, Shape


class InvitationIn(Shape):
    """Whom to invite: by link, or the account of a user name."""

    role: Annotated[str, Among(ROLES)]
    email: Annotated[str, EMAIL] = Field("", description="To know the link by; nothing is sent to it.")
    user: Annotated[str, person()] = Field(
        "", description="User name of an account, which is asked when it logs in; there is no link then."
    )


INVITATION_STATES = ("open", "accepted", "withdrawn", "expired")


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
