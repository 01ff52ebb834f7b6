from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Project
from benchmark.models.run import Entrant, ParsedAnswer, Run, RunItemQuerySet
from core.ids import OpaqueModel
from core.stored_json import LongJSONField, SentenceField

REPLACED_KEPT = timedelta(minutes=10)
"""Time that scores are kept after others took their place: who read the report before that still reads its scores."""


class StoryScoresQuerySet(models.QuerySet["StoryScores"]):
    def current(self) -> StoryScoresQuerySet:
        """Return those that belong to the report of their run as it is kept now."""
        return self.filter(replaced_at=None)

    def outlived(self, now: datetime) -> StoryScoresQuerySet:
        """Return those that were replaced so long ago that nobody reads them any more."""
        return self.filter(replaced_at__lt=now - REPLACED_KEPT)

    # --- transitions ---

    def replace(self, now: datetime) -> int:
        """Mark current scores as replaced; returns how many."""
        return self.current().update(replaced_at=now)


class StoryScores(models.Model):
    """The figures of one entrant, or of one person, story by story: what comparisons and selections of stories start
    from.

    `metrics` is as `suites/figures.py` makes it, and never changes: a report that is computed anew gets new rows,
    whose ids stand in its `RunReport`, and those before them are marked with when they were replaced.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="story_scores")
    entrant = models.ForeignKey(Entrant, models.CASCADE, null=True, related_name="story_scores")
    person = models.CharField(max_length=160, blank=True)
    metrics = LongJSONField()
    replaced_at = models.DateTimeField(null=True, blank=True)

    objects = StoryScoresQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "entrant"], condition=Q(replaced_at=None), name="one_story_scores_an_entrant"
            ),
            models.UniqueConstraint(
                fields=["run", "person"],
                condition=Q(replaced_at=None) & ~Q(person=""),
                name="one_story_scores_a_person",
            ),
            models.CheckConstraint(
                condition=Q(entrant__isnull=False, person="") | (Q(entrant__isnull=True) & ~Q(person="")),
                name="story_scores_of_one",
            ),
        ]
        indexes = [models.Index(fields=["replaced_at"], condition=~Q(replaced_at=None), name="replaced_story_scores")]


class Snapshot(OpaqueModel):
    """A results page as it was when somebody saved it. It stays as it is whatever happens to the runs behind it, and so
    do its `items`.

    `run` is None for the comparison of entrants of several runs. `figures` is the whole document
    (services/snapshots.py), so that the page reads nothing else.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="snapshots")
    run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="snapshots")
    title = models.CharField(max_length=200)
    metrics = LongJSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.title


class SnapshotItem(ParsedAnswer):
    """An item of a run as it was when its snapshot was saved: its answer (calls do not change) and how that was parsed.

    `state` is a key of `items.STATE_NAMES`, `problem` what the work on it said.
    """

    snapshot = models.ForeignKey(Snapshot, models.CASCADE, related_name="items")
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    state = models.CharField(max_length=12)
    problem = SentenceField(blank=True)

    objects = RunItemQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["snapshot", "entrant", "step", "sample", "repetition"], name="one_snapshot_item_a_place"
            )
        ]

    def among(self) -> RunItemQuerySet[Any]:
        """Return the items that this one belongs with: those of its snapshot."""
        return SnapshotItem.objects.filter(snapshot=self.snapshot_id)
