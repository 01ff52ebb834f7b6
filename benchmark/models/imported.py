from __future__ import annotations

from django.db import models

from benchmark.models.run import Run
from core.stored_json import LongJSONField


class UnmatchedReport(models.Model):
    """Answers in files that did not become part of a run, as its import found them: `unmatched` and `double` answers as
    [{"where", "why"}], the keys of samples that are `missing` answers, and the records that are `unanswered`, as
    [{"where", "why"}]."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="unmatched_report")
    unmatched = LongJSONField(default=list)
    double = LongJSONField(default=list)
    missing = LongJSONField(default=list)
    unanswered = LongJSONField(default=list)

    def __str__(self) -> str:
        return f"{len(self.unmatched)} unmatched, {len(self.double)} double, {len(self.missing)} missing"


class RunParcel(models.Model):
    """A parcel of the answers of an imported run that a worker has yet to take in, as `AnswerRow` has each; it goes
    with the transaction that takes it in (benchmark/services/made_elsewhere/taking.py)."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="answers_to_take")
    rows = LongJSONField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{len(self.rows)} answers"


class UnreadParcel(models.Model):
    """A stretch of a file of answers that a worker has yet to read, the first of its run's files at `position` 0; the
    stretches of a file stand in the order of their ids. They go with the transaction that keeps what was read of them
    (benchmark/services/made_elsewhere/unread.py)."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="files_to_read")
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=255)
    content = models.BinaryField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name
