"""The only way from a user and an id to an object.

Strangers get 404 (a project's existence is not theirs to know), members with too low a role 403.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext, ngettext
from django_htmx.middleware import HtmxDetails

from annotation.domain.tables import NAMES_FOR_SCRIPTS
from annotation.models import Assignment, Membership, Project, Proposition, Role, Story, TableKind, User, workload
from annotation.services.open_work import Work, open_work_of
from core.reads import Read


class UserRequest(HttpRequest):
    """A request of somebody who is logged in."""

    user: User
    htmx: HtmxDetails


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """A project that `user` may open, and as what. The site admin is an admin of every project."""

    project: Project
    user: User
    role: Role

    def at_least(self, role: Role) -> bool:
        return self.role.rank >= role.rank

    @property
    def context(self) -> dict[str, Any]:
        """The context that every page of a project gives its template."""
        return {"project": self.project, "role": self.role.value, "actor_names": NAMES_FOR_SCRIPTS}


def project_access(user: User, slug: str, *, role: Role = Role.ANNOTATOR) -> ProjectAccess:
    """Return the project as `user` sees it. Raises Http404 for strangers, PermissionDenied below `role`."""
    memberships = _MEMBERSHIPS(slug=slug, user=user.pk) if user.is_authenticated else []
    if memberships and not user.is_superuser:
        access = ProjectAccess(memberships[0].project, user, Role(memberships[0].role))
    elif user.is_authenticated and user.is_superuser:
        access = ProjectAccess(get_object_or_404(Project, slug=slug), user, Role.ADMIN)
    else:
        raise Http404(gettext("There is no such project, or you are not a member of it."))
    if not access.at_least(role):
        raise PermissionDenied(
            gettext("This needs the role {label} in {name}.").format(label=role.label.lower(), name=access.project.name)
        )
    return access


_MEMBERSHIPS = Read[Membership](
    lambda given: (
        Membership.objects.filter(project__slug=given.slug, user_id=given.user).order_by().select_related("project")
    )
)  # of a person in a project there is one at most


def open_work(access: ProjectAccess, *, before: Work | None = None, without: Collection[Work] = ()) -> set[int]:
    """Return the ids of the stories on which this person has open work of any kind, or of the kinds `before` one, but
    for the kinds in `without`.

    Every way to gold, votes, answers of models or judgements asks here, whatever the role
    (`annotation.services.open_work`); pages of one kind of work ask about the kinds before it.
    """
    return set().union(*open_work_of(access.project, access.user, access.role, before=before, without=without).values())


def unfinished(access: ProjectAccess) -> set[int]:
    """Return the ids of the stories that wait on the pages of experts' decisions: this person still labels them or
    writes their table."""
    return open_work(access, before=Work.DECISIONS)


def closed_gold(access: ProjectAccess) -> set[int]:
    """Return the ids of the stories whose gold cannot be looked up: those with open work, but for those whose cells
    this person decides, as the pages of decisions show it."""
    stories_by_work = open_work_of(access.project, access.user, access.role)
    decided = stories_by_work[Work.DECISIONS]
    earlier = {work for work in stories_by_work if work < Work.DECISIONS}
    return {
        story
        for work, stories in stories_by_work.items()
        for story in stories
        if work in earlier or story not in decided
    }


def check_whole_gold(access: ProjectAccess) -> None:
    """Raise PermissionDenied for a file with the gold of all stories where this person has open work on some."""
    if count := len(open_work(access)):
        raise PermissionDenied(
            ngettext(
                "This file holds the gold of {count} story that you still have work to do on; finish that first.",
                "This file holds the gold of {count} stories that you still have work to do on; finish that first.",
                count,
            ).format(count=f"{count:,}")
        )


def check_aggregate(access: ProjectAccess, *, split: str | None, category: str | None) -> None:
    """Raise PermissionDenied for figures over so few stories that they tell somebody with open work on one of them what
    others did there."""
    if waiting := unfinished(access):
        stories = set(
            access.project.stories.in_use().in_split(split).in_category(category).values_list("pk", flat=True)
        )
        if workload.too_few(stories, waiting):
            raise PermissionDenied(
                gettext("These figures rest on few stories, and you still have work to do on some; finish that first.")
            )


def story_of(access: ProjectAccess, uid: str) -> Story:
    return get_object_or_404(Story.objects.select_related("project", "category"), project=access.project, uid=uid)


def proposition_of(access: ProjectAccess, uid: str) -> Proposition:
    rows = Proposition.objects.select_related("table__story")
    return get_object_or_404(rows, table__story__project=access.project, uid=uid)


def proposition_in_gold(access: ProjectAccess, uid: str, dimension: str) -> Proposition:
    """Return a proposition of a gold table. Raises Http404 for removed ones, experts' drafts and unknown dimensions."""
    row = proposition_of(access, uid)
    if row.table.kind != TableKind.GOLD or row.removed_at is not None or dimension not in access.project.schema:
        raise Http404(gettext("There is no such cell."))
    row.table.story.project = access.project
    return row


def assignment_of(user: User, slug: str, story_uid: str) -> Assignment:
    """Return the user's own active assignment at a story, with story and project loaded. Raises Http404 where there is
    none.

    One query without the long texts, because every saved vote comes through here.
    """
    assignments = _ASSIGNMENT_OF(story=story_uid, project=slug, user=user.pk)
    if not assignments:
        raise Http404(gettext("This story is not assigned to you."))
    return assignments[0]


_ASSIGNMENT_OF = Read[Assignment](
    lambda given: Assignment.objects.active()
    .filter(story__uid=given.story, story__project__slug=given.project, annotator_id=given.user)
    .filter(story__project__memberships__user_id=given.user)
    .select_related("story__project")
    .only(
        "annotator_id", "slot", "arms_drawn_at", "arms_seed", "arms_unit", "blind_share", "reveal_share",
        "story__uid", "story__number", "story__language", "story__project__slug",
        "story__project__overlap", "story__project__unanimity_dimensions", "story__project__schema_name",
        "story__project__schema_version",
        "story__project__rule_version", "story__project__speed_floor_ms",
    )
)  # fmt: skip
