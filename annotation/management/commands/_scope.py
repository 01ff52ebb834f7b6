from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Collection, Iterable

from annotation.models import Category, Project, Role, Split, User


def add_scope(parser: ArgumentParser) -> None:
    """Add the arguments of a command on the stories of a project, or of one split or category of it."""
    parser.add_argument("--project", required=True, metavar="SLUG")
    parser.add_argument("--split", metavar="NAME")
    parser.add_argument("--category", metavar="NAME")


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


def member_named(project: Project, name: str, *, noun: str, roles: Iterable[Role]) -> User:
    """Return the member with this user name and one of these roles. Raises ValueError where there is none."""
    people = people_named(name, project=project, noun=noun, roles=roles)
    if len(people) != 1:
        raise ValueError(f"--{noun} {name!r}: expected the user name of one {noun}.")
    return User.objects.get(pk=next(iter(people.values())))


def check_scope(project: Project, *, split: str | None, category: str | None) -> None:
    """Raise ValueError where the project has no such part: a mistyped name must not read as an empty one."""
    for name, model in ((split, Split), (category, Category)):
        if name and not model.objects.filter(project=project, name=name).exists():
            names = ", ".join(model.objects.filter(project=project).values_list("name", flat=True)) or "none"
            raise ValueError(f"{project.slug} has no {model._meta.verbose_name} {name!r}; it has: {names}.")


def stories_numbered(project: Project, numbers: Collection[int]) -> list[int]:
    """Return the ids of the stories with these numbers. Raises ValueError with the numbers that no story has."""
    ids_by_number = dict(project.stories.filter(number__in=numbers).values_list("number", "id"))
    if missing := sorted(set(numbers) - set(ids_by_number)):
        raise ValueError(f"{project.slug} has no story {', '.join(map(str, missing))}.")
    return list(ids_by_number.values())
