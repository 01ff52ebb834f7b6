from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.conf import settings
from django.db import models

from annotation.models.append_only import AppendOnlyModel
from judge.domain.settling import SettledRow, open_rows
from judge.models.alignment_study import AlignmentTask


class SettledAlignmentQuerySet(models.QuerySet):
    def waiting(self) -> SettledAlignmentQuerySet:
        """Return those with rows that an expert has to decide."""
        return self.filter(open_rows__gt=0)

    def whole(self) -> SettledAlignmentQuerySet:
        return self.filter(open_rows=0)


class SettledAlignment(models.Model):
    """The outcome of all alignments of a table, by row (`judge.domain.settling.SettledRow` as JSON); made when the last
    of them is handed in. `open_rows` is how many rows have no majority and wait for an expert."""

    task = models.OneToOneField(AlignmentTask, models.CASCADE, related_name="settled")
    rows = models.JSONField()
    open_rows = models.PositiveIntegerField()
    revision = models.PositiveIntegerField(default=0)
    changed_at = models.DateTimeField()

    objects = SettledAlignmentQuerySet.as_manager()

    @property
    def answers(self) -> dict[str, SettledRow]:
        return {row: SettledRow.from_json(value) for row, value in self.rows.items()}

    def take(self, rows: Mapping[str, SettledRow], at: datetime) -> None:
        """Take these rows, which are a revision. `judge.services.settling` alone calls this, with the events."""
        self.rows = {row: settled_row.as_json() for row, settled_row in rows.items()}
        self.open_rows, self.changed_at = len(open_rows(rows)), at
        self.revision += 1
        self.save()


class SettledEvent(AppendOnlyModel):
    """One change of one settled row, append-only: `by` is the expert who decided, None where the rule of the majority
    did. `before` is null at first."""

    append_only = "The history of settled alignments is append-only."

    task = models.ForeignKey(AlignmentTask, models.CASCADE, related_name="settled_events")
    row = models.CharField(max_length=8)
    before = models.JSONField(null=True)
    after = models.JSONField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    reason = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
