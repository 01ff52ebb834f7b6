"""Look-up of the names of a file among the people of a project. No import makes an account or a membership."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth.hashers import make_password

from annotation.models import Assignment, Project, User
from annotation.models.user import IMPORTED_SUFFIX, imported_username
from annotation.services.accounts import Names, checked_name
from core.messages import gettext_noop


class Kind(StrEnum):
    MEMBER = gettext_noop("member")
    IMPORTED = gettext_noop("imported annotator")
    FORMER = gettext_noop("former member")


@dataclass(slots=True)
class Person:
    """`pk` is None for somebody whom the first vote that can be used will make."""

    name: str
    kind: Kind
    pk: int | None


class Annotators:
    """The people of a project by the names of a file. An imported annotator comes before a member of the same name: the
    file that made one means the same when it comes again."""

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
        """Return the person of a name. Raises ValueError where nobody could be meant. A name with the project before
        it, as exports write imported annotators, is never that of a member."""
        _, mark, bare = name.rpartition(":")
        bare = imported_username(self.project.slug, bare).partition(":")[2]  # as it was cut, if it is very long
        for kind in (Kind.IMPORTED,) if mark else tuple(self._names):
            if (spelling := self._names[kind].find(bare)) is not None:
                return self._person(spelling, kind, self._names[kind].ids[spelling])
        name = checked_name(bare)
        return self._new.setdefault(name.casefold(), Person(name, Kind.IMPORTED, None))

    def _person(self, name: str, kind: Kind, pk: int | None) -> Person:
        return self._people.setdefault((kind, name), Person(name, kind, pk))

    def make(self, person: Person) -> None:
        """Make the person, unless an earlier call did so for a copy."""
        made = self._new.setdefault(person.name.casefold(), person)
        if made.pk is None:
            made.pk = make_imported({made.name: made.name}, self.project)[made.name]
            self.created.append(made.name)
        person.pk = made.pk

    def look_again(self) -> None:
        """See who of those whom the project lacked has been made meanwhile, by another process."""
        missing = {imported_username(self.project.slug, person.name): person for person in self._unmade()}
        if missing:
            made = User.objects.filter(imported_into=self.project, username__in=missing)
            for username, pk in made.values_list("username", "id"):
                missing[username].pk = pk

    def _unmade(self) -> Iterator[Person]:
        return (person for person in self._new.values() if person.pk is None)


def make_imported(display_names: Mapping[str, str], project: Project, *, slug: str = "") -> dict[str, int]:
    """Make an imported annotator of each name, with the name that pages show; return their ids by name. `slug` is what
    the project will be called, where it is called otherwise now."""
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
