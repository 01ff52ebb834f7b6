from __future__ import annotations

from django.db import models

from benchmark.models.run import Run


class UnmatchedReport(models.Model):
    """What of files of answers became no part of a run, as its import found it: `unmatched` and `double` answers as
    [{"where", "why"}], and the keys of samples that are `missing` answers."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="unmatched_report")
    unmatched = models.JSONField(default=list)
    double = models.JSONField(default=list)
    missing = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"{len(self.unmatched)} unmatched, {len(self.double)} double, {len(self.missing)} missing"


class RunParcel(models.Model):
    """A parcel of the answers of an imported run that a worker has yet to take in, as `AnswerRow` has each; it goes
    with the transaction that takes it in (benchmark/services/made_elsewhere/taking.py)."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="answers_to_take")
    rows = models.JSONField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{len(self.rows)} answers"
