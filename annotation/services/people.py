"""Members, roles and invitations."""

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext, gettext_lazy

from annotation.models import Invitation, Membership, Project, Role, User
from annotation.services import audit
from annotation.services.assignments import release
from annotation.services.progress import Progress
from core.digests import text_digest

_GONE = gettext_lazy("This invitation was answered or withdrawn already, or is too old.")


class PeopleError(ValueError):
    """The request cannot be carried out; the message is one sentence for the person who made it."""


class NameTaken(PeopleError):
    """The user name belongs to someone else by now."""


class MemberAlready(PeopleError):
    """The invitation offers a member no more than is held."""


@transaction.atomic
def invite(
    *, by: User, project: Project, role: Role, email: str = "", token: str = "", now: datetime
) -> tuple[Invitation, str]:
    """Make an invitation and return it with its token (drawn, where none is given), which is kept nowhere else."""
    token = token or secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        project=project,
        role=role,
        email=email,
        token_hash=text_digest(token),
        created_by=by,
        expires_at=now + timedelta(days=settings.INVITATION_DAYS),
    )
    audit.record(by=by, project=project, action="invitation.created", target=email or "link", role=role.value)
    return invitation, token


@transaction.atomic
def invite_account(*, by: User, project: Project, role: Role, username: str, now: datetime) -> Invitation:
    """Ask the account of that name to join, and return the invitation; nothing changes before it accepts. A name that
    no account has gets an invitation alike, which nobody is shown: the answer, and the statements that it takes, say
    nothing of accounts. Capitals matter where several accounts differ by them only, as in files that are imported. The
    same again while the first is open is the same invitation."""
    username = User.normalize_username(username)
    alike = {
        account.username: account
        for account in User.objects.accounts().filter(username__iexact=username, is_active=True)
    }
    invited = alike.get(username) or (next(iter(alike.values())) if len(alike) == 1 else None)
    before = Invitation.objects.open(now).filter(project=project, role=role, username=username).first()
    if before is not None:
        return before
    invitation = Invitation.objects.create(
        project=project,
        role=role,
        username=username,
        invited=invited,
        token_hash=text_digest(secrets.token_urlsafe(24)),  # of a link that nobody has
        created_by=by,
        expires_at=now + timedelta(days=settings.INVITATION_DAYS),
    )
    audit.record(by=by, project=project, action="invitation.created", target=username, role=role.value)
    return invitation


def members_named(project: Project, usernames: Collection[str]) -> set[str]:
    """Return which of these names members of the project have."""
    members = {name.casefold() for name in project.memberships.values_list("user__username", flat=True)}
    return {username for username in usernames if User.normalize_username(username).casefold() in members}


def answer_invitation(*, by: User, pk: int, accepts: bool, now: datetime) -> Membership | None:
    """Accept or decline an invitation of one's own account; return the membership, None where it was declined. Raises
    PeopleError where no invitation of that number waits for the account."""
    if not accepts:
        if not Invitation.objects.decline(by, pk, now):
            raise PeopleError(_GONE)
        return None
    invitation = Invitation.objects.waiting_for(by, now).filter(pk=pk).first()
    if invitation is None:
        raise PeopleError(_GONE)
    return _joined(by=by, invitation=invitation, now=now)


def open_invitation(*, token: str, now: datetime) -> Invitation:
    """The invitation of a link. Raises PeopleError where it was used, revoked, is too old or never was."""
    invitation = Invitation.objects.select_related("project").filter(token_hash=text_digest(token)).first()
    if invitation is None:
        raise PeopleError(gettext("This invitation does not exist; the link may be cut off."))
    if invitation.accepted_at:
        raise PeopleError(gettext("This invitation was used already. Log in, or ask for another one."))
    if invitation.revoked_at:
        raise PeopleError(gettext("This invitation was withdrawn. Ask an admin of the project for another one."))
    if invitation.expires_at < now:
        raise PeopleError(gettext("This invitation is too old. Ask an admin of the project for another one."))
    return invitation


def sign_up(*, user: User, token: str, now: datetime) -> Membership:
    """Saves the new account `user` and makes it a member: both or neither. Raises NameTaken and PeopleError."""
    with transaction.atomic():
        try:
            with transaction.atomic():
                user.save()
        except IntegrityError as error:  # someone else took the name after it was checked
            raise NameTaken(gettext("A user with that username already exists.")) from error
        return accept_invitation(by=user, token=token, now=now)


