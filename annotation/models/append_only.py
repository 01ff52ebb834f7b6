"""Rows that stay as they were written."""

from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar

from django.db import models


class AppendOnly(Exception):
    """Raised by code that tries to change or delete a row that is there for good."""


Row = TypeVar("Row", bound="AppendOnlyModel")


class AppendOnlyQuerySet(models.QuerySet[Row]):
    """Rows of an `AppendOnlyModel`: they are read and inserted, and go with what they belong to alone."""

    def update(self, **kwargs: Any) -> int:
        raise AppendOnly(self.model.append_only)

    def delete(self) -> tuple[int, dict[str, int]]:
        raise AppendOnly(self.model.append_only)

    def bulk_create(self, objs: Iterable[Row], *args: Any, update_conflicts: bool = False, **kwargs: Any) -> list[Row]:
        if update_conflicts:
            raise AppendOnly(self.model.append_only)
        return super().bulk_create(objs, *args, **kwargs)


class AppendOnlyModel(models.Model):
    """A row that is written once. `append_only` is the sentence of whoever tries to change or delete one."""

    append_only = "These rows are append-only."

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise AppendOnly(self.append_only)
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly(self.append_only)


class RowEvent(AppendOnlyModel):
    """One change of one row of a table, append-only. A repeated `idempotency_key` is the same change.

    `before` is null for a new row; both are states of the row as the page has them. The changes of one key press share
    their `action`; `undoes` is the action that they take back.
    """

    idempotency_key = models.CharField(max_length=64)
    action = models.CharField(max_length=64)
    undoes = models.CharField(max_length=64, blank=True)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField()
    changed_at = models.DateTimeField()
    received_at = models.DateTimeField()

    class Meta:
        abstract = True
        ordering = ["id"]
