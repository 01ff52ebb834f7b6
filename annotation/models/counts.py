"""Counts of a story and of who voted on it, which pages read in place of its cells.

`annotation/services/counts.py` is their one writer. The database itself marks what changed, in the transaction of the
change and whoever writes it (the triggers of migration 0011), so that no count is taken for right that is not.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.story import Story


class StoryCounts(models.Model):
    """Counts over the live propositions of a story's gold table.

    `propositions` counts these, `unanimous` to `open` their cells by how they are settled, `disturbed` the decisions
    whose votes changed since. `imported` are cells without gold that have the label of their imported record, `unvoted`
    those of them on which nobody has voted. `patterns` is how often cells have which votes (`domain/agreement`).
    `revision` is another number each time that the story is counted: what was worked out of it under the same one still
    holds.
    """

    story = models.OneToOneField(Story, models.CASCADE, primary_key=True, related_name="counts")
    propositions = models.PositiveIntegerField()
    unanimous = models.PositiveIntegerField()
    majority = models.PositiveIntegerField()
    adjudicated = models.PositiveIntegerField()
    open = models.PositiveIntegerField()
    disturbed = models.PositiveIntegerField()
    imported = models.PositiveIntegerField()
    unvoted = models.PositiveIntegerField()
    patterns = models.BinaryField()
    revision = models.BigIntegerField()


class AnnotatorCounts(models.Model):
    """One annotator's standing votes on the live propositions of a story: how many `cells`, and the times of the first
    and the last."""

    story = models.ForeignKey(Story, models.CASCADE, related_name="annotator_counts")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="vote_counts")
    cells = models.PositiveIntegerField()
    first = models.DateTimeField()
    last = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["story", "annotator"], name="one_count_an_annotator")]


class StoryEntry(models.Model):
    """Value worked out of a story when it was as `state` says, so that only changed stories are read again; `name` says
    what it is (`annotation/services/kept.py`)."""

    story = models.ForeignKey(Story, models.CASCADE, related_name="entries")
    name = models.CharField(max_length=20)
    state = models.TextField()
    value = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["story", "name"], name="one_entry_a_name")]


class ChangedProposition(models.Model):
    """A proposition whose votes or gold changed since its story was counted. Only the database's triggers write it."""

    proposition = models.BigIntegerField(db_index=True)


class ChangedTable(models.Model):
    """A belief table whose propositions changed since its story was counted. Only the database's triggers write it."""

    table = models.BigIntegerField(db_index=True)
