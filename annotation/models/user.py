from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person. What they may do is said by their memberships; `is_superuser` is the site admin."""

    display_name = models.CharField(max_length=80, blank=True)

    @property
    def shown_name(self) -> str:
        return self.display_name or self.get_full_name() or self.username
