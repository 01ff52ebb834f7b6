from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.db.models import Q

from core.digests import text_digest
from core.reads import Read

_MARK = ":"
"""Stands in the user name of every imported annotator; no account's name may hold it."""


IMPORTED_SUFFIX = " (imported)"
"""Ends the name that pages show of every imported annotator."""


class PeopleManager(UserManager):
    def accounts(self) -> models.QuerySet[User]:
        """Everybody who can have a password: all but imported annotators."""
        return self.filter(imported_into__isnull=True)

    def get(self, *conditions: Any, **by: Any) -> User:
        """Return the one user that fits, as the ORM does; by `pk` alone, as every request asks for the account of its
        session, without building the query again. Raises User.DoesNotExist."""
        plain = type(self) is PeopleManager and self._db is None and not conditions  # not those of a relation
        if not plain or by.keys() != {"pk"} or not isinstance(by["pk"], int):
            return super().get(*conditions, **by)
        if not (users := _BY_PK(pk=by["pk"])):
            raise User.DoesNotExist("There is no such account.")
        return users[0]


_BY_PK = Read["User"](lambda given: User.objects.filter(pk=given.pk))


class User(AbstractUser):
    """A person. What they may do is said by their memberships; `is_superuser` is the site admin.

    With `imported_into` it is an *imported annotator* of that project: the name of somebody whose votes came in a file.
    It is not an account. It cannot log in, is a member of nothing, and its user name (`PROJECT:NAME`) is one that no
    account can have, so that equal names in two projects, or of an account, are different people.
    """

    display_name = models.CharField(max_length=80, blank=True)
    language = models.CharField(max_length=16, blank=True)  # of pages; empty: what the browser asks for
    imported_into = models.ForeignKey(
        "annotation.Project", models.PROTECT, null=True, blank=True, editable=False, related_name="imported_annotators"
    )

    objects = PeopleManager()

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(imported_into__isnull=True)
                | Q(is_active=False, is_staff=False, is_superuser=False, email="", username__contains=_MARK),
                name="imported_annotators_are_no_accounts",
            ),
        ]

    @property
    def shown_name(self) -> str:
        return self.display_name or self.get_full_name() or self.username

    @property
    def name_in_file(self) -> str:
        """The name of an imported annotator as the project's files have it."""
        return self.username.partition(_MARK)[2]


def name_on_pages(username: str) -> str:
    """Return the name that pages show for a user name alone: an account by it, an imported annotator as `ada
    (imported)`."""
    name = username.partition(_MARK)[2]
    return name + IMPORTED_SUFFIX if name else username


def imported_username(slug: str, name: str) -> str:
    """The user name of the imported annotator `name` of a project; a name that is too long ends in its digest."""
    most = 150 - len(slug) - len(_MARK)
    if len(name) > most:
        name = f"{name[: most - 9]}~{text_digest(name)[:8]}"
    return slug + _MARK + name
