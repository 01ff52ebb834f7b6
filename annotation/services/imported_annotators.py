"""The people that names of a file stand for. No import makes an account or a membership."""

from collections.abc import Mapping
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
