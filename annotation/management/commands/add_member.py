from typing import Any

from django.db import transaction

from annotation.management.json_command import ProjectCommand
from annotation.models import Membership, Project, Role, User
from annotation.services import audit
from annotation.services.accounts import Names, checked_name
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
            names = Names(dict(User.objects.accounts().values_list("username", "id")))
            name = names.find(user.strip())
            is_new = name is None
            if name is None:
                name = checked_name(user.strip())
                if not create:
                    raise ValueError(f"There is nobody called {user!r}; --create makes the account.")
                User.objects.create_user(name, display_name=name[:80])
            person = User.objects.get(username=name)
            membership, joins = Membership.objects.get_or_create(project=project, user=person, defaults={"role": role})
            if joins:
                details = {"role": role} | ({"accounts": [name]} if is_new else {})
                audit.record(by=None, project=project, action="membership.created", target=name, **details)
            elif membership.role != role:
                change_role(by=None, membership=membership, role=Role(role))
        if is_new:
            self.note(f"{name} has no password yet: manage.py changepassword {name}")
        return {"project": project.slug, "user": name, "role": role, "created": is_new}

    def say(self, result: dict[str, Any]) -> None:
        new = " (a new account)" if result["created"] else ""
        self.stdout.write(f"{result['user']}{new} is {result['role']} of {result['project']}.")
