"""Rows that stay as they were written."""

from __future__ import annotations

from django.db import models


class AppendOnly(Exception):
    """Raised by code that tries to change or delete a row that is there for good."""


class AppendOnlyQuerySet(models.QuerySet):
    sentence = "These rows are append-only."

    def update(self, **kwargs) -> int:
        raise AppendOnly(self.sentence)

    def delete(self) -> tuple[int, dict[str, int]]:
        raise AppendOnly(self.sentence)
