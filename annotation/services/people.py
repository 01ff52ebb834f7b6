"""Members, roles and invitations."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from annotation.models import Invitation, Membership, Project, Role, User
from annotation.services import audit


class PeopleError(ValueError):
    """What was asked for cannot be done; the message is one sentence for the person who asked."""


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def invite(*, by: User, project: Project, role: Role, email: str = "", now: datetime) -> tuple[Invitation, str]:
    """Makes an invitation and returns it with its token, which is kept nowhere else."""
    token = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        project=project,
        role=role,
        email=email,
        token_hash=hash_token(token),
        created_by=by,
        expires_at=now + timedelta(days=settings.INVITATION_DAYS),
    )
    audit.record(by=by, project=project, action="invitation.created", target=email or "link", role=role.value)
    return invitation, token


def open_invitation(*, token: str, now: datetime) -> Invitation:
    """The invitation of a link. Raises PeopleError where it was used, revoked, is too old or never was."""
    found = Invitation.objects.select_related("project").filter(token_hash=hash_token(token)).first()
    if found is None:
        raise PeopleError("This invitation does not exist; the link may be cut off.")
    if found.accepted_at:
        raise PeopleError("This invitation was used already. Log in, or ask for another one.")
    if found.revoked_at:
        raise PeopleError("This invitation was withdrawn. Ask an admin of the project for another one.")
    if found.expires_at < now:
        raise PeopleError("This invitation is too old. Ask an admin of the project for another one.")
    return found


@transaction.atomic
def accept_invitation(*, by: User, token: str, now: datetime) -> Membership:
    """Makes `by` a member. The invitation is claimed by one compare-and-swap update: two people cannot both use it."""
    invitation = open_invitation(token=token, now=now)
    claimed = Invitation.objects.filter(pk=invitation.pk, accepted_at__isnull=True, revoked_at__isnull=True).update(
        accepted_at=now, accepted_by=by
    )
    if not claimed:
        raise PeopleError("This invitation was used already. Ask for another one.")
    membership, created = Membership.objects.get_or_create(
        project=invitation.project, user=by, defaults={"role": invitation.role}
    )
    if created:
        audit.record(
            by=by, project=invitation.project, action="membership.created", target=by.username, role=invitation.role
        )
    return membership


@transaction.atomic
def revoke_invitation(*, by: User, invitation: Invitation, now: datetime) -> None:
    if Invitation.objects.filter(pk=invitation.pk, accepted_at__isnull=True, revoked_at__isnull=True).update(
        revoked_at=now
    ):
        audit.record(by=by, project=invitation.project, action="invitation.revoked", target=invitation.email or "link")


@transaction.atomic
def change_role(*, by: User, membership: Membership, role: Role) -> None:
    """Raises PeopleError where the project would be left without an admin."""
    _keep_an_admin(membership, role)
    before = membership.role
    Membership.objects.filter(pk=membership.pk).update(role=role)
    audit.record(
        by=by,
        project=membership.project,
        action="membership.changed",
        target=membership.user.username,
        before=before,
        after=role.value,
    )


@transaction.atomic
def remove_member(*, by: User, membership: Membership) -> None:
    """Takes the membership away; votes and decisions stay, with their author."""
    _keep_an_admin(membership, None)
    membership.delete()
    audit.record(by=by, project=membership.project, action="membership.removed", target=membership.user.username)


def _keep_an_admin(membership: Membership, role: Role | None) -> None:
    admins = Membership.objects.select_for_update().filter(project=membership.project, role=Role.ADMIN)
    if role != Role.ADMIN and set(admins.values_list("pk", flat=True)) == {membership.pk}:
        raise PeopleError("A project needs an admin; make someone else one first.")
