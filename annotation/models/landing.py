"""Page that a log-in opens: where somebody's work is."""

from django.utils import timezone

from annotation.models import adjudication_queue, table_queue, workload
from annotation.models.project import Invitation, Membership, Project, Role
from annotation.models.user import User

LIST = ("annotation:home", None)
MOST = 8
"""Projects of one person in which a log-in looks for work."""


def landing_of(user: User) -> tuple[str, str | None]:
    """Return (name of a page, slug of its project, None for a page of no project) where this person's work is.

    Who is invited to a project is asked on the list of projects. Who has one project gets their queue there, admins its
    overview. Of several it is the one in which work waits for them; where it waits in several or none, and for admins
    of any, the list of their projects.
    """
    if Invitation.objects.waiting_for(user, timezone.now()).exists():
        return LIST
    projects = list(Project.objects.visible_to(user)[: MOST + 1])
    if len(projects) == 1:
        return page_in(projects[0], user), projects[0].slug
    if user.is_superuser or len(projects) > MOST or user.memberships.filter(role=Role.ADMIN).exists():
        return LIST
    pages = [(page_in(project, user), project) for project in projects]
    waiting = [
        (page, project.slug)
        for page, project in pages
        if (workload.unfinished(project, user) if page == "annotation:work" else page != "annotation:project")
    ]
    return waiting[0] if len(waiting) == 1 else LIST


def page_in(project: Project, user: User) -> str:
    """Return the name of the page of this project where this person's work is."""
    member = Membership.objects.filter(project=project, user=user).first()
    role = Role(member.role) if member and not user.is_superuser else Role.ADMIN
    if role != Role.EXPERT:
        return "annotation:work" if role == Role.ANNOTATOR else "annotation:project"
    # Tables that were begun come before cells to decide, these before tables to begin and stories to label.
    tables = table_queue.counts(table_queue.with_states(project, user))
    if tables["mine"] or tables["ready"]:
        return "annotation:tables"
    waiting = workload.unfinished(project, user)
    if adjudication_queue.awaiting(project, user) - waiting:
        return "annotation:adjudication"
    if tables["open"]:
        return "annotation:tables"
    return "annotation:work" if waiting else "annotation:project"
