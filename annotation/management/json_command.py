"""Commands about a project, and the people, stories and parts of it that their options name."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet

from annotation.models import Assignment, Category, Project, Role, Split, Story, User
from annotation.services.assignments import assignments_at, stories_to_assign
from core.management import json_command
from workers.domain.pricing import budget_of

Arguments = Mapping[str, Mapping[str, Any]]
"""Options of argparse by the name or flag of an argument."""
EXPERTS = (Role.EXPERT, Role.ADMIN)


class JsonCommand(json_command.JsonCommand):
    """A command about a project."""

    @staticmethod
    def project(slug: str) -> Project:
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise CommandError(f"There is no project {slug!r}.")
        return project


class ProjectCommand(JsonCommand):
    """A command on one project. A subclass declares its further `arguments` and writes `on`, which takes their values
    by name and returns the result. `has_parts` adds a split and a category, one of which the command is about."""

    arguments: Arguments = {}
    has_parts = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parts: Arguments = {"--split": {"metavar": "NAME"}, "--category": {"metavar": "NAME"}}
        for name, options in ({**(parts if self.has_parts else {}), **self.arguments}).items():
            parser.add_argument(name, **options)

    def work(self, *args: Any, **options: Any) -> Any:
        project = self.project(options.pop("project"))
        if self.has_parts:
            check_scope(project, split=options["split"], category=options["category"])
        return self.on(project, **options)

    def on(self, project: Project, *args: Any, **options: Any) -> Any:
        raise NotImplementedError


def people_named(text: str, *, project: Project, noun: str, roles: Iterable[Role] = tuple(Role)) -> dict[str, int]:
    """Return the ids of the members of a project by the user names of `text`, which commas part.

    Raises ValueError with the names that no such `noun` has.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    members = User.objects.filter(memberships__project=project, memberships__role__in=roles, username__in=names)
    people = dict(members.values_list("username", "id"))
    if missing := [name for name in names if name not in people]:
        raise ValueError(f"{', '.join(missing)}: no {noun} of {project.slug} has this name.")
    return people


def member_named(project: Project, name: str, *, noun: str = "expert", roles: Iterable[Role] = EXPERTS) -> User:
    """Return the member with this user name and one of these roles. Raises ValueError if there is none."""
    people = people_named(name, project=project, noun=noun, roles=roles)
    if len(people) != 1:
        raise ValueError(f"--{noun} {name!r}: expected the user name of one {noun}.")
    return User.objects.get(pk=next(iter(people.values())))


def check_scope(project: Project, *, split: str | None, category: str | None) -> None:
    """Raise ValueError if the project has no such part: a mistyped name must not read as an empty one."""
    for name, model in ((split, Split), (category, Category)):
        if name and not model.objects.filter(project=project, name=name).exists():
            names = ", ".join(model.objects.filter(project=project).values_list("name", flat=True)) or "none"
            raise ValueError(f"{project.slug} has no {model._meta.verbose_name} {name!r}; it has: {names}.")


def check_dimension(project: Project, dimension: str | None) -> None:
    """Raise ValueError if the project has no such dimension."""
    if dimension and dimension not in project.schema:
        raise ValueError(f"{project.slug} has no dimension {dimension!r}; it has: {', '.join(project.schema.keys)}.")


def stories_numbered(project: Project, numbers: Collection[int]) -> list[int]:
    """Return the ids of the stories with these numbers. Raises ValueError with the numbers that no story has."""
    ids_by_number = dict(project.stories.filter(number__in=numbers).values_list("number", "id"))
    if missing := sorted(set(numbers) - set(ids_by_number)):
        raise ValueError(f"{project.slug} has no story {', '.join(map(str, missing))}.")
    return list(ids_by_number.values())


def day(text: str) -> date:
    """Return the day that an argument names. Raises ArgumentTypeError."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text}: a day such as 2030-12-31 is expected.") from None


def dollars(text: str | None) -> Decimal | None:
    """Return an amount in US dollars as somebody types it, None where nothing is said. Raises ValueError."""
    if text is None:
        return None
    if (budget := budget_of(text)) is None:
        raise ValueError(
            f"The budget is {text!r}; expected US dollars, 0 or more, with up to four decimals, such as 2.50."
        )
    return budget


CHOSEN: Arguments = {
    "--annotators": {"required": True, "help": "user names, with commas"},
    "--stories": {"nargs": "+", "type": int, "metavar": "NUMBER", "help": "these stories alone"},
    "--assignments": {"choices": ["free", "full"], "help": "stories short of annotators, or with all of them"},
    "--assigned-to": {"metavar": "NAME", "help": "stories that this member is assigned to"},
    "--without-table": {"action": "store_true", "help": "also stories that have no propositions"},
    "--preview": {"action": "store_true", "help": "only say what would be done"},
}
"""The arguments of `chosen_assignments`, of a command with parts; and `--preview`."""


def chosen_assignments(project: Project, options: Mapping[str, Any]) -> QuerySet[Assignment]:
    """Return the assignments that the arguments choose, as the page of assignments does. Raises ValueError for a name
    or a number that the project has not, for no name at all, and for stories by number next to a filter."""
    people = people_named(options["annotators"], project=project, noun="member")
    if not people:
        raise ValueError("--annotators is empty; expected user names, with commas.")
    filters = {"split": options["split"], "category": options["category"], "slots": options["assignments"]}
    numbers, name, without_table = (options[key] for key in ("stories", "assigned_to", "without_table"))
    if numbers and (any(filters.values()) or name or without_table):
        raise ValueError("--stories names the stories already; leave the filters out.")
    if numbers:
        stories: QuerySet[Story] = project.stories.filter(pk__in=stories_numbered(project, numbers))
    else:
        named = people_named(name or "", project=project, noun="member")
        person = User.objects.filter(pk__in=named.values()).first()
        stories = stories_to_assign(project, person=person, without_table=without_table, **filters)
    return assignments_at(stories, annotators=people.values())
