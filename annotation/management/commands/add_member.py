from __future__ import annotations

from django.db import transaction

from annotation.management.json_command import JsonCommand
from annotation.models import Membership, Project, Role
from annotation.services import audit
from annotation.services.accounts import Accounts
from annotation.services.people import change_role


class Command(JsonCommand):
    help = "Makes someone a member of a project without asking them, or changes a member's role."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--user", required=True, metavar="NAME")
        parser.add_argument("--role", required=True, choices=Role.values)
        parser.add_argument("--create", action="store_true", help="make the account where there is none")

    def work(self, **options) -> dict:
        project, role = self.project(options["project"]), Role(options["role"])
        with transaction.atomic():
            accounts = Accounts()
            person = accounts.find(options["user"].strip())
            if person is None:
                if not options["create"]:
                    raise ValueError(f"There is nobody called {options['user']!r}; --create makes the account.")
                person = accounts.make(options["user"].strip())
            member = _member(project, person, role, accounts.created)
        if accounts.created:
            self.note(f"{member.user.username} has no password yet: manage.py changepassword {member.user.username}")
        return {
            "project": project.slug,
            "user": member.user.username,
            "role": role.value,
            "created": bool(accounts.created),
        }

    def say(self, result: dict) -> None:
        new = " (a new account)" if result["created"] else ""
        self.stdout.write(f"{result['user']}{new} is {result['role']} of {result['project']}.")


def _member(project: Project, person: int, role: Role, new_accounts: list[str]) -> Membership:
    membership, joins = Membership.objects.get_or_create(project=project, user_id=person, defaults={"role": role})
    if joins:
        details = {"accounts": new_accounts} if new_accounts else {}
        audit.record(
            by=None,
            project=project,
            action="membership.created",
            target=membership.user.username,
            role=role.value,
            **details,
        )
    elif membership.role != role:
        change_role(by=None, membership=membership, role=role)
    return membership
