"""Where somebody's work is: the page that a log-in opens."""

from __future__ import annotations

from annotation.models import adjudication_queue, table_queue, workload
from annotation.models.project import Membership, Project, Role
from annotation.models.user import User

LIST = ("annotation:home", None)


def landing_of(user: User) -> tuple[str, str | None]:
    """Return (name of a page, slug of its project, None for a page of no project) where this person's work is.

    Who has one project gets their queue there, admins its overview; everybody else the list of their projects.
    """
    projects = list(Project.objects.visible_to(user)[:2])
    if len(projects) != 1:
        return LIST
    return page_in(projects[0], user), projects[0].slug


def page_in(project: Project, user: User) -> str:
    """Return the name of the page of this project where this person's work is."""
    member = Membership.objects.filter(project=project, user=user).first()
    role = Role(member.role) if member and not user.is_superuser else Role.ADMIN
    if role == Role.EXPERT:
        return f"annotation:{_of_expert(project, user)}"
    return "annotation:work" if role == Role.ANNOTATOR else "annotation:project"


def _of_expert(project: Project, user: User) -> str:
    """Tables that were begun come before cells to decide, these before tables to begin and stories to label."""
    tables = table_queue.counts(table_queue.with_states(project, user))
    if tables["mine"] or tables["ready"]:
        return "tables"
    waiting = workload.unfinished(project, user)
    if adjudication_queue.awaiting(project, user) - waiting:
        return "adjudication"
    if tables["open"]:
        return "tables"
    return "work" if waiting else "project"
