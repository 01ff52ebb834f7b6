"""Accounts: their tokens, the page that a log-in opens, and people by user name, for imports and commands."""

import re
import secrets
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.contrib.auth.hashers import make_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils import timezone
from django.utils.translation import gettext

from annotation.models import (
    ApiToken,
    Assignment,
    Invitation,
    Membership,
    Project,
    Role,
    Scope,
    User,
    adjudication_queue,
    table_queue,
    workload,
)
from annotation.models.user import IMPORTED_SUFFIX, imported_username, seal_of
from core.digests import text_digest
from core.messages import gettext_noop
from core.reads import Read

USED_EVERY = timedelta(minutes=10)
"""The exactness of `used_at`: a write for every request would cost more than it tells."""


def make_token(
    *, by: User, name: str, scope: Scope, days: int | None, secret: str = "", now: datetime
) -> tuple[ApiToken, str]:
    """Return a new token and its secret (drawn, where none is given), which nobody sees again; it ends after `days`,
    where given."""
    secret = secret or secrets.token_hex(20)
    token = ApiToken.objects.create(
        user=by,
        name=name,
        scope=scope,
        digest=text_digest(secret),
        beginning=secret[:6],
        seal=seal_of(by.password),
        created_at=now,
        expires_at=now + timedelta(days=days) if days else None,
    )
    return token, secret


def find_token(*, secret: str, now: datetime) -> ApiToken | None:
    """Return the token with its user; None where it is unknown, has expired, or ended with a change of the password."""
    tokens = _BY_DIGEST(digest=text_digest(secret), now=now)  # one at most
    if not tokens or not tokens[0].is_sealed or not tokens[0].user.is_active:
        return None
    token = tokens[0]
    if token.used_at is None or now - token.used_at > USED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(used_at=now)
    return token


_BY_DIGEST = Read[ApiToken](
    lambda given: ApiToken.objects.usable(now=given.now).filter(digest=given.digest).select_related("user").order_by()
)


HOME = ("annotation:home", None)
_MOST_PROJECTS = 8
"""Projects of one person in which a log-in looks for work."""


def landing_of(user: User) -> tuple[str, str | None]:
    """Return (name of a page, slug of its project, None for a page of no project) where this person's work is.

    Who is invited to a project is asked on the list of projects. Who has one project gets their queue there, admins its
    overview. Of several it is the one in which work waits for them; where it waits in several or none, and for admins
    of any, the list of their projects.
    """
    if Invitation.objects.waiting_for(user, timezone.now()).exists():
        return HOME
    projects = list(Project.objects.visible_to(user)[: _MOST_PROJECTS + 1])
    if len(projects) == 1:
        return page_in(projects[0], user), projects[0].slug
    if user.is_superuser or len(projects) > _MOST_PROJECTS or user.memberships.filter(role=Role.ADMIN).exists():
        return HOME
    pages = [(page_in(project, user), project) for project in projects]
    waiting = [
        (page, project.slug)
        for page, project in pages
        if (workload.unfinished(project, user) if page == "annotation:work" else page != "annotation:project")
    ]
    return waiting[0] if len(waiting) == 1 else HOME


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


class Names:
    """Ids by name: as it is spelt, else in any case."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self.ids = dict(ids)
        self._spellings: dict[str, list[str]] = defaultdict(list)
        for name in self.ids:
            self._spellings[name.casefold()].append(name)

    def find(self, name: str) -> str | None:
        """Return the spelling of a stored name that `name` means, None where there is none. Raises ValueError where it
        could be two."""
        if name in self.ids:
            return name
        normalised = User.normalize_username(name)
        spellings = self._spellings.get(normalised.casefold(), ())
        if len(spellings) > 1 and normalised not in spellings:
            raise ValueError(
                gettext("{normalised!r} could be {spellings}; write the name as one of them.").format(
                    normalised=normalised[:60], spellings=" or ".join(sorted(spellings))
                )
            )
        if spellings:
            return normalised if normalised in spellings else spellings[0]
        return None


def checked_name(raw: str) -> str:
    """Return the name as an account may have it. Raises ValueError."""
    name = User.normalize_username(raw)
    if len(name) > 150 or name in (".", "..") or not re.fullmatch(UnicodeUsernameValidator.regex, name):
        raise ValueError(
            gettext("{raw!r} is not a user name; expected letters, digits and @ . + - _ only.").format(raw=raw[:60])
        )
    return name


class Kind(StrEnum):
    MEMBER = gettext_noop("member")
    IMPORTED = gettext_noop("imported annotator")
    FORMER = gettext_noop("former member")


@dataclass(slots=True, eq=False)
class Person:
    """`pk` is negative for an annotator whom the first usable vote will create."""

    name: str
    kind: Kind
    pk: int


class Annotators:
    """The people of a project by the names of a file. An imported annotator comes before a member of the same name, so
    that a file means the same people when it is imported again."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.created: list[str] = []
        self._people: dict[tuple[Kind, str], Person] = {}
        self._new: dict[str, Person] = {}
        imported = {person.name_in_file: person.pk for person in User.objects.filter(imported_into=project)}
        members = User.objects.accounts().filter(memberships__project=project)
        assigned = Assignment.objects.filter(story__project=project).order_by().values("annotator")
        former = User.objects.accounts().filter(pk__in=assigned).exclude(memberships__project=project)
        self._names = {
            Kind.IMPORTED: Names(imported),
            Kind.MEMBER: Names(dict(members.values_list("username", "id"))),
            Kind.FORMER: Names(dict(former.values_list("username", "id"))),
        }

    def find(self, name: str) -> Person:
        """Return the person of a name. Raises ValueError if no account may have it. A name after a project's, as
        exports write imported annotators, never means a member."""
        _, mark, bare = name.rpartition(":")
        bare = imported_username(self.project.slug, bare).partition(":")[2]  # a very long name is cut
        for kind in (Kind.IMPORTED,) if mark else tuple(self._names):
            if (spelling := self._names[kind].find(bare)) is not None:
                person = Person(spelling, kind, self._names[kind].ids[spelling])
                return self._people.setdefault((kind, spelling), person)
        name = checked_name(bare)
        return self._new.setdefault(name.casefold(), Person(name, Kind.IMPORTED, -len(self._new) - 1))

    def make(self, person: Person) -> None:
        """Create the imported annotator."""
        person.pk = make_imported({person.name: person.name}, self.project)[person.name]
        self.created.append(person.name)


def make_imported(display_names: Mapping[str, str], project: Project, *, slug: str = "") -> dict[str, int]:
    """Create an imported annotator for each name, with the name that pages show. Returns their ids by name. `slug` is
    the future name of a project that is being imported."""
    unsaved = [
        User(
            username=imported_username(slug or project.slug, name),
            display_name=f"{display_name[: 80 - len(IMPORTED_SUFFIX)]}{IMPORTED_SUFFIX}",
            password=make_password(None),
            is_active=False,
            imported_into=project,
        )
        for name, display_name in display_names.items()
    ]
    annotators = User.objects.bulk_create(unsaved, batch_size=500)
    return {name: user.pk for name, user in zip(display_names, annotators, strict=True)}
