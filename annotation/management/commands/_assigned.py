"""Work that people are assigned to, chosen by a command as the page of assignments chooses it."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from datetime import date

from django.db.models import QuerySet

from annotation.management.commands._scope import add_scope, check_scope, people_named, stories_numbered
from annotation.models import Assignment, Project, Story, User
from annotation.services.assignments import assignments_at, stories_to_assign


def day(text: str) -> date:
    """Return the day that an argument names; ArgumentTypeError where it names none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text}: a day such as 2030-12-31 is expected.") from None


def add_chosen(parser: ArgumentParser) -> None:
    """Add the arguments that choose people and stories, and `--preview`."""
    add_scope(parser)
    parser.add_argument("--annotators", required=True, help="user names, with commas")
    parser.add_argument("--stories", nargs="+", type=int, metavar="NUMBER", help="these stories alone")
    parser.add_argument(
        "--assignments", choices=["free", "full"], help="stories short of annotators, or with all of them"
    )
    parser.add_argument("--assigned-to", metavar="NAME", help="stories that this member is assigned to")
    parser.add_argument("--without-table", action="store_true", help="also stories that have no propositions")
    parser.add_argument("--preview", action="store_true", help="only say what would be done")


def chosen_assignments(project: Project, options: dict) -> QuerySet[Assignment]:
    """Return the assignments that the arguments choose. Raises ValueError for a name or a number that the project has
    not, for no name at all, and for stories by number beside a filter."""
    people = people_named(options["annotators"], project=project, noun="member")
    if not people:
        raise ValueError("--annotators is empty; expected user names, with commas.")
    return assignments_at(_stories(project, options), annotators=people.values())


def _stories(project: Project, options: dict) -> QuerySet[Story]:
    filters = {"split": options["split"], "category": options["category"], "slots": options["assignments"]}
    person, without_table = options["assigned_to"], options["without_table"]
    if not options["stories"]:
        check_scope(project, split=filters["split"], category=filters["category"])
        named = people_named(person or "", project=project, noun="member")
        user = User.objects.filter(pk__in=named.values()).first()
        return stories_to_assign(project, person=user, without_table=without_table, **filters)
    if any(filters.values()) or person or without_table:
        raise ValueError("--stories names the stories already; leave the filters out.")
    return project.stories.filter(pk__in=stories_numbered(project, options["stories"]))
