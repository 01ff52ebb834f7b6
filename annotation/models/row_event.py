from __future__ import annotations

from django.db import models

from annotation.models.append_only import AppendOnlyModel


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
