"""Counts of a story and of its annotators, which pages read instead of its cells.

`annotation/services/counts.py` writes them, in the transaction of each change of votes, gold or propositions.
"""

from django.conf import settings
from django.db import models

from annotation.models.story import Story


class StoryCounts(models.Model):
    """Counts over the live propositions of a story's gold table. Without a row all counts are zero."""

    story = models.OneToOneField(Story, models.CASCADE, primary_key=True, related_name="counts")
    propositions = models.PositiveIntegerField(default=0)
    unanimous = models.PositiveIntegerField(default=0)
    majority = models.PositiveIntegerField(default=0)
    adjudicated = models.PositiveIntegerField(default=0)
    open = models.PositiveIntegerField(default=0)
    disturbed = models.PositiveIntegerField(default=0)  # adjudicated cells whose votes changed since
    imported = models.PositiveIntegerField(default=0)  # cells without gold that have an imported label
    unvoted = models.PositiveIntegerField(default=0)  # those of them without a vote
    version = models.PositiveBigIntegerField(default=0)  # grows with each change of votes, gold or propositions


class AnnotatorCounts(models.Model):
    """One annotator's standing votes on the live propositions of a story, with the times of the first and the last."""

    story = models.ForeignKey(Story, models.CASCADE, related_name="annotator_counts")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="vote_counts")
    cells = models.PositiveIntegerField()
    first = models.DateTimeField()
    last = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["story", "annotator"], name="one_count_an_annotator")]
