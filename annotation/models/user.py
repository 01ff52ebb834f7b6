from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.db.models import F, Q
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy

from core.digests import text_digest
from core.reads import Read

_MARK = ":"
"""Stands in the user name of every imported annotator; no account's name may hold it."""


IMPORTED_SUFFIX = " (imported)"
"""Ends the name that pages show of every imported annotator."""


class PeopleManager(UserManager["User"]):
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

    objects: ClassVar[PeopleManager] = PeopleManager()

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(imported_into__isnull=True)
                | Q(is_active=False, is_staff=False, is_superuser=False, email="", username__contains=_MARK),
                name="imported_annotators_are_no_accounts",
            )
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


class LogInCountQuerySet(models.QuerySet["LogInCount"]):
    def of(self, digests: Iterable[str]) -> LogInCountQuerySet:
        """Always in one order, so that two that lock several rows wait for each other once."""
        return self.filter(digest__in=list(digests)).order_by("digest")

    def running(self, *, now: datetime) -> LogInCountQuerySet:
        return self.filter(until__gt=now)

    def over(self, *, now: datetime) -> LogInCountQuerySet:
        return self.filter(until__lte=now)


class LogInCount(models.Model):
    """Attempts to log in that count against one account, address or browser (`digest` stands for it) until `until`."""

    digest = models.CharField(max_length=64, primary_key=True)
    attempts = models.PositiveIntegerField()
    until = models.DateTimeField(db_index=True)

    objects = LogInCountQuerySet.as_manager()


class Scope(models.TextChoices):
    READ = "read", gettext_lazy("Read")
    WRITE = "write", gettext_lazy("Read and write")


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def usable(self, *, now: datetime) -> ApiTokenQuerySet:
        """Tokens that have not expired. Whether the password changed since is told by `is_sealed`."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now))


class ApiToken(models.Model):
    """A secret that a script sends in place of a password. Only its digest is kept; it ends with the password that it
    was made under."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=60, help_text=gettext_lazy("What it is for, so that you know it again."))
    scope = models.CharField(max_length=5, choices=Scope.choices, default=Scope.READ)
    digest = models.CharField(max_length=64, unique=True)
    beginning = models.CharField(max_length=6, help_text="Its first characters, by which its owner knows it.")
    seal = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=Q(scope__in=Scope.values), name="api_token_scope_known"),
            models.CheckConstraint(
                condition=Q(expires_at=None) | Q(expires_at__gt=F("created_at")), name="api_token_expires_later"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.beginning}…)"

    @property
    def is_sealed(self) -> bool:
        """Return whether the owner's password is still the one that it was made under."""
        return self.seal == seal_of(self.user.password)


def seal_of(password: str) -> str:
    """Return what stands for a password's hash in a token's row: it changes with every change of the password."""
    return salted_hmac("annotation.api_token", password, algorithm="sha256").hexdigest()
