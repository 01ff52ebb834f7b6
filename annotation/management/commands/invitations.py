from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotation.forms.people import InviteForm
from annotation.management.json_command import ProjectCommand, member_named
from annotation.models import Invitation, Project, Role
from annotation.services import people
from core.plain import Json

TAKES = {"list": (), "make": ("admin", "role", "people", "links"), "withdraw": ("invitation",)}
NEEDS = {"list": (), "make": ("admin", "role"), "withdraw": ("invitation",)}


class Command(ProjectCommand):
    help = "Makes, lists or withdraws invitations to a project. A link is told once, when it is made."

    arguments = {
        "action": {"choices": list(TAKES)},
        "--admin": {"metavar": "NAME", "help": "make: user name of who invites"},
        "--role": {"choices": Role.values, "help": "make: what they become"},
        "--people": {
            "metavar": "NAMES", "help": "make: e-mail addresses, or user names, who are asked; with commas",
        },
        "--links": {"type": int, "metavar": "N", "help": "make: how many, where nobody is named; 1"},
        "--invitation": {"type": int, "metavar": "NUMBER", "help": "withdraw: which one, as list has it"},
    }  # fmt: skip

    def on(self, project: Project, *, action: str, **options: Any) -> dict[str, Any]:
        given = {name for names in TAKES.values() for name in names if options[name] is not None}
        if wrong := given - set(TAKES[action]):
            raise ValueError(f"--{min(wrong)} is not for {action}.")
        if missing := [name for name in NEEDS[action] if name not in given]:
            raise ValueError(f"{action} needs --{missing[0]}.")
        if {"people", "links"} <= given:
            raise ValueError("--links makes links for nobody by name; expected it or --people, not both.")
        if action == "make":
            return _make(project, options)
        if action == "withdraw":
            number = options["invitation"]
            invitation = project.invitations.select_related("project").filter(pk=number).first()
            if invitation is None:
                raise ValueError(f"{project.slug} has no invitation {number}.")
            people.revoke_invitation(by=None, invitation=invitation, now=timezone.now())
            invitation.refresh_from_db()
            if (state := invitation.state(timezone.now())) != "withdrawn":
                raise ValueError(f"Invitation {number} is {state}; nothing was withdrawn.")
        invitations = project.invitations.select_related("created_by", "accepted_by").order_by("-created_at", "-id")
        return {"project": project.slug, "invitations": [_as_json(invitation) for invitation in invitations]}

    def say(self, result: dict[str, Any]) -> None:
        for row in result.get("invitations", ()):
            whom = row["user"] or row["email"] or "anyone with the link"
            self.stdout.write(f"{row['invitation']}. {row['role']}, {whom}: {row['state']}, until {row['expires_at']}")
        for row in result.get("links", ()):
            self.stdout.write(f"{row['email'] or 'Anyone'}: {row['link']}")
        for name in result.get("asked", ()):
            self.stdout.write(f"{name}: asked; joins by accepting on the page after log-in.")
        for name in result.get("members", ()):
            self.stdout.write(f"{name} is a member already.")


def _make(project: Project, options: dict[str, Any]) -> dict[str, Any]:
    by = member_named(project, options["admin"], noun="admin", roles=(Role.ADMIN,))
    form = InviteForm({"role": options["role"], "people": options["people"] or "", "links": options["links"]})
    if not form.is_valid():
        raise ValidationError(form.errors.as_data())
    given: Json = {"by": by, "project": project, "role": Role(options["role"]), "now": timezone.now()}
    usernames = form.cleaned_data["usernames"]
    members = people.members_named(project, usernames)
    asked = [name for name in usernames if name not in members]
    with transaction.atomic():
        for name in asked:
            people.invite_account(username=name, **given)
        made = [people.invite(email=email, **given) for email in form.cleaned_data["emails"]]
    links = [
        _as_json(invitation) | {"link": settings.SITE_URL + reverse("invitation", args=[token])}
        for invitation, token in made
    ]
    return {"project": project.slug, "asked": asked, "members": sorted(members), "links": links}


def _as_json(invitation: Invitation) -> dict[str, Any]:
    used = invitation.accepted_by
    return {
        "invitation": invitation.pk,
        "role": invitation.role,
        "email": invitation.email,
        "user": invitation.username,
        "state": invitation.state(timezone.now()),
        "created_by": invitation.created_by.username,
        "expires_at": invitation.expires_at.isoformat(timespec="minutes"),
        "accepted_by": used.username if used else None,
    }