@transaction.atomic
def change_account(*, by: User, display_name: str, email: str) -> list[str]:
    """Give one's own account another display name or e-mail address, and return the names of the fields that changed.
    The audit log has these names alone: an address is nobody's business."""
    account = User.objects.select_for_update().get(pk=by.pk)
    values = {"display_name": display_name, "email": User.objects.normalize_email(email)}
    changed = [name for name, value in values.items() if getattr(account, name) != value]
    if changed:
        for name in changed:
            setattr(account, name, values[name])
        account.save(update_fields=changed)
        audit.record(by=by, project=None, action="account.changed", target=account.username, fields=changed)
    return changed


@transaction.atomic
def accept_invitation(*, by: User, token: str, now: datetime) -> Membership:
    """Make `by` a member, or raise the role of one who is. Raises PeopleError where the invitation offers no more than
    is held; then it stays open.

    It is claimed by one compare-and-swap update: two people cannot both use it.
    """
    return _joined(by=by, invitation=open_invitation(token=token, now=now), now=now)


@transaction.atomic
def _joined(*, by: User, invitation: Invitation, now: datetime) -> Membership:
    """Use an invitation: make `by` a member, or raise the role of one who is. Raises PeopleError."""
    offers_more(invitation=invitation, to=by)
    if not Invitation.objects.accept(invitation, by, now):
        raise PeopleError(gettext("This invitation was used already. Ask for another one."))
    membership, created = Membership.objects.get_or_create(
        project=invitation.project, user=by, defaults={"role": invitation.role}
    )
    if created:
        audit.record(
            by=by, project=invitation.project, action="membership.created", target=by.username, role=invitation.role
        )
    elif Role(membership.role).rank < Role(invitation.role).rank:
        membership.user = by
        change_role(by=by, membership=membership, role=Role(invitation.role))
        membership.refresh_from_db()
    return membership


def offers_more(*, invitation: Invitation, to: User) -> None:
    """Raise MemberAlready where `to` holds the role of the invitation already, or a higher one."""
    membership = Membership.objects.filter(project=invitation.project, user=to).first()
    if membership is not None and Role(membership.role).rank >= Role(invitation.role).rank:
        text = gettext("You are a member of {name} already, as {label}. The invitation stays open for somebody else.")
        raise MemberAlready(text.format(name=invitation.project.name, label=Role(membership.role).label.lower()))


@transaction.atomic
def revoke_invitation(*, by: User | None, invitation: Invitation, now: datetime) -> None:
    if Invitation.objects.revoke(invitation, now):
        target = invitation.username or invitation.email or "link"
        audit.record(by=by, project=invitation.project, action="invitation.revoked", target=target)


@transaction.atomic
def change_role(*, by: User | None, membership: Membership, role: Role) -> None:
    """Raise PeopleError where the project would be left without an admin."""
    _keep_an_admin(membership, role)
    current = Membership.objects.select_for_update().filter(pk=membership.pk).first()
    if current is None or current.role == role:
        return
    Membership.objects.filter(pk=current.pk).update(role=role)
    audit.record(
        by=by,
        project=membership.project,
        action="membership.changed",
        target=membership.user.username,
        before=current.role,
        after=role.value,
    )


@transaction.atomic
def remove_member(*, by: User | None, membership: Membership, now: datetime, release_unfinished: bool = False) -> int:
    """Take the membership away; votes and decisions stay, with their author. Does nothing where it was gone already.

    With `release_unfinished` the assignments at unfinished stories are released, which withdraws the votes cast there.
    Returns how many assignments were released.
    """
    _keep_an_admin(membership, None)
    deleted, _ = Membership.objects.filter(pk=membership.pk).delete()
    if deleted:
        audit.record(by=by, project=membership.project, action="membership.removed", target=membership.user.username)
    if not deleted or not release_unfinished:
        return 0
    assignments = list(
        Progress(membership.project).unfinished(membership.user_id).select_related("story__project", "annotator")
    )
    for assignment in assignments:
        release(by=by, assignment=assignment, now=now)
    return len(assignments)


def _keep_an_admin(membership: Membership, role: Role | None) -> None:
    admins = Membership.objects.select_for_update().filter(project=membership.project, role=Role.ADMIN)
    if role != Role.ADMIN and set(admins.values_list("pk", flat=True)) == {membership.pk}:
        raise PeopleError(gettext("A project needs an admin; make someone else one first."))
