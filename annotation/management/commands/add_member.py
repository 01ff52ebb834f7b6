from __future__ import annotations

from typing import Any

from django.db import transaction

from annotation.management.json_command import ProjectCommand
from annotation.models import Membership, Project, Role
from annotation.services import audit
from annotation.services.accounts import Accounts
from annotation.services.people import change_role


class Command(ProjectCommand):
    help = "Makes someone a member of a project without asking them, or changes a member's role."
    arguments = {
        "--user": {"required": True, "metavar": "NAME"},
        "--role": {"required": True, "choices": Role.values},
        "--create": {"action": "store_true", "help": "make the account where there is none"},
    }

    def on(self, project: Project, *, user: str, role: str, create: bool, **options: Any) -> dict[str, Any]:
        with transaction.atomic():
            accounts = Accounts()
            person = accounts.find(user.strip())
            if person is None:
                if not create:
                    raise ValueError(f"There is nobody called {user!r}; --create makes the account.")
                person = accounts.make(user.strip())
            name = _member(project, person, Role(role), accounts.created)
        if accounts.created:
            self.note(f"{name} has no password yet: manage.py changepassword {name}")
        return {"project": project.slug, "user": name, "role": role, "created": bool(accounts.created)}

    def say(self, result: dict[str, Any]) -> None:
        new = " (a new account)" if result["created"] else ""
        self.stdout.write(f"{result['user']}{new} is {result['role']} of {result['project']}.")


def _member(project: Project, person: int, role: Role, new_accounts: list[str]) -> str:
    """Give the person the role; return their user name."""
    membership, joins = Membership.objects.get_or_create(project=project, user_id=person, defaults={"role": role})
    name = membership.user.username
    if joins:
        details = {"role": role.value} | ({"accounts": new_accounts} if new_accounts else {})
        audit.record(by=None, project=project, action="membership.created", target=name, **details)
    elif membership.role != role:
        change_role(by=None, membership=membership, role=role)
    return name
