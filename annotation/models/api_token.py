from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy


class Scope(models.TextChoices):
    READ = "read", gettext_lazy("Read")
    WRITE = "write", gettext_lazy("Read and write")


class ApiTokenQuerySet(models.QuerySet):
    def usable(self, *, now: datetime) -> ApiTokenQuerySet:
        """Tokens that have not expired. Whether the password changed since is `ApiToken.seals`."""
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
